"""Where the keys of an issuer are read: a file, or one URL, exactly the one that the operator wrote."""

import asyncio
from pathlib import Path
from typing import Protocol

import httpx
from anyio import to_thread

PATIENCE_SECONDS = 5.0
SIZE_MAX = 1 << 18  # bytes


class Unreadable(Exception):
    """The keys cannot be had. The message says why, in words for the log."""


class Source(Protocol):
    """Gives the bytes of a JWKS."""

    async def read(self) -> bytes:
        """Raises `Unreadable`."""
        ...

    async def close(self) -> None: ...


def source_of(place: str) -> Source:
    """The source at a place as `MUISTI_JWKS` names it."""
    return UrlSource(place) if "://" in place else FileSource(Path(place))


class FileSource:
    """A file."""

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
    """A URL. Redirects are not followed: another address is another issuer."""

    def __init__(self, url: str, seconds: float = PATIENCE_SECONDS) -> None:
        """`seconds` is how long the whole answer may take."""
        self._url, self._seconds = url, seconds
        self._http = httpx.AsyncClient(follow_redirects=False, trust_env=False, timeout=seconds)

    async def read(self) -> bytes:
        try:
            async with asyncio.timeout(self._seconds):
                return await self._read()
        except TimeoutError as error:
            raise Unreadable(f"there was no whole answer within {self._seconds:g} s") from error
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
