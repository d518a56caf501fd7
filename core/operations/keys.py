"""Create, find, rotate and revoke API keys. Only a hash of the secret is stored."""

import hashlib
import hmac
import json
import secrets
from collections.abc import Mapping
from datetime import datetime, timedelta

from muisti.core.identity.caller import Caller
from muisti.core.identity.grants import NAMED_MAX, Grant, Key, check_grant
from muisti.core.model.errors import Conflict, InvalidInput, NotFound
from muisti.core.model.times import from_us, to_us
from muisti.core.model.values import LOCAL
from muisti.core.operations.sql import keys
from muisti.core.store.database import Database, Refused
from muisti.core.store.sql import audit
from muisti.core.write.screening import Screener

MARK = "mk"  # prefix of every key, so that secret scanners can recognise it
OVERLAP_MAX = timedelta(days=30)


class Keys:
    """The keys of a database. Thread-safe."""

    def __init__(self, database: Database, screener: Screener) -> None:
        """Names of keys pass the server's own policy."""
        self._database = database
        self._screener = screener

    def exist(self) -> bool:
        """Return whether a key was ever created, including keys that have ended."""
        return bool(self._database.read([keys.any_key()])[0])

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
        alive = [] if parent is None else [keys.refuse_ended(parent.id, now)]
        try:
            self._database.write(
                [*alive, keys.insert(made, digest(secret)), audit.note(now, by, "key_created", target=made.id)]
            )
        except Refused as refused:
            raise NotFound("key", made.parent_id or "") from refused
        return made, secret

    def find(self, secret: str) -> Key | None:
        """Return the key with this secret, active or ended, or None."""
        key_id = id_in(secret)
        rows = [] if key_id is None else self._database.read([keys.by_id(key_id)])[0]
        known = rows[0][-1] if rows else b""
        assert isinstance(known, bytes)
        return keys.key(rows[0]) if hmac.compare_digest(known, digest(secret)) else None

    def get(self, key_id: str) -> Key:
        """Return a key by its id. Raises `NotFound`."""
        (rows,) = self._database.read([keys.by_id(key_id)])
        if not rows:
            raise NotFound("key", key_id[:80])
        return keys.key(rows[0])

    def all(self) -> list[Key]:
        """Return all keys, newest first, including those that have ended."""
        return [keys.key(row) for row in self._database.read([keys.all_keys()])[0]]

    def family(self, key_id: str) -> list[Key]:
        """Return a key and its descendants, newest first."""
        return [keys.key(row) for row in self._database.read([keys.family(key_id)])[0]]

    def revoke(self, key_id: str, now: int, *, by: str = LOCAL) -> list[str]:
        """End a key and its descendants for good. Return the ids of the keys that this call ends.

        Raises:
            NotFound: there is no such key.
        """
        self.get(key_id)
        ((ended,),), *_ = self._database.write(
            [keys.unrevoked(key_id), keys.note_revoked(key_id, now, by), keys.revoke(key_id, now)]
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
        alive = [keys.refuse_ended(one, now) for one in (old.id, old.parent_id) if one is not None]
        try:
            self._database.write(
                [
                    *alive,
                    keys.insert(made, digest(secret)),
                    *keys.succeed(old.id, made.id, now + overlap // timedelta(microseconds=1)),
                    audit.note(now, by, "key_rotated", target=old.id),
                    audit.note(now, by, "key_created", target=made.id),
                ]
            )
        except Refused as refused:
            raise Conflict(f"key {old.id} has ended; create a new one") from refused
        return made, secret

    def clear(self, now: int, *, by: str = LOCAL) -> int:
        """Delete all keys, so that none exists. Return how many there were."""
        ((count,),), *_ = self._database.write([keys.count(), audit.note(now, by, "keys_cleared"), keys.clear()])
        assert isinstance(count, int)
        return count

    def used(self, at: Mapping[str, int]) -> None:
        """Store when keys were last used, in microseconds."""
        self._database.write(keys.used(list(at.items())))


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
