"""The middleware that gives the console its paths."""

import asyncio
from typing import TYPE_CHECKING

from anyio import to_thread
from litestar.types import ASGIApp, Receive, Scope, Send

from muisti.core.support.lazy import Lazy
from muisti.service.console import ROOT

if TYPE_CHECKING:
    from muisti.service.pages import app as pages
else:  # templates, Markdown and the client take .2 s, which a server that nobody looks at does without
    pages = Lazy("muisti.service.pages.app")


class Console:
    """Middleware that answers the paths of the console. The pages are made at the first request for one."""

    def __init__(self, app: ASGIApp, api: ASGIApp, *, body_limit: int, secure: bool) -> None:
        """`app` gets all other requests; `api` is the whole application, which the pages call.

        `secure`: browsers reach the server over HTTPS, so cookies are sent over nothing else.
        """
        self._app, self._api = app, api
        self._body_limit, self._secure = body_limit, secure
        self._pages: ASGIApp | None = None
        self._making = asyncio.Lock()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http" and is_console(scope["path"]):
            drawing = self._pages or await self._made()
            await drawing(scope, receive, send)
        else:
            await self._app(scope, receive, send)

    async def _made(self) -> ASGIApp:
        """Make the pages once, on a thread, because other requests must not wait for it."""
        async with self._making:
            if self._pages is None:
                self._pages = await to_thread.run_sync(self._make)
        return self._pages

    def _make(self) -> ASGIApp:
        return pages.pages_of(self._api, body_limit=self._body_limit, secure=self._secure)


def is_console(path: str) -> bool:
    """Tell whether a path belongs to the console.

    >>> [is_console(path) for path in ("/", "/console", "/console/keys", "/v1/spaces", "/consoles")]
    [True, True, True, False, False]
    """
    return path in ("/", ROOT) or path.startswith(ROOT + "/")
