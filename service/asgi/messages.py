"""Reads bodies and sends answers as ASGI messages, without Litestar, and compresses answers."""

import gzip
import re
from collections.abc import Callable, Iterable, Mapping
from typing import Any

import msgspec
from anyio import to_thread

from muisti.core.model.errors import MuistiError
from muisti.core.support import zstd
from muisti.service.schemas.asgi import Message, Receive, Scope, Send
from muisti.service.schemas.errors import HttpError, mark, noted, problem_of, shown

Header = tuple[bytes, bytes]


async def read_body(receive: Receive, limit: int | None = None) -> bytes:
    """Read the whole body. `limit` is in bytes, None when something before this bounds it.

    Raises:
        HttpError: the caller disconnected first, or the body is too large.
    """
    body = bytearray()
    while True:
        message = await receive()
        if message["type"] != "http.request":
            raise HttpError("malformed_request", "the client disconnected before its body was complete")
        body += message["body"]
        if limit is not None and len(body) > limit:
            raise HttpError("too_large", f"the body has more than {limit:,} bytes")
        if not message["more_body"]:
            return bytes(body)


_ENCODER = msgspec.json.Encoder()


class PlainResponse(msgspec.Struct, frozen=True):
    """Content, headers and status of an answer. The fast path sends it as it is; handlers convert it by `whole`."""

    content: Any
    headers: Mapping[str, str]
    status: int = 200


async def send_body(send: Send, status: int, headers: Mapping[str, str], content: Any) -> None:
    """Send `content` as JSON, with its length added to the headers."""
    body = _ENCODER.encode(content)
    given = [(b"content-length", b"%d" % len(body))]
    for name, value in headers.items():
        given.append((name.lower().encode("latin-1"), value.encode("latin-1")))
    await send({"type": "http.response.start", "status": status, "headers": given})
    await send({"type": "http.response.body", "body": body, "more_body": False})


async def send_problem(scope: Scope, send: Send, error: HttpError | MuistiError) -> None:
    """Send a refusal as a problem (RFC 9457), or as an error of the SDK whose path it is."""
    found = problem_of(error)
    mark(scope, error)
    noted(scope, found)
    extra = error.headers if isinstance(error, HttpError) else {}
    status, headers, body = shown(scope, found)
    await send_body(send, status, {**headers, **extra}, body)


# Compresses answers for callers that accept it. Compressed requests are refused: a small body must not grow

WORTH = 1_024  # bytes from which an answer is compressed
APART = 65_536  # bytes from which an answer is compressed on a thread
TYPES = (b"application/json", b"application/problem+json", b"text/")
_NAMED = re.compile(rb"\s*+([a-z*]++)\s*+(?:;\s*+q\s*+=\s*+([0-9.]{1,5})\s*+)?")


def _gzip(body: bytes) -> bytes:
    return gzip.compress(body, compresslevel=4, mtime=0)


def _zstd(body: bytes) -> bytes:
    return zstd.compress(body, 3)


CODINGS: dict[bytes, Callable[[bytes], bytes]] = {b"zstd": _zstd, b"gzip": _gzip}  # the best first


CODED = frozenset({b"content-encoding", b"accept-encoding"})  # headers of requests that need `compressed`


def compressed(headers: Iterable[Header], send: Send) -> Send:
    """Return what compresses the answer to a request with these headers and sends it, or `send` itself.

    Raises:
        HttpError: the body comes compressed.
    """
    accepted = b""
    for name, value in headers:
        if name == b"content-encoding" and value.strip().lower() not in (b"", b"identity"):
            coding = value.decode("latin-1")[:40]
            raise HttpError("unsupported_media_type", f"Content-Encoding is {coding!r}; send the body as it is")
        if name == b"accept-encoding":
            accepted = value
    best = chosen(accepted)
    return send if best is None else _Smaller(send, best)


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
