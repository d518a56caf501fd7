"""The stages before the application: compression, web pages of other origins, the console, the caller."""

from collections.abc import Mapping

from litestar.types import ASGIApp, Receive, Scope, Send

from muisti.service.asgi.messages import CODED, compressed
from muisti.service.auth.browser import PAGED, WebPages
from muisti.service.auth.middleware import AuthMiddleware
from muisti.service.mcp.cards import CARDS, Cards
from muisti.service.pages.mount import PATHS


class Entrance:
    """Passes a request through the stages that its headers and its path ask for, then to `inner`."""

    def __init__(
        self, inner: AuthMiddleware, pages: WebPages, console: ASGIApp | None, cards: Cards | None = None
    ) -> None:
        self._inner, self._pages, self._console, self._cards = inner, pages, console, cards

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Raises HttpError when a body comes compressed, or a page calls that may not."""
        if scope["type"] != "http":
            await self._inner(scope, receive, send)
            return
        given: Mapping[bytes, bytes] = dict(scope["headers"])
        if not CODED.isdisjoint(given):
            send = compressed(scope["headers"], send)
        if self._cards is not None and scope["path"] in CARDS:
            await self._cards(scope, given, send)
            return
        if not PAGED.isdisjoint(given):
            shown = await self._pages.shown(scope, given, send)
            if shown is None:
                return
            send = shown
        if self._console is not None and PATHS.fullmatch(scope["path"]):
            await self._console(scope, receive, send)
        else:
            await self._inner(scope, receive, send)
