"""The SQL of operations: keys, keys that reports are signed with, the audit log, leases, and probed models."""

import json
from collections.abc import Sequence
from typing import cast

from muisti.core.identity.grants import Grant, Key
from muisti.core.model.choices import Scope, SourceClass
from muisti.core.model.operations import Action, Audited
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


def key_by_id(key_id: str) -> Statement:
    """Select a key, followed by the hash of its secret."""
    return Statement(f"SELECT {_COLUMNS}, hash FROM keys WHERE id = ?", (key_id,))


def all_keys() -> Statement:
    return Statement(f"SELECT {_COLUMNS} FROM keys ORDER BY created_at DESC, id")


def key_family(key_id: str) -> Statement:
    """Select a key and its descendants."""
    return Statement(
        f"{_FAMILY}SELECT {_COLUMNS} FROM keys WHERE id IN (SELECT id FROM family) ORDER BY created_at DESC, id",
        (key_id,),
    )


def insert_key(made: Key, digest: bytes) -> Statement:
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


def revoke_key(key_id: str, now: int) -> Statement:
    """Revoke a key and its descendants."""
    return Statement(
        f"{_FAMILY}UPDATE keys SET revoked_at = ? WHERE id IN (SELECT id FROM family) AND revoked_at IS NULL",
        (key_id, now),
    )


def note_revoked(key_id: str, now: int, actor: str) -> Statement:
    """Add audit entries for the keys that `revoke_key`, the next statement of the batch, will revoke."""
    return Statement(
        f"INSERT INTO audit (at, actor, action, target) {_FAMILY}SELECT ?, ?, 'key_revoked', id FROM keys "
        "WHERE id IN (SELECT id FROM family) AND revoked_at IS NULL",
        (key_id, now, actor),
    )


def count_keys() -> Statement:
    """Count all keys, including those that have ended."""
    return Statement("SELECT count(*) FROM keys")


def clear_keys() -> Statement:
    """Delete all keys."""
    return Statement("DELETE FROM keys")


def succeed_key(old: str, new: str, until: int) -> list[Statement]:
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


def key_used(at: Sequence[tuple[str, int]]) -> list[Statement]:
    """Record when keys were last used."""
    sql = "UPDATE keys SET last_used_at = max(coalesce(last_used_at, 0), ?) WHERE id = ?"
    return [Statement(sql, (when, key_id)) for key_id, when in at]


# The SQL of the keys that reports are signed with


def own_signing_key() -> Statement:
    """Select (id, private key in PEM) of the oldest key whose private part is in the database."""
    return Statement("SELECT id, private FROM signing_keys WHERE private IS NOT NULL ORDER BY created_at, id LIMIT 1")


def public_signing_keys() -> Statement:
    """Select (JWK) of every key that ever signed, oldest first."""
    return Statement("SELECT public FROM signing_keys ORDER BY created_at, id")


def add_signing_key(key_id: str, public: str, private: str | None, now: int) -> Statement:
    return Statement(
        "INSERT INTO signing_keys VALUES (?, ?, ?, ?) ON CONFLICT DO NOTHING",
        (key_id, public, private, now),
    )


# The SQL of the audit log


def audit(now: int, actor: str, action: Action, *, space: str | None = None, target: str | None = None) -> Statement:
    """Add an entry; it belongs into the batch that does what the entry records."""
    return Statement(
        "INSERT INTO audit (at, actor, action, space, target) VALUES (?, ?, ?, ?, ?)",
        (now, actor, action, space, target),
    )


def newest_audited(limit: int, before: int | None) -> Statement:
    """Select up to `limit` entries, newest first; `before` is the last number of the page before."""
    where, args = ("WHERE id < ? ", (before,)) if before is not None else ("", ())
    return Statement(
        f"SELECT id, at, actor, action, space, target FROM audit {where}ORDER BY id DESC LIMIT ?", (*args, limit)
    )


def audited(row: Row) -> Audited:
    """Return the entry in a row of `newest_audited`."""
    number, at, actor, action, space, target = cast(tuple[int, int, str, Action, str | None, str | None], row)
    return Audited(number=number, at=from_us(at), actor=actor, action=action, space=space, target=target)


# The SQL of leases on background tasks, by the clock of the database

_NOW = "CAST(unixepoch('subsec') * 1000000 AS INTEGER)"


def take_lease(name: str, owner: str, microseconds: int) -> list[Statement]:
    """Lease a task that is due and free, or extend the owner's lease; the last statement selects the owner."""
    return [
        Statement(
            f"INSERT INTO sweeps VALUES (?, ?, {_NOW} + ?, 0) ON CONFLICT (name) DO UPDATE "
            "SET owner = excluded.owner, until = excluded.until "
            f"WHERE owner = excluded.owner OR (until <= {_NOW} AND next_at <= {_NOW})",
            (name, owner, microseconds),
        ),
        Statement("SELECT owner FROM sweeps WHERE name = ?", (name,)),
    ]


def lease_state(name: str) -> Statement:
    """Select the owner, and the microseconds until another may take the lease; no row for a task never leased."""
    return Statement(f"SELECT owner, max(until, next_at) - {_NOW} FROM sweeps WHERE name = ?", (name,))


def give_back_lease(name: str, owner: str, rest: int) -> Statement:
    """End the owner's lease; the task is due again in `rest` microseconds."""
    return Statement(
        f"UPDATE sweeps SET owner = '', until = 0, next_at = {_NOW} + ? WHERE name = ? AND owner = ?",
        (rest, name, owner),
    )


# The SQL of models behind endpoints: the vectors of probe texts by which they are recognised


def seen_models(configuration: str) -> Statement:
    """Select (hash, dimensions, probes) of the models seen with a configuration, the one last seen first."""
    return Statement(
        "SELECT hash, dimensions, probes FROM generations WHERE substr(hash, 1, ?) = ? AND probes IS NOT NULL "
        "ORDER BY seen_at DESC, id DESC",
        (len(configuration), configuration),
    )


def note_model(digest: str, model: str, dimensions: int, probes: bytes, now: int) -> list[Statement]:
    """Register a model, and record when it was seen."""
    return [
        Statement(
            "INSERT INTO generations (hash, model, dimensions, created_at, probes, seen_at) VALUES (?, ?, ?, ?, ?, ?) "
            "ON CONFLICT (hash) DO UPDATE SET probes = coalesce(probes, excluded.probes), seen_at = excluded.seen_at",
            (digest, model, dimensions, now, probes, now),
        )
    ]
