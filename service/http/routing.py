"""Routes of Litestar whose signatures are evaluated at their first request.

Litestar reads what a handler takes from its signature and builds types for it. That takes .6 ms for each of 150
handlers. Every start, the first page, and every test that makes an application would wait for it.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from copy import copy
from functools import partialmethod
from typing import Any, TypeVar

import litestar
from litestar import Litestar, route
from litestar.handlers import HTTPRouteHandler
from litestar.plugins import PluginProtocol
from litestar.plugins.core import MsgspecDIPlugin
from litestar.routes import HTTPRoute
from litestar.types import HTTPScope, Receive, Send

from muisti.service.auth.access import Need

F = TypeVar("F", bound=Callable[..., Any])

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


class Routes:
    """Operations about one thing. Each has the name of its function; its docstring is its summary and description.

    `tag` is their tag, `before` the beginning of their paths, and `usual` their options. An operation may have several
    paths with a `name` and a `doc` of its own for each.
    """

    def __init__(self, tag: str, before: str = "/v1/spaces/{space:str}", **usual: Any) -> None:
        self._tag, self._before, self._usual = tag, before, usual
        self.handlers: list[HTTPRouteHandler] = []

    def needs(self, operation: str) -> Need:
        """Return the scope that an operation needs."""
        return next(one.opt["needs"] for one in self.handlers if one.operation_id == operation)

    def _add(
        self, method: Any, path: str, *, name: str | None = None, tag: str | None = None, **options: Any
    ) -> Callable[[F], F]:
        def add(function: F) -> F:
            first, *others = (name or function.__name__).split("_")
            operation = first + "".join(word.capitalize() for word in others)
            given = {**self._usual, **options, "operation_id": operation}
            self.handlers.append(method(self._before + path, tags=[tag or self._tag], **given)(function))
            return function

        return add

    get = partialmethod(_add, litestar.get)
    post = partialmethod(_add, litestar.post)
    put = partialmethod(_add, litestar.put)
    patch = partialmethod(_add, litestar.patch)
    delete = partialmethod(_add, litestar.delete)


def by_path(handlers: Iterable[HTTPRouteHandler]) -> dict[str, list[HTTPRouteHandler]]:
    """Return handlers by their paths."""
    found: dict[str, list[HTTPRouteHandler]] = {}
    for handler in handlers:
        for path in handler.paths:
            found.setdefault(path, []).append(handler)
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
