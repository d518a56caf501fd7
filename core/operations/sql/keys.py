"""The SQL of keys."""

import json
from collections.abc import Sequence
from typing import cast

from muisti.core.identity.grants import Grant, Key
from muisti.core.model.terms import Scope, SourceClass
from muisti.core.model.times import from_us, to_us
from muisti.core.store.database import Refusal, Row, Statement, refuse

_COLUMNS = (
    "id, name, scopes, spaces, category, parent_id, created_at, expires_at, revoked_at, last_used_at, source_class"
)
_ALIVE = "revoked_at IS NULL AND (expires_at IS NULL OR expires_at > ?)"
# A key and all its descendants: the keys that were created with it, those created with these, and so on.
_FAMILY = "WITH RECURSIVE family (id) AS (SELECT ? UNION SELECT k.id FROM keys k JOIN family f ON k.parent_id = f.id) "


def key(row: Row) -> Key:
    """Read the key in a row that starts with the columns of a key."""
    id_, name, scopes, spaces, category, parent, created, expires, revoked, used, source_class = cast(
        tuple[str, str, str, str, str | None, str | None, int, int | None, int | None, int | None, SourceClass | None],
        row[:11],
    )
    return Key(
        id=id_,
        name=name,
        grant=Grant(
            frozenset(cast(list[Scope], json.loads(scopes))), tuple(json.loads(spaces)), category, source_class
        ),
        parent_id=parent,
        created_at=from_us(created),
        expires_at=None if expires is None else from_us(expires),
        revoked_at=None if revoked is None else from_us(revoked),
        last_used_at=None if used is None else from_us(used),
    )


def any_key() -> Statement:
    """Select a row when there ever was a key."""
    return Statement("SELECT 1 FROM keys LIMIT 1")


def by_id(key_id: str) -> Statement:
    """Select a key, followed by the hash of its secret."""
    return Statement(f"SELECT {_COLUMNS}, hash FROM keys WHERE id = ?", (key_id,))


def all_keys() -> Statement:
    return Statement(f"SELECT {_COLUMNS} FROM keys ORDER BY created_at DESC, id")


def family(key_id: str) -> Statement:
    """Select a key and its descendants."""
    return Statement(
        f"{_FAMILY}SELECT {_COLUMNS} FROM keys WHERE id IN (SELECT id FROM family) ORDER BY created_at DESC, id",
        (key_id,),
    )


def insert(made: Key, digest: bytes) -> Statement:
    return Statement(
        "INSERT INTO keys (id, hash, name, scopes, spaces, category, parent_id, created_at, expires_at, source_class) "
        "VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
        (
            made.id,
            digest,
            made.name,
            json.dumps(sorted(made.grant.scopes)),
            json.dumps(list(made.grant.spaces)),
            made.grant.category,
            made.parent_id,
            to_us(made.created_at),
            None if made.expires_at is None else to_us(made.expires_at),
            made.grant.source_class,
        ),
    )


def unrevoked(key_id: str) -> Statement:
    """Select the ids of a key and its descendants that are not revoked, as one JSON array."""
    return Statement(
        f"{_FAMILY}SELECT json_group_array(id) FROM keys WHERE id IN (SELECT id FROM family) AND revoked_at IS NULL",
        (key_id,),
    )


def revoke(key_id: str, now: int) -> Statement:
    """Revoke a key and its descendants."""
    return Statement(
        f"{_FAMILY}UPDATE keys SET revoked_at = ? WHERE id IN (SELECT id FROM family) AND revoked_at IS NULL",
        (key_id, now),
    )


def note_revoked(key_id: str, now: int, actor: str) -> Statement:
    """Add audit entries for the keys that `revoke`, the next statement of the batch, will revoke."""
    return Statement(
        f"INSERT INTO audit (at, actor, action, target) {_FAMILY}SELECT ?, ?, 'key_revoked', id FROM keys "
        "WHERE id IN (SELECT id FROM family) AND revoked_at IS NULL",
        (key_id, now, actor),
    )


def count() -> Statement:
    """Count all keys, including those that have ended."""
    return Statement("SELECT count(*) FROM keys")


def clear() -> Statement:
    """Delete all keys."""
    return Statement("DELETE FROM keys")


def succeed(old: str, new: str, until: int) -> list[Statement]:
    """Let a key expire soon, and make its descendants those of its successor."""
    return [
        Statement("UPDATE keys SET expires_at = min(coalesce(expires_at, ?), ?) WHERE id = ?", (until, until, old)),
        Statement("UPDATE keys SET parent_id = ? WHERE parent_id = ?", (new, old)),
    ]


def refuse_ended(key_id: str, now: int) -> Statement:
    """Refuse with `stale` unless the key is valid."""
    return Statement(
        f"{refuse(Refusal.STALE)} WHERE NOT EXISTS (SELECT 1 FROM keys WHERE id = ? AND {_ALIVE})",
        (key_id, now),
    )


def used(at: Sequence[tuple[str, int]]) -> list[Statement]:
    """Record when keys were last used."""
    sql = "UPDATE keys SET last_used_at = max(coalesce(last_used_at, 0), ?) WHERE id = ?"
    return [Statement(sql, (when, key_id)) for key_id, when in at]
