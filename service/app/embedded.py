"""The application in this process, as what carries the requests of the SDK: for asyncio, and for threads.

Requests go to the application as ASGI, without a network and without httpx. Caller, limits, policy and validation are
therefore those of a server.
"""

import asyncio
import json
import logging
import threading
import weakref
from collections.abc import AsyncGenerator, Awaitable, Callable, Coroutine, Generator, Mapping
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, TypeVar, cast
from urllib.parse import unquote, urlencode

import msgspec

from muisti.client import Call, Reply, Unreachable, refused
from muisti.core.model.errors import MuistiError
from muisti.core.model.location import is_remote
from muisti.service.app.app import Front, open_engine
from muisti.service.auth.access import OWNER
from muisti.service.background.upkeep import embedding_sweeps
from muisti.service.runtime.engines import Engines
from muisti.service.schemas.errors import problem_of
from muisti.service.settings import Settings, SettingsError, load

MEMORY = ":memory:"
CLOSED = "the memory is closed"
_LOG = logging.getLogger("muisti.embedded")
T = TypeVar("T")

Part = Mapping[str, Any]  # a message of ASGI


class Embedded:
    """The application on one database, for one event loop. The first request opens the database.

    A file that another process uses too is shared with it, as commands and servers share theirs.
    """

    def __init__(self, path: str | Path, space: str, settings: Mapping[str, Any]) -> None:
        self._temporary = TemporaryDirectory(prefix="muisti-", ignore_cleanup_errors=True) if path == MEMORY else None
        place = Path(self._temporary.name, "memory.db") if self._temporary else path
        self._settings, self._space = settings_for(place, settings), space
        self._running = set[asyncio.Task[None]]()
        self._sent = set[asyncio.Future[None]]()  # one for each request that is not a stream
        self._stop = asyncio.Event()
        self._life: asyncio.Task[None] | None = None
        self._ready: asyncio.Future[Front]
        self.closed = False

    async def start(self) -> Front:
        """Open the database, creating what is missing, unless that is done. Return the application.

        Raises:
            muisti.client.MuistiError: the database cannot be used.
        """
        if self.closed:
            raise Unreachable(CLOSED)
        if self._life is None:
            self._ready = asyncio.get_running_loop().create_future()
            self._life = asyncio.create_task(self._live(self._ready))
        await asyncio.wait((self._life, self._ready), return_when=asyncio.FIRST_COMPLETED)
        if not self._ready.done():
            self.closed = True
            try:
                await self._life
            except MuistiError as error:
                found = problem_of(error)
                raise refused(found.status, msgspec.to_builtins(found)) from error
        return await self._ready

    async def _live(self, ready: "asyncio.Future[Front]") -> None:
        """Run the application until it is closed; Litestar's resources must be closed by the task that opened them."""
        settings = self._settings
        try:
            engine = await asyncio.to_thread(open_engine, settings, may_only_read=True, notice=_waits)
            try:
                app = Front(settings, engine=engine, trusted=OWNER, upkeep=embedding_sweeps(settings))
                async with app.running():
                    await asyncio.to_thread(_ensure, app.state.backend.engines, self._space)
                    ready.set_result(app)
                    await self._stop.wait()
            finally:
                await asyncio.to_thread(engine.close)
        finally:
            if self._temporary is not None:
                self._temporary.cleanup()

    async def send(self, request: Call) -> Reply:
        answer = _Answer()
        ended = asyncio.get_running_loop().create_future()
        self._sent.add(ended)
        try:
            await self._call(request, answer.taking)
        finally:
            self._sent.discard(ended)
            ended.set_result(None)
        return answer.reply()

    async def pieces(self, request: Call) -> AsyncGenerator[bytes, None]:
        parts: asyncio.Queue[Part | None] = asyncio.Queue(1)
        task = asyncio.create_task(self._streamed(request, parts))
        self._running.add(task)
        answer = _Answer()
        try:
            while (part := await parts.get()) is not None:
                if part["type"] == "http.response.start" or answer.status >= 400:
                    answer.take(part)
                elif body := part.get("body"):
                    yield body
            await asyncio.wait([task])
            if not task.cancelled():  # by closing, which ends the answer
                task.result()
            if answer.status >= 400:
                answer.reply()
        finally:
            self._running.discard(task)
            task.cancel()
            await asyncio.wait([task])

    async def _streamed(self, request: Call, parts: "asyncio.Queue[Part | None]") -> None:
        """Put the messages of an answer into a queue, one at a time, and None behind the last."""
        try:
            await self._call(request, parts.put)
            await parts.put(None)
        except BaseException:  # also a cancellation: whoever reads the queue must see its end; the error goes on
            while not parts.empty():
                parts.get_nowait()
            parts.put_nowait(None)
            raise

    async def _call(self, request: Call, send: Callable[[Part], Awaitable[None]]) -> None:
        app = await self.start()
        scope, body = _asked(request)
        ended = asyncio.Event()

        async def sending(part: Part) -> None:
            await send(part)
            if part["type"] == "http.response.body" and not part.get("more_body"):
                ended.set()

        # Litestar's types of ASGI are closed dictionaries.
        await app(cast(Any, scope), cast(Any, _receiver(body, ended)), cast(Any, sending))

    async def aclose(self) -> None:
        """Close the database, after requests under way; streams end. A second call waits for the first."""
        self.closed = True
        for task in [*self._running]:
            task.cancel()
        if self._sent:
            await asyncio.wait([*self._sent])
        self._stop.set()
        if self._life is not None:
            await asyncio.shield(self._life)


class EmbeddedThread:
    """The application on an event loop in a thread of its own, for callers without one. Threads may share it."""

    def __init__(self, path: str | Path, space: str, settings: Mapping[str, Any]) -> None:
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, name="muisti-embedded", daemon=True)
        self._thread.start()
        self._closing = threading.Lock()
        try:
            self._app = self._run(_started(path, space, settings))
        except BaseException:  # also Ctrl-C: the thread of the loop ends with the failed start; the error goes on
            self._end()
            raise
        _OPEN.add(self)

    @property
    def closed(self) -> bool:
        return self._app.closed

    def start(self) -> None:
        """Do nothing: the database is open."""

    def send(self, request: Call) -> Reply:
        return self._run(self._app.send(request))

    def pieces(self, request: Call) -> Generator[bytes, None, None]:
        stream = self._app.pieces(request)
        try:
            while (piece := self._run(_next(stream))) is not None:
                yield piece
        finally:
            if self._thread.is_alive():
                self._run(stream.aclose())

    def close(self) -> None:
        with self._closing:
            if self._thread.is_alive():
                _OPEN.discard(self)
                self._run(self._app.aclose())
                self._end()

    def _run(self, work: Coroutine[Any, Any, T]) -> T:
        """Run work on the loop, and wait for it."""
        if not self._thread.is_alive():
            work.close()
            raise Unreachable(CLOSED)
        future = asyncio.run_coroutine_threadsafe(work, self._loop)
        try:
            return future.result()
        except BaseException:  # also Ctrl-C: the work on the loop is cancelled; the error goes on
            future.cancel()
            raise

    def _end(self) -> None:
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()


_OPEN = weakref.WeakSet[EmbeddedThread]()  # those that the end of the program closes


def _close_all() -> None:
    """Close what the program left open."""
    for app in [*_OPEN]:
        app.close()


# Functions of `atexit` run when threads can no longer be started, which closing needs. Those of `threading` run before,
# the last registered first: concurrent.futures, imported by now, ends its threads after this.
threading._register_atexit(_close_all)  # pyright: ignore[reportAttributeAccessIssue]


async def _started(path: str | Path, space: str, settings: Mapping[str, Any]) -> Embedded:
    app = Embedded(path, space, settings)
    await app.start()
    return app


async def _next(stream: AsyncGenerator[bytes, None]) -> bytes | None:
    return await anext(stream, None)


def settings_for(path: str | Path, given: Mapping[str, Any]) -> Settings:
    """Return the settings of a database: those given, and otherwise the defaults. The environment is not read.

    Raises:
        ValueError: there is no such setting, or it cannot have the value.
    """
    url = str(path) if is_remote(str(path)) else f"file:{Path(path).expanduser().absolute()}"
    try:
        return load({}, None, {"database_url": url, **given})
    except SettingsError as error:
        raise ValueError(str(error)) from error


def _ensure(engines: Engines, space: str) -> None:
    """Create the space if it is missing and can be created."""
    if not any(one.name == space for one, _ in engines.spaces()):
        engines.ensure(space)


def _waits(holder: str) -> None:
    _LOG.warning("waiting for the database", extra={"holder": holder})


def _asked(request: Call) -> tuple[dict[str, Any], bytes]:
    """Return a request as a scope of ASGI and a body."""
    body, kind = request.content or b"", {}
    if request.body is not None:
        body, kind = msgspec.json.encode(request.body), {"Content-Type": "application/json"}
    headers = {"Host": "localhost", "Content-Length": str(len(body)), **kind, **request.headers}
    scope = {
        "type": "http",
        "asgi": {"version": "3.0"},
        "http_version": "1.1",
        "method": request.method,
        "scheme": "http",
        "path": unquote(request.path),
        "raw_path": request.path.encode(),
        "root_path": "",
        "query_string": urlencode(request.params).encode(),
        "headers": [(name.lower().encode("latin-1"), value.encode("latin-1")) for name, value in headers.items()],
        "client": None,
        "server": ("localhost", 80),
        "state": {},
    }
    return scope, body


def _receiver(body: bytes, ended: asyncio.Event) -> Callable[[], Awaitable[Part]]:
    """Return what gives the application the body and, after the answer, the end of the connection."""
    parts: list[Part] = [{"type": "http.request", "body": body, "more_body": False}]

    async def receive() -> Part:
        if parts:
            return parts.pop()
        await ended.wait()  # which a stream waits for, too
        return {"type": "http.disconnect"}

    return receive


class _Answer:
    """An answer in the making."""

    def __init__(self) -> None:
        self.status, self._headers, self._body = 0, dict[str, str](), bytearray()

    async def taking(self, part: Part) -> None:
        self.take(part)

    def take(self, part: Part) -> None:
        if part["type"] == "http.response.start":
            self.status = part["status"]
            self._headers = {name.decode("latin-1").title(): value.decode("latin-1") for name, value in part["headers"]}
        else:
            self._body += part.get("body", b"")

    def reply(self) -> Reply:
        """Return the answer. Raises the refusal that it is."""
        body = bytes(self._body)
        if self.status < 300:
            return Reply(body, self._headers)
        raise refused(self.status, json.loads(body), body)
