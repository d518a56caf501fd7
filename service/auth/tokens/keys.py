"""Cache of an issuer's keys in one process: read when they are needed, and again when they may have changed."""

import asyncio
import logging
import time
from collections.abc import Callable

from muisti.service.auth.tokens.keyset import PublicKey, pick, read_keys
from muisti.service.auth.tokens.source import Source, Unreadable
from muisti.service.schemas.errors import HttpError

LIFETIME_SECONDS = 600.0  # after which keys are read again, while the old ones are still used
STALE_SECONDS = 3_600.0  # after which old keys are not used any more
PAUSE_SECONDS = 10.0  # least time between two readings, even if tokens name unknown keys


class IssuerKeys:
    """Cache of the keys, for use on one event loop, which it never blocks."""

    def __init__(self, source: Source, monotonic: Callable[[], float] = time.monotonic) -> None:
        self._source, self._monotonic = source, monotonic
        self._keys: tuple[PublicKey, ...] = ()
        self._read_at = self._tried_at = float("-inf")
        self._reading: asyncio.Task[None] | None = None

    async def find(self, key_id: str | None, algorithm: str) -> PublicKey | None:
        """Return the key to check a token with; None when the issuer does not have it.

        Raises:
            HttpError: the keys of the issuer cannot be had.
        """
        reading = self._refresh() if self._age() >= LIFETIME_SECONDS else None
        if reading is not None and self._age() >= STALE_SECONDS:
            await asyncio.shield(reading)
        if self._age() >= STALE_SECONDS:
            raise HttpError("issuer_unavailable", "the keys of the token issuer cannot be read now; try again soon")
        found = pick(self._keys, key_id, algorithm)
        if found is None and (reading := self._refresh()) is not None:  # it may be new
            await asyncio.shield(reading)
            found = pick(self._keys, key_id, algorithm)
        return found

    async def close(self) -> None:
        """Close the source."""
        if self._reading is not None:
            self._reading.cancel()
            await asyncio.wait([self._reading])
        await self._source.close()

    def _age(self) -> float:
        return self._monotonic() - self._read_at

    def _refresh(self) -> asyncio.Task[None] | None:
        """Return the running reading, or start one; None when the last one was less than PAUSE_SECONDS ago."""
        if self._reading is not None and not self._reading.done():
            return self._reading
        if self._monotonic() - self._tried_at < PAUSE_SECONDS:
            return None
        self._tried_at = self._monotonic()
        self._reading = asyncio.create_task(self._read())
        return self._reading

    async def _read(self) -> None:
        try:
            keys = read_keys(await self._source.read())
        except (Unreadable, ValueError) as error:
            reason = str(error) if isinstance(error, Unreadable) else "it is no JWKS"
            logging.getLogger("muisti.tokens").warning("keys of the issuer not read", extra={"because": reason})
            return
        self._keys, self._read_at = keys, self._monotonic()
