"""Compresses answers for callers that accept it. Compressed requests are refused: a small body must not grow."""

import gzip
import re
from collections.abc import Callable
from typing import Any, cast

import zstandard
from anyio import to_thread
from litestar.types import ASGIApp, Message, Receive, Scope, Send

from muisti.service.schemas.errors import HttpError

Header = tuple[bytes, bytes]

WORTH = 1_024  # bytes from which an answer is compressed
APART = 65_536  # bytes from which an answer is compressed on a thread
TYPES = (b"application/json", b"application/problem+json", b"text/")
_NAMED = re.compile(rb"\s*+([a-z*]++)\s*+(?:;\s*+q\s*+=\s*+([0-9.]{1,5})\s*+)?")


def _gzip(body: bytes) -> bytes:
    return gzip.compress(body, compresslevel=4, mtime=0)


def _zstd(body: bytes) -> bytes:
    return zstandard.ZstdCompressor(level=3).compress(body)


CODINGS: dict[bytes, Callable[[bytes], bytes]] = {b"zstd": _zstd, b"gzip": _gzip}  # the best first


class Compress:
    """Middleware that compresses the answers of an application."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Raises HttpError when a body comes compressed."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        accepted = b""
        for name, value in cast(list[Header], cast(dict[str, Any], scope)["headers"]):
            if name == b"content-encoding" and value.strip().lower() not in (b"", b"identity"):
                coding = value.decode("latin-1")[:40]
                raise HttpError("unsupported_media_type", f"Content-Encoding is {coding!r}; send the body as it is")
            if name == b"accept-encoding":
                accepted = value
        coding = chosen(accepted)
        await self._app(scope, receive, send if coding is None else _Smaller(send, coding))


class _Smaller:
    """Compresses an answer that comes in one piece. An answer in several pieces is a stream and passes unchanged."""

    def __init__(self, send: Send, coding: bytes) -> None:
        self._send, self._coding = send, coding
        self._start: Any = None

    async def __call__(self, message: Message) -> None:
        if message["type"] == "http.response.start":
            self._start = message
            return
        start, self._start = self._start, None
        if start is None or message["type"] != "http.response.body":
            await self._send(message)
            return
        headers: list[Header] = list(start["headers"])
        body = message["body"]
        if not message.get("more_body") and _worth(headers, body):
            make = CODINGS[self._coding]
            small = make(body) if len(body) < APART else await to_thread.run_sync(make, body)
            headers = [header for header in headers if header[0] != b"content-length"]
            headers += [(b"content-encoding", self._coding), (b"content-length", str(len(small)).encode())]
            message["body"] = small
        headers.append((b"vary", b"Accept-Encoding"))
        start["headers"] = headers
        await self._send(start)
        await self._send(message)


def chosen(accepted: bytes) -> bytes | None:
    """Return the best coding that Accept-Encoding allows; None when it allows none of ours.

    >>> [chosen(given) for given in (b"gzip, zstd", b"gzip;q=1, zstd;q=0", b"br", b"")]
    [b'zstd', b'gzip', None, None]
    """
    if not accepted:
        return None
    taken = {match[1]: match[2] for part in accepted.lower().split(b",") if (match := _NAMED.fullmatch(part))}
    return next((name for name in CODINGS if name in taken and (taken[name] or b"1").strip(b"0.")), None)


def _worth(headers: list[Header], body: bytes) -> bool:
    given = dict(headers)
    return len(body) >= WORTH and b"content-encoding" not in given and given.get(b"content-type", b"").startswith(TYPES)
