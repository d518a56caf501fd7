"""The application: what it is made of, and in which order that opens and closes."""

import time
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import litestar
import msgspec
from anyio import to_thread
from litestar import Litestar
from litestar.di import Provide

from core.calibration import FILE as EVIDENCE_FILE
from core.calibration import Calibration, Entry
from core.calibration import read as read_calibration
from core.embed import SHIPPED, StaticEncoder
from core.engine import Clock, Engine
from service import errors
from service.databases import open_database
from service.decode import Request
from service.envelope import Envelope
from service.express import Express
from service.freshness import caught_up
from service.openapi import document
from service.parameters import KnownParameters
from service.routes import routes
from service.settings import Settings
from service.workers import Backend


def create_app(
    settings: Settings,
    *,
    engine: Engine | None = None,
    clock: Clock | None = None,
    own_host: str | None = None,
    warm: bool = False,
) -> Litestar:
    """The ASGI application. An engine that is given stays open when the application ends.

    `clock` gives microseconds since 1970, UTC; None is the system's. `own_host` is the only name, beside those of this
    machine, that requests may call the server by; None when any will do. `warm`: take no request before the first
    search would be as fast as the next.
    """

    @asynccontextmanager
    async def running(app: Litestar) -> AsyncGenerator[None]:
        running_engine = engine or await to_thread.run_sync(open_engine, settings, clock)
        if warm:
            await to_thread.run_sync(running_engine.warm)
        backend = app.state.backend = express.backend = Backend(running_engine, settings)
        try:
            yield
        finally:
            await to_thread.run_sync(backend.close)
            if engine is None:
                await to_thread.run_sync(running_engine.close)

    def backend() -> Backend:
        return app.state.backend

    known_parameters = KnownParameters()

    async def checked(request: litestar.Request[Any, Any, Any]) -> None:
        known_parameters.check(request)
        await caught_up(request)

    app = Litestar(
        route_handlers=routes(),
        lifespan=[running],
        dependencies={"backend": Provide(backend, sync_to_thread=False)},
        before_request=checked,  # and not a guard, for which Litestar copies the handler each time
        request_class=Request,
        request_max_body_size=settings.body_limit,
        exception_handlers=errors.HANDLERS,
        openapi_config=None,
        logging_config=None,
    )
    app.state.settings = settings
    app.state.openapi_document = document(app)
    app.state.openapi = msgspec.json.encode(app.state.openapi_document)
    express = Express(app.asgi_handler, settings.body_limit)
    app.asgi_handler = Envelope(express, own_host)  # outside of Litestar's routing: unmatched paths pass it too
    return app


def open_engine(settings: Settings, clock: Clock | None = None) -> Engine:
    """The engine that the settings describe.

    Raises:
        MuistiError: the database cannot be used.
    """
    encoder = StaticEncoder(settings.model) if settings.embeddings else None
    return Engine(
        open_database(settings),
        encoder,
        clock or system_clock,
        index_memory=settings.index_memory,
        retention_hours=settings.request_retention_hours,
        calibration=Calibration(calibrated(settings)),
    )


def calibrated(settings: Settings) -> list[Entry]:
    """The thresholds of evidence that come with the model, and after them those of the operator's file.

    Raises:
        InvalidInput: a file cannot be read.
    """
    beside = (Path(settings.model) if settings.model else SHIPPED) / EVIDENCE_FILE
    files = [beside] if beside.is_file() else []
    if settings.calibration is not None:
        files.append(Path(settings.calibration))
    return [entry for file in files for entry in read_calibration(file)]


def system_clock() -> int:
    """Microseconds since 1970, UTC."""
    return time.time_ns() // 1000
