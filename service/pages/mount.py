"""The pages of the console, and their paths."""

import asyncio
import re
from typing import TYPE_CHECKING

from anyio import to_thread

from muisti.core.support.lazy import Lazy
from muisti.service.console import ROOT
from muisti.service.schemas.asgi import ASGIApp, Receive, Scope, Send

if TYPE_CHECKING:
    from muisti.service.pages import app as pages
else:  # templates, Markdown and the client take .2 s, which a server that nobody looks at does without
    pages = Lazy("muisti.service.pages.app")

PATHS = re.compile(rf"/|{ROOT}(?:/.*)?", re.DOTALL)


class Console:
    """Answers requests for pages, which are created at the first of them."""

    def __init__(self, api: ASGIApp, *, body_limit: int, upload_limit: int, secure: bool) -> None:
        """`api` is the whole application, which the pages call.

        `secure`: browsers reach the server over HTTPS, so cookies are sent over nothing else.
        """
        self._api = api
        self._body_limit, self._upload_limit, self._secure = body_limit, upload_limit, secure
        self._pages: ASGIApp | None = None
        self._making = asyncio.Lock()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        drawing = self._pages or await self._made()
        await drawing(scope, receive, send)

    async def _made(self) -> ASGIApp:
        """Make the pages once, on a thread, because other requests must not wait for it."""
        async with self._making:
            if self._pages is None:
                self._pages = await to_thread.run_sync(self._make)
        return self._pages

    def _make(self) -> ASGIApp:
        limits = {"body_limit": self._body_limit, "upload_limit": self._upload_limit}
        return pages.pages_of(self._api, **limits, secure=self._secure)
