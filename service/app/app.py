"""The application: it connects its parts, and opens and closes them in order."""

import asyncio
import gc
from collections.abc import AsyncGenerator, Awaitable, Callable, Sequence
from contextlib import ExitStack, asynccontextmanager, suppress
from pathlib import Path
from traceback import format_exc
from typing import TYPE_CHECKING, Any, cast

from anyio import create_task_group, to_thread

from muisti.core.databases import open_database
from muisti.core.engine import Engine
from muisti.core.model.outcomes import Quota
from muisti.core.model.spaces import Policy
from muisti.core.model.times import Clock, system_clock
from muisti.core.support.lazy import Lazy
from muisti.service.app.entrance import PROBES, Entrance, FastPath, may_be_fast
from muisti.service.app.placing import Placing
from muisti.service.app.state import State
from muisti.service.auth.access import Access
from muisti.service.auth.browser import WebPages
from muisti.service.auth.challenge import Resource
from muisti.service.auth.keyring import Keyring
from muisti.service.auth.middleware import AuthMiddleware, Limits
from muisti.service.background.fleet import Fleet
from muisti.service.background.upkeep import Sweep
from muisti.service.console import ROOT
from muisti.service.http.middleware import RequestMiddleware
from muisti.service.mcp.cards import Cards
from muisti.service.metrics.scrape import Scrape
from muisti.service.observability.meters import Meters
from muisti.service.observability.tracing import tracing_of
from muisti.service.pages.mount import Console
from muisti.service.runtime.admission import Admission
from muisti.service.runtime.databases import location_of
from muisti.service.runtime.engines import Engines
from muisti.service.runtime.models import models_of, reader_of, thresholds_of
from muisti.service.runtime.workers import Backend
from muisti.service.schemas.asgi import ASGIApp, Receive, Scope, Send
from muisti.service.settings import Settings, asks, names_in, needs_keys

if TYPE_CHECKING:
    from litestar import Litestar

    from muisti.service.app import rest
    from muisti.service.auth import tokens as jwt
else:  # only tokens need `jwt`, which takes a quarter of a second; `rest` is a third of a start
    jwt = Lazy("muisti.service.auth.tokens")
    rest = Lazy("muisti.service.app.rest")

SOON_SECONDS = 1.0  # after the start, when the routes are loaded, if no request needed them before


class Front:
    """The application as servers see it. It answers the fast path; what else there is loads when it is first needed."""

    def __init__(
        self,
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
    ) -> None:
        """A given `engine` stays open when the application ends.

        `clock` gives microseconds since 1970, UTC; None is the system's. `own_host` is the only name, beside those of
        this machine, by which requests may call a server without keys; None allows any name. `trusted` is the caller of
        every request, who has the database anyway and needs no key. `warm`: load the model before the first request,
        and all else soon after. `upkeep` are the maintenance tasks to run in the background. `workers` is a folder that
        the worker processes of one port share; None for a single process. `owner_key` is the secret of commands on this
        machine.
        """
        self._engine, self._clock, self._warm, self._upkeep = engine, clock, warm, upkeep
        self._workers, self._owner_key = workers, owner_key
        self._meters = meters = Meters()
        admission = Admission(settings.queue_seconds, settings.queue_limit, refusing=meters.turned_away)
        resource = resource_of(settings)
        state = self.state = State(settings, admission, resource)
        state.gate = AuthMiddleware(
            Placing(FastPath(self._routed, settings.body_limit, state), state),
            Limits(settings.rate_limit, settings.concurrency_limit),
            [*PROBES],
            own_host=own_host,
            hosts=names_in(settings.hosts),
            trusted=trusted,
            needed=needs_keys(settings),
            resource=resource,
            metrics_key=settings.metrics_key,
        )
        console = console_of(self, settings) if trusted is None else None
        keys = needs_keys(settings) or asks(settings)
        cards = Cards(settings.public_url, keys=keys) if settings.server_card else None
        self._entrance = Entrance(state.gate, WebPages(names_in(settings.origins), own=ROOT), console, cards)
        self._envelope = RequestMiddleware(self._entered, meters)
        self._loading = asyncio.Lock()
        self._app: Litestar | None = None
        self._routes: ASGIApp | None = None

    @property
    def is_whole(self) -> bool:
        """Tell whether all routes are loaded."""
        return self._app is not None

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if cast(str, scope["type"]) == "lifespan":
            await self._live(cast(Any, receive), cast(Any, send))
        else:
            await self._envelope(scope, receive, send)

    async def _live(self, receive: Callable[[], Awaitable[Any]], send: Callable[[Any], Awaitable[None]]) -> None:
        await receive()
        began = False
        try:
            async with self.running():
                await send({"type": "lifespan.startup.complete"})
                began = True
                await receive()
        except BaseException:
            await send({"type": f"lifespan.{'shutdown' if began else 'startup'}.failed", "message": format_exc()})
            raise
        await send({"type": "lifespan.shutdown.complete"})

    async def _entered(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Which paths need no key is known of the fast path's; for others the routes must be there."""
        if self._app is None and not may_be_fast(scope["path"]):
            await self._loaded()
        await self._entrance(scope, receive, send)

    async def _routed(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer by the routes."""
        routes = self._routes or await self._loaded()
        scope["app"] = scope["litestar_app"] = self.whole()
        scope.setdefault("state", {})
        await routes(scope, receive, send)

    async def _loaded(self) -> ASGIApp:
        """Load the routes once, on a thread, because other requests must not wait for it."""
        async with self._loading:
            if self._routes is None:
                await to_thread.run_sync(self.whole)
                if gc.get_freeze_count():  # the server froze what it had loaded; this stays as well
                    gc.freeze()
        assert self._routes is not None
        return self._routes

    async def _load_soon(self) -> None:
        await asyncio.sleep(SOON_SECONDS)
        with suppress(Exception):  # the first request that needs the routes says what is wrong with them
            await self._loaded()

    def whole(self) -> "Litestar":
        """Return the application with all of its routes, which are loaded when this is first called."""
        if self._app is None:
            app = rest.application(self.state, self.running)
            self.state.gate.open(rest.public_paths(app))
            routes, app.asgi_handler = app.asgi_handler, self._envelope  # unmatched paths pass that middleware too
            if hasattr(self.state, "backend"):
                rest.begin(self.state)
            self._app, self._routes = app, routes
        return self._app

    @asynccontextmanager
    async def running(self) -> AsyncGenerator[None]:
        """Open what was not given, and answer requests inside the context."""
        state, settings, meters = self.state, self.state.settings, self._meters
        engine = self._engine or await to_thread.run_sync(open_engine, settings, self._clock)
        if self._warm:
            await to_thread.run_sync(engine.warm)
        tracing = self._envelope.tracing = tracing_of(settings)
        engines = await to_thread.run_sync(Engines, engine, settings)
        backend = state.backend = Backend(
            engine, settings, meters=meters, tracing=tracing, admission=state.admission, engines=engines
        )
        scrape = state.scrape = Scrape(backend, settings.index_memory)
        backend.latencies = scrape.summary
        keyring = state.keyring = state.gate.keyring = Keyring(
            backend, settings.admin_key, asks=asks(settings), owner_key=self._owner_key
        )
        if self._app is not None:
            rest.begin(state)
        tokens = state.gate.tokens = None if settings.jwks is None else jwt.tokens_of(settings)
        beat = asyncio.create_task(meters.beat())
        fleet = Fleet(backend, self._upkeep, settings)
        await to_thread.run_sync(fleet.start)
        try:
            async with create_task_group() as state.tasks, scrape.among(self._workers):
                if self._warm:
                    state.tasks.start_soon(self._load_soon)
                yield
                state.tasks.cancel_scope.cancel()
        finally:
            beat.cancel()
            engine.stop_embedding()
            await to_thread.run_sync(fleet.close)
            await keyring.close()
            if tokens is not None:
                await tokens.close()
            await to_thread.run_sync(backend.close)
            await to_thread.run_sync(engines.close)
            if tracing is not None:
                await to_thread.run_sync(tracing.close)
            if self._engine is None:
                await to_thread.run_sync(engine.close)


def create_app(settings: Settings, **given: Any) -> "Litestar":
    """Create the application with all of its routes; `given` is as `Front` takes it."""
    return Front(settings, **given).whole()


def console_of(app: Front, settings: Settings) -> Console | None:
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
