"""Routes of Litestar whose signatures are evaluated at their first request.

Litestar reads what a handler takes from its signature and builds types for it. That takes .6 ms for each of 150
handlers. Every start, the first page, and every test that makes an application would wait for it.
"""

from collections.abc import Iterable, Mapping, Sequence
from copy import copy
from typing import Any

from litestar import Litestar, route
from litestar.handlers import HTTPRouteHandler
from litestar.plugins import PluginProtocol
from litestar.plugins.core import MsgspecDIPlugin
from litestar.routes import HTTPRoute
from litestar.types import HTTPScope, Receive, Send

_LATER: Any = None  # in place of the types that a handler takes, before its first request


class Application(Litestar):
    """Litestar without its plugins for pydantic and attrs: they load pydantic, .2 s, where MCP has installed it."""

    @staticmethod
    def _get_default_plugins(plugins: list[PluginProtocol]) -> list[PluginProtocol]:
        return [*plugins, MsgspecDIPlugin()]

    def mount(self, handlers: Mapping[str, Sequence[HTTPRouteHandler]]) -> None:
        """Register all handlers of each path."""
        options = self._own(_options)  # one for all paths, where Litestar makes one for each
        for path, of_path in handlers.items():
            self.routes.append(_Route(path=path, route_handlers=[*map(self._own, of_path), options]))
        self.asgi_router.construct_routing_trie()

    def _own(self, handler: HTTPRouteHandler) -> HTTPRouteHandler:
        own = copy(handler)
        own.owner = self
        return own


def by_path(handlers: Iterable[HTTPRouteHandler], before: str = "") -> dict[str, list[HTTPRouteHandler]]:
    """Return handlers by their paths, with a common beginning before each."""
    found: dict[str, list[HTTPRouteHandler]] = {}
    for handler in handlers:
        for path in handler.paths:
            found.setdefault(before + path, []).append(handler)
    return found


class _Route(HTTPRoute):
    __slots__ = ()

    def __init__(self, *, path: str, route_handlers: list[HTTPRouteHandler]) -> None:
        super().__init__(path=path, route_handlers=route_handlers)
        self.route_handler_map = {
            method: (handler, _LATER) for handler in self.route_handlers for method in handler.http_methods
        }

    async def handle(self, scope: HTTPScope, receive: Receive, send: Send) -> None:
        handler, taken = self.route_handler_map[scope["method"]]
        if taken is _LATER:
            handler.on_registration(handler.app)
            taken = handler.create_kwargs_model(self.path_parameters)
            self.route_handler_map |= dict.fromkeys(handler.http_methods, (handler, taken))
        await super().handle(scope, receive, send)


@route("/", http_method=["OPTIONS"], include_in_schema=False, status_code=204, needs="nothing")
async def _options() -> None:
    """Declare OPTIONS. The handler is never called: an application's `before_request` answers or refuses it."""
