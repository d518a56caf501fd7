"""The application: it connects its parts, and opens and closes them in order."""

import asyncio
from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import ExitStack, asynccontextmanager
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import litestar
import msgspec
from anyio import to_thread
from litestar import Litestar, Response
from litestar.di import Provide
from litestar.handlers import BaseRouteHandler
from litestar.routes import HTTPRoute

from muisti.core.databases import open_database
from muisti.core.engine import Engine
from muisti.core.model.outcomes import Quota
from muisti.core.model.spaces import Policy
from muisti.core.model.times import Clock, system_clock
from muisti.core.support.lazy import Lazy
from muisti.service.agents.answering import Agents
from muisti.service.app.entrance import Entrance, FastPath
from muisti.service.app.placing import Placing
from muisti.service.auth.access import Access, Need, check
from muisti.service.auth.browser import WebPages
from muisti.service.auth.challenge import Resource
from muisti.service.auth.keyring import Keyring
from muisti.service.auth.middleware import AuthMiddleware, Limits, access_of
from muisti.service.background.fleet import Fleet
from muisti.service.background.upkeep import Sweep
from muisti.service.console import ROOT
from muisti.service.feed.stream import SeqWatcher
from muisti.service.http.decode import SLASH
from muisti.service.http.middleware import RequestMiddleware
from muisti.service.http.parameters import KnownParameters
from muisti.service.http.request import Request, caught_up
from muisti.service.http.routing import Application
from muisti.service.mcp.cards import Cards
from muisti.service.mcp.route import McpApp
from muisti.service.memory_stores.names import store_space
from muisti.service.metrics.scrape import Scrape
from muisti.service.observability.meters import Meters
from muisti.service.observability.tracing import tracing_of
from muisti.service.pages.mount import Console
from muisti.service.routes import routes
from muisti.service.runtime.admission import LANE, Admission, Lane, is_slow
from muisti.service.runtime.databases import location_of
from muisti.service.runtime.engines import Engines
from muisti.service.runtime.models import models_of, reader_of, thresholds_of
from muisti.service.runtime.workers import Backend
from muisti.service.schemas import errors
from muisti.service.settings import Settings, asks, names_in, needs_keys
from muisti.service.settings.tool_groups import groups_in
from muisti.service.tools.session import citation_of

if TYPE_CHECKING:
    from muisti.service.auth import tokens as jwt
    from muisti.service.openapi import specification
else:  # only tokens need `jwt`, which takes a quarter of a second; `specification` takes 20 ms
    jwt = Lazy("muisti.service.auth.tokens")
    specification = Lazy("muisti.service.openapi.specification")


def create_app(
    settings: Settings,
    *,
    engine: Engine | None = None,
    clock: Clock | None = None,
    own_host: str | None = None,
    trusted: Access | None = None,
    warm: bool = False,
    upkeep: Sequence[Sweep] = (),
    workers: Path | None = None,
    owner_key: str | None = None,
) -> Litestar:
    """Create the ASGI application. A given `engine` stays open when the application ends.

    `clock` gives microseconds since 1970, UTC; None is the system's. `own_host` is the only name, beside those of this
    machine, by which requests may call a server without keys; None allows any name. `trusted` is the caller of every
    request, who has the database anyway and needs no key. `warm`: load the model before the first request. `upkeep` are
    the maintenance tasks to run in the background. `workers` is a folder that the worker processes of one port share;
    None for a single process. `owner_key` is the secret of commands on this machine.
    """

    @asynccontextmanager
    async def running(app: Litestar) -> AsyncGenerator[None]:
        running_engine = engine or await to_thread.run_sync(open_engine, settings, clock)
        if warm:
            await to_thread.run_sync(running_engine.warm)
        tracing = envelope.tracing = tracing_of(settings)
        engines = await to_thread.run_sync(Engines, running_engine, settings)
        backend = app.state.backend = express.backend = placing.backend = Backend(
            running_engine, settings, meters=meters, tracing=tracing, admission=app.state.admission, engines=engines
        )
        scrape = app.state.scrape = Scrape(backend, settings.index_memory)
        backend.latencies = scrape.summary
        keyring = app.state.keyring = gate.keyring = Keyring(
            backend, settings.admin_key, asks=asks(settings), owner_key=owner_key
        )
        app.state.agents = Agents(backend)
        app.state.seq_watcher = SeqWatcher(backend, settings.stream_limit)
        tokens = None if settings.jwks is None else jwt.tokens_of(settings)
        gate.tokens = tokens
        beat = asyncio.create_task(meters.beat())
        fleet = Fleet(backend, upkeep, settings)
        await to_thread.run_sync(fleet.start)
        try:
            async with mcp.running(backend), scrape.among(workers):
                yield
        finally:
            beat.cancel()
            running_engine.stop_embedding()
            await to_thread.run_sync(fleet.close)
            await keyring.close()
            if tokens is not None:
                await tokens.close()
            await to_thread.run_sync(backend.close)
            await to_thread.run_sync(engines.close)
            if tracing is not None:
                await to_thread.run_sync(tracing.close)
            if engine is None:
                await to_thread.run_sync(running_engine.close)

    def backend() -> Backend:
        return app.state.backend

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

    groups, citation = groups_in(settings.mcp_tools), citation_of(settings)
    mcp = McpApp(settings.body_limit, groups, citation)
    app = Application(
        route_handlers=[mcp.route()],
        lifespan=[running],
        dependencies={"backend": Provide(backend, sync_to_thread=False)},
        before_request=checked,  # and not a guard, for which Litestar copies the handler each time
        request_class=Request,
        request_max_body_size=settings.body_limit,
        exception_handlers=errors.HANDLERS,
        openapi_config=None,
        logging_config=None,
    )
    app.mount(routes())
    allowed = methods(app)
    app.state.settings = settings
    meters = Meters()
    app.state.admission = Admission(settings.queue_seconds, settings.queue_limit, refusing=meters.turned_away)
    # The document takes a tenth of a second to make, so it is made on the first request for it.
    app.state.openapi = cache(lambda: msgspec.json.encode(specification.document(app)))
    resource = app.state.resource = resource_of(settings)
    limits = Limits(settings.rate_limit, settings.concurrency_limit)
    express = FastPath(app.asgi_handler, settings.body_limit)
    placing = Placing(express)
    gate = AuthMiddleware(
        placing,
        limits,
        public_paths(app),
        own_host=own_host,
        hosts=names_in(settings.hosts),
        trusted=trusted,
        needed=needs_keys(settings),
        resource=resource,
        metrics_key=settings.metrics_key,
    )
    app.state.gate = gate
    console = console_of(app, settings) if trusted is None else None
    cards = Cards(settings.public_url, keys=needs_keys(settings) or asks(settings)) if settings.server_card else None
    envelope = RequestMiddleware(Entrance(gate, WebPages(names_in(settings.origins), own=ROOT), console, cards), meters)
    app.asgi_handler = envelope  # outside of Litestar's routing: unmatched paths pass it too
    return app


def console_of(app: Litestar, settings: Settings) -> Console | None:
    """Return the console, if the settings have one. Its pages call the whole application."""
    secure = (settings.public_url or "").startswith("https://")
    if not settings.console:
        return None
    return Console(app, body_limit=settings.body_limit, upload_limit=settings.upload_limit, secure=secure)


def resource_of(settings: Settings) -> Resource | None:
    """Return the resource that tokens are issued for; None when the settings configure no tokens."""
    if settings.jwt_issuer is None:
        return None
    return Resource(settings.jwt_issuer, settings.jwt_scope_prefix or "", settings.public_url)


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


def open_engine(
    settings: Settings,
    clock: Clock | None = None,
    *,
    may_only_read: bool = False,
    notice: Callable[[str], None] | None = None,
) -> Engine:
    """Open the engine that the settings describe; for the last two parameters see `open_database`.

    Raises:
        MuistiError: the database cannot be used.
        InvalidInput: the recogniser of the settings is not installed.
    """
    models, reader, thresholds = models_of(settings), reader_of(settings), thresholds_of(settings)
    database = open_database(location_of(settings), may_only_read=may_only_read, notice=notice)
    with ExitStack() as failed:
        failed.callback(database.close)
        engine = Engine(
            database,
            models.default,
            clock or system_clock,
            others=models.others,
            seconds=models.seconds.encoders,
            cache_bytes=settings.embedding_cache,
            index_memory=settings.index_memory,
            retention_hours=settings.request_retention_hours,
            receipt_days=settings.receipt_days,
            parsers=settings.parsers,
            task_queue=settings.task_queue,
            graph_reader=reader,
            calibration=thresholds,
            second_query=settings.second_query,
            second_query_seconds=settings.second_query_ms / 1000,
            quota=Quota(memories=settings.quota_memories or None, bytes=settings.quota_bytes),
            policy=Policy(
                secrets=settings.secrets,
                personal_data=settings.personal_data,
                echoes=settings.echoes,
                graph=settings.graph,
                second_model=settings.second_model,
                history_days=settings.retention_days,
                recency_weight=settings.recency_weight,
                recency_half_life_days=settings.recency_half_life_days,
            ),
        )
        failed.pop_all()
    return engine
