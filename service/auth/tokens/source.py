"""Sources of an issuer's keys: a file, or the one URL that the operator configured."""

import asyncio
from pathlib import Path
from typing import Protocol

import httpx
from anyio import to_thread

PATIENCE_SECONDS = 5.0
SIZE_MAX = 1 << 18  # bytes


class Unreadable(Exception):
    """Error for keys that cannot be read. The message says why, in words for the log."""


class Source(Protocol):
    """Reader of the bytes of a JWKS."""

    async def read(self) -> bytes:
        """Read the bytes. Raises `Unreadable`."""
        ...

    async def close(self) -> None: ...


def source_of(place: str) -> Source:
    """Return the source for a value of `MUISTI_JWKS`."""
    return UrlSource(place) if "://" in place else FileSource(Path(place))


class FileSource:
    """Source in a file."""

    def __init__(self, path: Path) -> None:
        self._path = path

    async def read(self) -> bytes:
        try:
            return await to_thread.run_sync(self._read)
        except OSError as error:
            raise Unreadable(f"the file cannot be read: {error.strerror}") from error

    async def close(self) -> None:
        pass

    def _read(self) -> bytes:
        with self._path.open("rb") as file:
            return _within(file.read(SIZE_MAX + 1))


class UrlSource:
    """Source at a URL. Redirects are not followed, because another address may be another issuer."""

    def __init__(self, url: str, seconds: float = PATIENCE_SECONDS) -> None:
        """Create the source. `seconds` is the longest time for the whole answer."""
        self._url, self._seconds = url, seconds
        self._http = httpx.AsyncClient(follow_redirects=False, trust_env=False, timeout=seconds)

    async def read(self) -> bytes:
        try:
            async with asyncio.timeout(self._seconds):
                return await self._read()
        except TimeoutError as error:
            raise Unreadable(f"the answer was not complete within {self._seconds:g} s") from error
        except httpx.HTTPError as error:
            raise Unreadable(f"there was no answer: {type(error).__name__}") from error

    async def close(self) -> None:
        await self._http.aclose()

    async def _read(self) -> bytes:
        headers = {"Accept": "application/jwk-set+json, application/json", "Accept-Encoding": "identity"}
        async with self._http.stream("GET", self._url, headers=headers) as answer:
            if answer.status_code != 200:
                raise Unreadable(f"the answer has the status {answer.status_code}, not 200")
            body = b""
            async for chunk in answer.aiter_raw():
                body = _within(body + chunk)
            return body


def _within(body: bytes) -> bytes:
    if len(body) > SIZE_MAX:
        raise Unreadable(f"there are more than {SIZE_MAX:,} bytes")
    return body
