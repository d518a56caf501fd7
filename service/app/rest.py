"""All of the HTTP API, by Litestar: what the fast path leaves, loaded when a request first needs it."""

from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from functools import cache
from typing import TYPE_CHECKING, Any, cast

import litestar
import msgspec
from litestar import Litestar, Response
from litestar.di import Provide
from litestar.handlers import BaseRouteHandler
from litestar.routes import HTTPRoute

from muisti.core.support.lazy import Lazy
from muisti.service.agents.answering import Agents
from muisti.service.app.state import State
from muisti.service.auth.access import Need, check
from muisti.service.auth.middleware import access_of
from muisti.service.feed.stream import SeqWatcher
from muisti.service.http.decode import SLASH
from muisti.service.http.parameters import KnownParameters
from muisti.service.http.refusals import HANDLERS
from muisti.service.http.request import Request, caught_up
from muisti.service.http.routing import Application
from muisti.service.mcp.route import McpApp
from muisti.service.memory_stores.names import store_space
from muisti.service.routes import routes
from muisti.service.runtime.admission import LANE, Lane, is_slow
from muisti.service.runtime.workers import Backend
from muisti.service.settings.tool_groups import groups_in
from muisti.service.tools.session import citation_of

if TYPE_CHECKING:
    from muisti.service.openapi import specification
else:  # 20 ms, when somebody asks for it
    specification = Lazy("muisti.service.openapi.specification")


def application(state: State, running: Callable[[], AbstractAsyncContextManager[None]]) -> Litestar:
    """Create the application, whose handlers find `state` and which runs inside of `running`."""

    def backend() -> Backend:
        return state.backend

    known_parameters = KnownParameters()

    async def checked(request: litestar.Request[Any, Any, Any]) -> Response[None] | None:
        if request.method == "OPTIONS":  # Litestar names the methods of a path's first handler only
            return Response(None, status_code=204, headers={"Allow": allowed[request.scope["path_template"]]})
        store_space(request.scope)
        permit(request)
        known_parameters.check(request)
        handler, space = request.route_handler, request.scope["path_params"].get("space")
        size = request.headers.get("content-length", "")
        sent = int(size) if size.isdecimal() else None
        slow = is_slow(str(handler.operation_id), handler.tags or (), sent)
        LANE.set(Lane(slow, space and space.replace(SLASH, "/"), access_of(request.scope).lane_key))
        await caught_up(cast(Request, request))
        return None

    settings = state.settings
    mcp = McpApp(state, settings.body_limit, groups_in(settings.mcp_tools), citation_of(settings))
    app = Application(
        route_handlers=[mcp.route()],
        lifespan=[lambda _: running()],
        dependencies={"backend": Provide(backend, sync_to_thread=False)},
        before_request=checked,  # and not a guard, for which Litestar copies the handler each time
        request_class=Request,
        request_max_body_size=settings.body_limit,
        exception_handlers=HANDLERS,
        openapi_config=None,
        logging_config=None,
    )
    app.mount(routes())
    allowed = methods(app)
    # The document takes a tenth of a second to make, so it is made on the first request for it.
    state.openapi = cache(lambda: msgspec.json.encode(specification.document(app)))
    app.state = cast(Any, state)
    return app


def begin(state: State) -> None:
    """Make what handlers need of a backend."""
    state.agents = Agents(state.backend)
    state.seq_watcher = SeqWatcher(state.backend, state.settings.stream_limit)


def needs(handler: BaseRouteHandler) -> Need:
    """Return the scope that a route needs. Every route declares it."""
    return handler.opt["needs"]


def permit(request: litestar.Request[Any, Any, Any]) -> None:
    """Check the scopes that a request needs, as far as they are known before its parameters are read.

    A route with `unless_dry` needs those scopes as well, unless it is asked for a dry run. Where the parameter is
    given, the route reads it and decides.

    Raises:
        HttpError, NotFound: as `check`.
    """
    space = request.scope["path_params"].get("space")
    handler = request.route_handler
    further: tuple[Need, ...] = () if "dry_run" in request.query_params else handler.opt.get("unless_dry", ())
    for need in (needs(handler), *further):
        check(access_of(request.scope), need, space and space.replace(SLASH, "/"))


def methods(app: Litestar) -> dict[str, str]:
    """Return the methods of each path, as a value of the header `Allow`."""
    known: dict[str, set[str]] = {}
    for route in app.routes:
        if isinstance(route, HTTPRoute):
            known.setdefault(route.path_format, {"OPTIONS"}).update(route.methods)
    return {path: ", ".join(sorted(found | ({"HEAD"} if "GET" in found else set()))) for path, found in known.items()}


def public_paths(app: Litestar) -> list[str]:
    """Return the paths that need no key, cut at the first parameter. Raises KeyError for a route without a need."""
    handlers = {
        route.path: [handler for handler, _ in route.route_handler_map.values()]
        for route in app.routes
        if isinstance(route, HTTPRoute)
    }
    return [path.partition("{")[0] for path, found in handlers.items() if {needs(one) for one in found} == {"nothing"}]
