"""API keys, of which only a hash is stored, keys that sign reports, and the audit log."""

import hashlib
import hmac
import json
import secrets
from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import cast

from muisti.core.identity.caller import Caller
from muisti.core.identity.grants import NAMED_MAX, Grant, Key, check_grant
from muisti.core.model.errors import Conflict, InvalidInput, NotFound
from muisti.core.model.operations import AuditPage
from muisti.core.model.times import from_us, to_us
from muisti.core.model.values import LIMIT_MAX, LOCAL
from muisti.core.store.database import Database, Refused
from muisti.core.store.sql import operations
from muisti.core.write.screening import Screener


def audit_page(database: Database, limit: int, cursor: str | None) -> AuditPage:
    """Return a page of the audit log of administration and deletions, newest first.

    Raises:
        InvalidInput: the limit is out of range or the cursor is not one of ours.
    """
    if not 1 <= limit <= LIMIT_MAX:
        raise InvalidInput.at("$.limit", f"{limit} is not between 1 and {LIMIT_MAX}")
    if cursor is not None and not (cursor.isascii() and cursor.isdigit() and len(cursor) <= 18):
        raise InvalidInput.at("$.cursor", f"{cursor[:80]!r} is no cursor; take next_cursor of the page before")
    (rows,) = database.read([operations.newest_audited(limit + 1, None if cursor is None else int(cursor))])
    items = tuple(operations.audited(row) for row in rows[:limit])
    return AuditPage(items=items, next_cursor=str(items[-1].number) if len(rows) > limit else None)


class SigningKeys:
    """Signing keys of a database, shared by all its replicas. Instances are thread-safe."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def own(self) -> tuple[str, str] | None:
        """Return the id and the private key (PEM) of the signing key, or None before the first one."""
        (rows,) = self._database.primary.read([operations.own_signing_key()])
        return cast(tuple[str, str], rows[0]) if rows else None

    def add(self, key_id: str, public: str, private: str | None, now: int) -> None:
        """Store a key. `private` is None when it is kept elsewhere. A known key stays unchanged."""
        self._database.write([operations.add_signing_key(key_id, public, private, now)])

    def public(self) -> list[str]:
        """Return every public key that ever signed, as a JWK, oldest first."""
        (rows,) = self._database.read([operations.public_signing_keys()])
        return [cast(str, row[0]) for row in rows]


MARK = "mk"  # prefix of every key, so that secret scanners can recognise it
OVERLAP_MAX = timedelta(days=30)


class Keys:
    """The keys of a database. Thread-safe."""

    def __init__(self, database: Database, screener: Screener) -> None:
        """Names of keys pass the server's own policy."""
        self._database = database
        self._screener = screener

    def exist(self, *, surely: bool = False) -> bool:
        """Return whether a key was ever created, including keys that have ended.

        A replica may lack the first one, or be behind; `surely` asks the primary, as a start must.
        """
        database = self._database.primary if surely else self._database
        return bool(database.read([operations.any_key()])[0])

    def create(
        self,
        grant: Grant,
        now: int,
        *,
        name: str,
        expires_at: datetime | None = None,
        parent: Key | None = None,
        by: str = LOCAL,
    ) -> tuple[Key, str]:
        """Create a key. Return it with its secret, which is stored nowhere.

        The key ends with its `parent`, if not before.

        Raises:
            InvalidInput: the grant or a value is invalid.
            SensitiveContent: the server's policy refuses some of the name.
            NotFound: the parent has ended.
        """
        check_grant(grant)
        _check(name, expires_at, now)
        self._screener.labelled(name, Caller(by), "$.name")
        if parent is not None and parent.expires_at is not None:
            expires_at = min(parent.expires_at, expires_at or parent.expires_at)
        made, secret = _new(name, grant, None if parent is None else parent.id, expires_at, now)
        alive = [] if parent is None else [operations.refuse_ended(parent.id, now)]
        try:
            self._database.write(
                [
                    *alive,
                    operations.insert_key(made, digest(secret)),
                    operations.audit(now, by, "key_created", target=made.id),
                ]
            )
        except Refused as refused:
            raise NotFound("key", made.parent_id or "") from refused
        return made, secret

    def find(self, secret: str) -> Key | None:
        """Return the key with this secret, active or ended, or None."""
        key_id = id_in(secret)
        rows = [] if key_id is None else self._database.read([operations.key_by_id(key_id)])[0]
        known = rows[0][-1] if rows else b""
        assert isinstance(known, bytes)
        return operations.key(rows[0]) if hmac.compare_digest(known, digest(secret)) else None

    def get(self, key_id: str) -> Key:
        """Return a key by its id. Raises `NotFound`."""
        (rows,) = self._database.read([operations.key_by_id(key_id)])
        if not rows:
            raise NotFound("key", key_id[:80])
        return operations.key(rows[0])

    def all(self) -> list[Key]:
        """Return all keys, newest first, including those that have ended."""
        return [operations.key(row) for row in self._database.read([operations.all_keys()])[0]]

    def family(self, key_id: str) -> list[Key]:
        """Return a key and its descendants, newest first."""
        return [operations.key(row) for row in self._database.read([operations.key_family(key_id)])[0]]

    def revoke(self, key_id: str, now: int, *, by: str = LOCAL) -> list[str]:
        """End a key and its descendants for good. Return the ids of the keys that this call ends.

        Raises:
            NotFound: there is no such key.
        """
        self.get(key_id)
        ((ended,),), *_ = self._database.write(
            [operations.unrevoked(key_id), operations.note_revoked(key_id, now, by), operations.revoke_key(key_id, now)]
        )
        return json.loads(str(ended))

    def rotate(
        self, key_id: str, now: int, *, overlap: timedelta, expires_at: datetime | None = None, by: str = LOCAL
    ) -> tuple[Key, str]:
        """Create a key in place of another one, which stays valid for `overlap`.

        Without `expires_at`, the new key ends when the old one would have ended.

        Raises:
            NotFound: there is no such key.
            Conflict: the old key has ended.
            InvalidInput: a value is invalid.
        """
        old = self.get(key_id)
        if not old.alive(from_us(now)):
            raise Conflict(f"key {old.id} has ended; create a new one")
        if not timedelta(0) <= overlap <= OVERLAP_MAX:
            raise InvalidInput.at("$.overlap_seconds", f"must be from 0 to {OVERLAP_MAX.total_seconds():.0f}")
        _check(old.name, expires_at, now)
        made, secret = _new(old.name, old.grant, old.parent_id, expires_at or old.expires_at, now)
        alive = [operations.refuse_ended(one, now) for one in (old.id, old.parent_id) if one is not None]
        try:
            self._database.write(
                [
                    *alive,
                    operations.insert_key(made, digest(secret)),
                    *operations.succeed_key(old.id, made.id, now + overlap // timedelta(microseconds=1)),
                    operations.audit(now, by, "key_rotated", target=old.id),
                    operations.audit(now, by, "key_created", target=made.id),
                ]
            )
        except Refused as refused:
            raise Conflict(f"key {old.id} has ended; create a new one") from refused
        return made, secret

    def clear(self, now: int, *, by: str = LOCAL) -> int:
        """Delete all keys, so that none exists. Return how many there were."""
        ((count,),), *_ = self._database.write(
            [operations.count_keys(), operations.audit(now, by, "keys_cleared"), operations.clear_keys()]
        )
        assert isinstance(count, int)
        return count

    def used(self, at: Mapping[str, int]) -> None:
        """Store when keys were last used, in microseconds."""
        self._database.write(operations.key_used(list(at.items())))


def digest(secret: str) -> bytes:
    """Hash a secret. 256 random bits need no slow hash, because they cannot be guessed."""
    return hashlib.sha256(secret.encode("utf-8", "surrogateescape")).digest()


def id_in(secret: str) -> str | None:
    """Return the id that a key contains, or None when the text is no key.

    >>> id_in("mk_0123456789ab_" + "x" * 43), id_in("hello")
    ('0123456789ab', None)
    """
    mark, _, rest = secret.partition("_")
    key_id, _, random = rest.partition("_")
    return key_id if mark == MARK and len(key_id) == 12 and len(random) == 43 else None


def _new(name: str, grant: Grant, parent_id: str | None, expires_at: datetime | None, now: int) -> tuple[Key, str]:
    key_id = secrets.token_hex(6)
    made = Key(id=key_id, name=name, grant=grant, parent_id=parent_id, created_at=from_us(now), expires_at=expires_at)
    return made, f"{MARK}_{key_id}_{secrets.token_urlsafe(32)}"


def _check(name: str, expires_at: datetime | None, now: int) -> None:
    if not name.strip() or len(name) > NAMED_MAX or not name.isprintable():
        raise InvalidInput.at("$.name", f"must have 1 to {NAMED_MAX} printable characters")
    if expires_at is not None and expires_at.tzinfo is None:
        raise InvalidInput.at("$.expires_at", "needs a time zone, as in 2026-05-01T12:00:00Z")
    if expires_at is not None and to_us(expires_at) <= now:
        raise InvalidInput.at("$.expires_at", f"{expires_at.isoformat()} is in the past")
