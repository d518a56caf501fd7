"""The application in this process, behind the same client as a server.

asyncio runs only while a request is answered. The lifespan lives in a task of its own, because what Litestar opens in
it must be closed by the task that opened it.
"""

import asyncio
import logging
import sys
from contextlib import ExitStack
from typing import Any, cast

import httpx
import structlog
from litestar import Litestar

from service.app import create_app
from service.client import Client, through
from service.settings import Settings


class InProcess(httpx.BaseTransport):
    """Requests to the application without a network. Not thread-safe."""

    def __init__(self, settings: Settings) -> None:
        self._logging = structlog.get_config()
        structlog.configure(**_errors_only())  # first: the application binds loggers when it is made
        self._runner = asyncio.Runner()
        with ExitStack() as undo:
            undo.callback(self._let_go)
            app = create_app(settings, trusted=True)
            # The two libraries spell the types of ASGI differently.
            self._asgi = httpx.ASGITransport(app=cast(Any, app), raise_app_exceptions=False)
            self._stop, self._life = self._runner.run(self._start(app))
            undo.pop_all()

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        return self._runner.run(self._answer(request))

    def close(self) -> None:
        try:
            self._runner.run(self._end())
        finally:
            self._let_go()

    def _let_go(self) -> None:
        self._runner.close()
        structlog.configure(**self._logging)

    async def _start(self, app: Litestar) -> tuple[asyncio.Event, asyncio.Task[None]]:
        ready, stop = asyncio.Event(), asyncio.Event()

        async def live() -> None:
            async with app.lifespan():
                ready.set()
                await stop.wait()

        life, waiting = asyncio.create_task(live()), asyncio.create_task(ready.wait())
        await asyncio.wait((life, waiting), return_when=asyncio.FIRST_COMPLETED)
        if life.done():
            waiting.cancel()
            await life  # raises what kept the application from starting
        return stop, life

    async def _answer(self, request: httpx.Request) -> httpx.Response:
        response = await self._asgi.handle_async_request(request)
        assert isinstance(response.stream, httpx.AsyncByteStream)
        content = b"".join([part async for part in response.stream])
        return httpx.Response(response.status_code, headers=response.headers, content=content)

    async def _end(self) -> None:
        self._stop.set()
        await self._life


def start(settings: Settings) -> Client:
    """The application on the database of `settings`.

    Raises:
        MuistiError: the database cannot be used.
    """
    return through(InProcess(settings))


def _errors_only() -> dict[str, Any]:
    """A command is no server: it does not log its requests, and what goes wrong in them goes to stderr in words."""
    return {
        "processors": [structlog.processors.add_log_level, structlog.dev.ConsoleRenderer(colors=False)],
        "wrapper_class": structlog.make_filtering_bound_logger(logging.ERROR),
        "logger_factory": structlog.PrintLoggerFactory(sys.stderr),
    }
