"""Callers by their keys, read from the database and cached for a second."""

import asyncio
import logging
import time
from collections import OrderedDict
from collections.abc import Callable

import msgspec

from muisti.core.identity.grants import EVERYTHING, Key
from muisti.core.model.errors import MuistiError
from muisti.core.model.times import from_us, to_us
from muisti.core.operations.keys import digest
from muisti.service.auth.access import OWNER, Access
from muisti.service.runtime.workers import Backend

FRESH_SECONDS = 1.0  # longest time that a key still works after another process has revoked it
NOTED_SECONDS = 60.0  # between two notes of when a key was last used
REMEMBERED = 10_000  # keys in the cache


class _Entry(msgspec.Struct):
    access: Access | None
    read_at: float


class Keyring:
    """Cache of the keys of a database in one process."""

    def __init__(
        self,
        backend: Backend,
        admin_key: str | None,
        *,
        asks: bool = False,
        owner_key: str | None = None,
        monotonic: Callable[[], float] = time.monotonic,
    ) -> None:
        """Create the cache. `admin_key` is a secret with all scopes. `asks`: the settings alone require a key.

        `owner_key` is the secret of a process on this machine that may open the database file.
        """
        self._backend = backend
        self._admin = None if admin_key is None else digest(admin_key)
        self._owner = None if owner_key is None else digest(owner_key)
        self._monotonic = monotonic
        self._entries: OrderedDict[bytes, _Entry] = OrderedDict()
        self._noted: dict[str, float] = {}
        self._notes: set[asyncio.Task[None]] = set()
        self._exist, self._looked_at = asks or admin_key is not None, float("-inf")

    async def needed(self) -> bool:
        """Tell whether requests need a key. Once a key exists, every request needs one, even after all keys expire."""
        if not self._exist and self._monotonic() - self._looked_at >= FRESH_SECONDS:
            at = self._monotonic()
            self._exist = await self._backend.vital(self._backend.main.keys.exist)
            self._looked_at = at
        return self._exist

    async def find(self, secret: str) -> Access | None:
        """Return the caller that has this key; None when the key is unknown, revoked or expired."""
        now = self._backend.main.now()
        known = digest(secret)
        entry = self._entries.get(known)
        if entry is None or self._monotonic() - entry.read_at >= FRESH_SECONDS:
            entry = await self._read(secret, known, now)
        access = entry.access
        if access is None or (access.expires_us is not None and now >= access.expires_us):
            return None
        if access.key_id is not None:
            self._note(access.key_id, now)
        return access

    def forget(self) -> None:
        """Empty the cache, after this process has changed keys."""
        self._entries.clear()
        self._looked_at = float("-inf")

    async def close(self) -> None:
        """Wait for the notes that are being written."""
        await asyncio.gather(*self._notes)

    async def _read(self, secret: str, known: bytes, now: int) -> _Entry:
        at = self._monotonic()
        if known == self._owner:  # these are hashes, so the time of a comparison reveals nothing
            access: Access | None = OWNER
        elif known == self._admin:
            access = Access("setting", EVERYTHING)
        else:
            access = _access(await self._backend.vital(self._backend.main.keys.find, secret), now)
        if access is None:  # unknown keys must not fill the cache
            self._entries.pop(known, None)
            return _Entry(None, at)
        entry = self._entries[known] = _Entry(access, at)
        self._entries.move_to_end(known)
        if len(self._entries) > REMEMBERED:
            self._entries.popitem(last=False)
        return entry

    def _note(self, key_id: str, now: int) -> None:
        at = self._monotonic()
        if at - self._noted.get(key_id, float("-inf")) >= NOTED_SECONDS:
            self._noted[key_id] = at
            if len(self._noted) > REMEMBERED:
                self._noted.clear()
            note = asyncio.create_task(self._write(key_id, now))
            self._notes.add(note)
            note.add_done_callback(self._notes.discard)

    async def _write(self, key_id: str, at: int) -> None:
        try:
            await self._backend.vital(self._backend.main.keys.used, {key_id: at})
        except MuistiError as error:  # the request that used the key still succeeds
            details = {"key": key_id, "code": error.code}
            logging.getLogger("muisti.keys").warning("last use not noted", extra=details)


def _access(key: Key | None, now: int) -> Access | None:
    if key is None or not key.alive(from_us(now)):
        return None
    return Access(key.id, key.grant, key_id=key.id, expires_us=key.expires_at and to_us(key.expires_at))
