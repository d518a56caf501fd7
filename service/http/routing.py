"""Litestar's routes, each worked out when it is first asked.

What a handler takes is read from its signature and made into types: .6 ms for each of eighty handlers, for which every
start, and every test that makes an application, would wait.
"""

from collections.abc import Mapping, Sequence
from copy import copy
from typing import Any

from litestar import Litestar, route
from litestar.handlers import HTTPRouteHandler
from litestar.plugins import PluginProtocol
from litestar.plugins.core import MsgspecDIPlugin
from litestar.routes import HTTPRoute
from litestar.types import HTTPScope, Receive, Send

_LATER: Any = None  # what a handler takes, before it is asked


class Application(Litestar):
    """Without the plugins for pydantic and attrs, which load both pydantics where MCP has one installed: .2 s."""

    @staticmethod
    def _get_default_plugins(plugins: list[PluginProtocol]) -> list[PluginProtocol]:
        return [*plugins, MsgspecDIPlugin()]

    def mount(self, handlers: Mapping[str, Sequence[HTTPRouteHandler]]) -> None:
        """Take in all handlers of each path."""
        options = self._own(_options)  # one for all paths, where Litestar makes one for each
        for path, of_path in handlers.items():
            self.routes.append(_Route(path=path, route_handlers=[*map(self._own, of_path), options]))
        self.asgi_router.construct_routing_trie()

    def _own(self, handler: HTTPRouteHandler) -> HTTPRouteHandler:
        own = copy(handler)
        own.owner = self
        return own


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
    """Is never called: what comes before every request answers these."""
