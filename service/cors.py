"""Answers to web pages of the origins that the settings name; to all others the browser shows nothing."""

from collections.abc import Sequence
from typing import Any, cast

from litestar.types import ASGIApp, Message, Receive, Scope, Send

Header = tuple[bytes, bytes]

METHODS = b"GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS"
TAKEN = (
    b"Authorization, Content-Type, Accept, Idempotency-Key, If-Match, If-None-Match, Prefer, Muisti-Min-Seq, "
    b"X-Request-Id, traceparent, tracestate, Mcp-Protocol-Version, Mcp-Method, Mcp-Name, Mcp-Session-Id, Last-Event-ID"
)
SHOWN = (
    b"ETag, Location, Link, Muisti-Seq, Idempotent-Replayed, Preference-Applied, Retry-After, Server-Timing, "
    b"X-Request-Id, RateLimit-Limit, RateLimit-Remaining, RateLimit-Reset, WWW-Authenticate"
)
AGE = b"600"  # seconds that a browser may remember


class Cors:
    """Wraps an application. Cookies take no part: a caller says who he is in Authorization."""

    def __init__(self, app: ASGIApp, origins: Sequence[str]) -> None:
        """`origins`: those that may call; `*` is every one."""
        self._app = app
        self._origins = frozenset(origin.encode() for origin in origins)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        http = cast(dict[str, Any], scope)
        given = dict(cast(list[Header], http.get("headers", ())))
        origin = given.get(b"origin")
        if scope["type"] != "http" or origin is None or not self._origins & {b"*", origin}:
            await self._app(scope, receive, send)
            return
        allowed = [(b"access-control-allow-origin", origin), (b"vary", b"Origin")]
        if http["method"] == "OPTIONS" and b"access-control-request-method" in given:
            told = [
                (b"access-control-allow-methods", METHODS),
                (b"access-control-allow-headers", TAKEN),
                (b"access-control-max-age", AGE),
            ]
            await send({"type": "http.response.start", "status": 204, "headers": [*allowed, *told]})
            await send({"type": "http.response.body", "body": b"", "more_body": False})
            return

        async def shown(message: Message) -> None:
            if message["type"] == "http.response.start":
                message["headers"] = [*message["headers"], *allowed, (b"access-control-expose-headers", SHOWN)]
            await send(message)

        await self._app(scope, receive, shown)
