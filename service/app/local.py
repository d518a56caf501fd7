"""The application in this process, used through the same client as a server.

asyncio runs only while a request is answered. The lifespan runs in a separate task, because Litestar's resources must
be closed by the task that opened them.
"""

import asyncio
from contextlib import ExitStack
from typing import Any, cast

import click
import httpx

from muisti.core.engine import Engine
from muisti.service.app.app import Front, open_engine
from muisti.service.auth.access import OWNER, Access
from muisti.service.background.upkeep import embedding_sweeps
from muisti.service.observability.logs import errors_only
from muisti.service.settings import Settings
from muisti.service.terminal.client import Client, through


class InProcess(httpx.BaseTransport):
    """Transport that calls the application without a network. Not thread-safe."""

    def __init__(self, settings: Settings, access: Access, ensured: str | None) -> None:
        """Start the application. `ensured`: a space to create if missing, for a caller that may add but create none."""
        with ExitStack() as undo:
            undo.enter_context(errors_only())  # a command logs errors only
            self._runner = undo.enter_context(asyncio.Runner())
            engine = self._engine = undo.enter_context(open_here(settings))
            app = Front(settings, engine=engine, trusted=access, upkeep=embedding_sweeps(settings))
            # The two libraries spell the types of ASGI differently.
            self._asgi = httpx.ASGITransport(app=cast(Any, app), raise_app_exceptions=False)
            self._stop, self._life = self._runner.run(self._start(app))
            if ensured is not None and access.may("append"):
                app.state.backend.engines.ensure(ensured)
            self._undo = undo.pop_all()

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        request.read()  # pieces of a body; the application takes them as a whole here
        return self._runner.run(self._answer(request))

    def close(self) -> None:
        self._engine.stop_embedding()
        with self._undo:
            self._runner.run(self._end())

    async def _start(self, app: Front) -> tuple[asyncio.Event, asyncio.Task[None]]:
        ready, stop = asyncio.Event(), asyncio.Event()

        async def live() -> None:
            async with app.running():
                ready.set()
                await stop.wait()

        life, waiting = asyncio.create_task(live()), asyncio.create_task(ready.wait())
        await asyncio.wait((life, waiting), return_when=asyncio.FIRST_COMPLETED)
        if life.done():
            waiting.cancel()
            await life  # raises the error that prevented the start
        return stop, life

    async def _answer(self, request: httpx.Request) -> httpx.Response:
        response = await self._asgi.handle_async_request(request)
        assert isinstance(response.stream, httpx.AsyncByteStream)
        content = b"".join([part async for part in response.stream])
        return httpx.Response(response.status_code, headers=response.headers, content=content)

    async def _end(self) -> None:
        self._stop.set()
        await self._life


def open_here(settings: Settings) -> Engine:
    """Open the engine of a command on this machine: every command opens its database here.

    A file that cannot be written is opened for reading. If a process holds its lock, stderr names it after a second.

    Raises:
        MuistiError: the database cannot be used.
    """
    return open_engine(settings, may_only_read=True, notice=_waits)


def _waits(holder: str) -> None:
    click.echo(f"Waiting for the database (locked by {holder}) …", err=True)


def start(settings: Settings, access: Access = OWNER, ensured: str | None = None) -> Client:
    """Start the application on the database of `settings`, and return a client of it for one caller.

    Raises:
        MuistiError: the database cannot be used.
    """
    return through(InProcess(settings, access, ensured))
