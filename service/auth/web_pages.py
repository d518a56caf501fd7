"""Which web pages may call: one check of every request that may change something, and the headers of CORS."""

import re
from collections.abc import Sequence
from typing import Any, cast

from litestar.types import ASGIApp, Message, Receive, Scope, Send

from muisti.service.asgi.header_names import of_pages
from muisti.service.auth.browser import SAFE, own_site
from muisti.service.auth.hosts import host_of, is_address
from muisti.service.schemas.errors import HttpError

Header = tuple[bytes, bytes]

METHODS = b"GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS"
TAKEN = ", ".join(of_pages("in")).encode()
SHOWN = ", ".join(of_pages("out")).encode()
AGE = b"600"  # seconds that a browser may remember
READING = SAFE | {"OPTIONS"}
_HERE = re.compile(r"https?://(?:localhost|127\.0\.0\.1|\[::1\])(?::\d+)?", re.ASCII)  # origins on this machine
ORIGIN, SITE = b"origin", b"sec-fetch-site"


class WebPages:
    """Middleware that refuses changes by web pages that may not call, and lets the others read answers (CORS).

    A browser sends simple requests of any page without asking, so their effect must be refused. Requests of programs
    have neither `Origin` nor `Sec-Fetch-Site`, and pass. Callers authenticate with Authorization, never with cookies.
    """

    def __init__(self, app: ASGIApp, origins: Sequence[str], own: str | None = None) -> None:
        """`origins`: those whose pages may call; `*` allows every origin. `own` is a path of our own pages.

        Below `own`, only pages of this server may call.
        """
        self._app = app
        self._origins, self._every = frozenset(origins), "*" in origins
        self._own = own

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        http = cast(dict[str, Any], scope)
        headers = cast(Sequence[Header], http.get("headers", ()))
        if scope["type"] != "http" or not any(name in (ORIGIN, SITE) for name, _ in headers):
            await self._app(scope, receive, send)
            return
        given = dict(headers)
        origin = given[ORIGIN].decode("latin-1") if ORIGIN in given else None
        own_only = self._own is not None and f"{http['path']}/".startswith(f"{self._own}/")
        allowed = not own_only and self._allows(origin, given.get(b"host", b"").decode("latin-1"))
        if http["method"] not in READING and not allowed and not own_site(headers):
            page = "another site" if origin is None else repr(origin[:80])
            raise HttpError("forbidden_origin", f"pages of {page} may not call; MUISTI_ORIGINS names those that may")
        if origin is None or not allowed:
            await self._app(scope, receive, send)
            return
        shared = [(b"access-control-allow-origin", given[ORIGIN]), (b"vary", b"Origin")]
        if http["method"] == "OPTIONS" and b"access-control-request-method" in given:
            preflight = [
                (b"access-control-allow-methods", METHODS),
                (b"access-control-allow-headers", TAKEN),
                (b"access-control-max-age", AGE),
            ]
            await send({"type": "http.response.start", "status": 204, "headers": [*shared, *preflight]})
            await send({"type": "http.response.body", "body": b"", "more_body": False})
            return

        async def shown(message: Message) -> None:
            if message["type"] == "http.response.start":
                message["headers"] = [*message["headers"], *shared, (b"access-control-expose-headers", SHOWN)]
            await send(message)

        await self._app(scope, receive, shown)

    def _allows(self, origin: str | None, host: str) -> bool:
        """Return whether a page may call: its origin is listed, or page and server are both on this machine."""
        if self._every or origin is None or origin in self._origins:
            return self._every or origin is not None
        server = host_of(host)
        return _HERE.fullmatch(origin) is not None and (server == "localhost" or is_address(server))
