"""Cross-origin resource sharing (CORS): lets web pages of the origins that the settings name read answers."""

from collections.abc import Sequence
from typing import Any, cast

from litestar.types import ASGIApp, Message, Receive, Scope, Send

from muisti.service.asgi.header_names import of_pages

Header = tuple[bytes, bytes]

METHODS = b"GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS"
TAKEN = ", ".join(of_pages("in")).encode()
SHOWN = ", ".join(of_pages("out")).encode()
AGE = b"600"  # seconds that a browser may remember


class Cors:
    """Middleware that adds CORS headers. Callers authenticate with Authorization, never with cookies."""

    def __init__(self, app: ASGIApp, origins: Sequence[str]) -> None:
        """`origins`: those whose pages may call; `*` allows every origin."""
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
            preflight = [
                (b"access-control-allow-methods", METHODS),
                (b"access-control-allow-headers", TAKEN),
                (b"access-control-max-age", AGE),
            ]
            await send({"type": "http.response.start", "status": 204, "headers": [*allowed, *preflight]})
            await send({"type": "http.response.body", "body": b"", "more_body": False})
            return

        async def shown(message: Message) -> None:
            if message["type"] == "http.response.start":
                message["headers"] = [*message["headers"], *allowed, (b"access-control-expose-headers", SHOWN)]
            await send(message)

        await self._app(scope, receive, shown)
