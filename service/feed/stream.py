"""Streams of server-sent events: changes and reads of a space as they happen, and the progress of a task.

The stream of changes asks for the next page when the last one has been sent, so nothing piles up for a slow reader. A
reader that stops reading is disconnected (`service.app.protocol`). It reconnects with `Last-Event-ID` and has lost
nothing.
"""

import asyncio
from collections import Counter
from collections.abc import AsyncGenerator, Awaitable, Callable, Generator, Iterator
from contextlib import aclosing, contextmanager, suppress
from dataclasses import dataclass
from typing import Any

import msgspec
from litestar.response import Stream
from litestar.response.base import ASGIResponse
from litestar.types import Receive, Scope, Send
from msgspec.structs import replace

from muisti.core.engine import Engine
from muisti.core.model.errors import Busy, MuistiError, NotFound, SpaceMoving
from muisti.core.model.outcomes import Events
from muisti.core.model.tasks import Task
from muisti.core.model.values import Seq
from muisti.core.query.points import Wanted
from muisti.core.support.waiting import Urgent
from muisti.core.views.read import Read
from muisti.service.observability.read_log import ReadLog
from muisti.service.runtime.placing import again
from muisti.service.runtime.workers import Backend
from muisti.service.schemas.changes import ChangeReply
from muisti.service.schemas.errors import HttpError
from muisti.service.schemas.tasks import TaskReply

EVERY = 0.5  # seconds between looks for what other processes have written


class SeqWatcher:
    """Watches spaces for streams that wait for changes. Belongs to one event loop and is not thread-safe."""

    def __init__(self, backend: Backend, places: int) -> None:
        """`places`: how many streams may watch at the same time; one key may have a quarter of them."""
        self._backend = backend
        self._places = places
        self._watchers: Counter[str] = Counter()  # by space
        self._callers: Counter[str] = Counter()  # by key
        self._at: dict[str, Seq | None] = {}  # None: there is no such space any more
        self._moved: dict[str, asyncio.Event] = {}
        self._looking: asyncio.Task[None] | None = None

    @property
    def watchers(self) -> int:
        return self._watchers.total()

    @contextmanager
    def watching(self, space: str, key_id: str | None) -> Generator[None]:
        """Count a stream as watching a space until the context ends.

        Raises:
            Busy: too many streams watch, in all or with this key.
        """
        self.check(key_id)
        self._enter(space, key_id)
        try:
            yield
        finally:
            self._leave(space, key_id)

    def check(self, key_id: str | None) -> None:
        """Raise `Busy` when no further stream may watch, or none with this key."""
        if self.watchers >= self._places:
            raise Busy(f"{self._places} streams are open; try again later")
        if key_id is not None and self._callers[key_id] >= max(1, self._places // 4):
            raise Busy(f"this key has {self._callers[key_id]} streams open, which is its limit")

    async def past(self, space: str, at: Seq, seconds: float) -> bool:
        """Wait up to `seconds` for a watched space to move past `at`, or to be gone. Return whether it has."""
        if self._is_past(space, at):
            return True
        moved = self._moved.setdefault(space, asyncio.Event())
        with Urgent.waiting(), suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                await moved.wait()
        return self._is_past(space, at)

    def _is_past(self, space: str, at: Seq) -> bool:
        if space not in self._at:
            return False
        now = self._at[space]
        return now is None or now.epoch != at.epoch or now.number > at.number

    def _enter(self, space: str, key_id: str | None) -> None:
        if self._looking is None:
            self._looking = asyncio.create_task(self._look())
        self._watchers[space] += 1
        if key_id is not None:
            self._callers[key_id] += 1

    def _leave(self, space: str, key_id: str | None) -> None:
        self._watchers -= Counter([space])  # drops what falls to 0
        if key_id is not None:
            self._callers -= Counter([key_id])
        if space not in self._watchers:
            self._at.pop(space, None)
            self._moved.pop(space, None)
        if not self._watchers and self._looking is not None:
            self._looking.cancel()
            self._looking = None

    async def _look(self) -> None:
        engines, listening = self._backend.engines, list[Engine]()
        loop = asyncio.get_running_loop()

        def rung(space: str, at: Seq) -> None:
            if space in self._watchers:
                with suppress(RuntimeError):  # the loop is closed: nobody waits
                    loop.call_soon_threadsafe(self._note, space, at)

        try:
            while True:
                by_engine: dict[int, list[str]] = {}
                for name in self._watchers:
                    by_engine.setdefault(engines.directory.map.of(name), []).append(name)
                for names in by_engine.values():
                    with suppress(MuistiError):  # a stream that reads next meets the same error, and reports it
                        engine = engines.of(names[0])
                        if engine not in listening:
                            engine.notifier.listen(rung)
                            listening.append(engine)
                        found = await self._backend.store(engine.spaces.standing, names)
                        for name in names:
                            self._note(name, found.get(name))
                await asyncio.sleep(EVERY)
        finally:
            for engine in listening:
                engine.notifier.ignore(rung)

    def _note(self, space: str, at: Seq | None) -> None:
        known = self._at.get(space)
        late = at is not None and known is not None and at.epoch == known.epoch and at.number <= known.number
        if space in self._watchers and not late:
            self._at[space] = at
            if (moved := self._moved.pop(space, None)) is not None:
                moved.set()


MEDIA_TYPE = "text/event-stream"
LOOK = 1.0  # seconds after which a waiting stream checks whether the server is about to stop
CHECK = 5.0  # seconds between two checks of the key while no event is sent
HEARTBEAT = 15.0  # seconds without an event, after which a comment is sent
RETRY_MS = 1_000  # after which a disconnected client should reconnect


@dataclass(frozen=True)
class Source:
    """The source of a stream: the wanted changes of a space, until `allowed` raises because the key has ended."""

    backend: Backend
    seq_watcher: SeqWatcher
    view: Callable[[], Read]  # of the database that has the space now
    space: str
    wanted: Wanted
    allowed: Callable[[], Awaitable[None]]
    key_id: str | None

    async def page(self, since: Seq) -> Events:
        """Read the events after a point.

        Raises:
            NotFound, EpochGone, InvalidInput, NotYetReplicated.
        """
        wanted = replace(self.wanted, since=since)
        try:
            return await self.backend.store(self.view().changes, self.space, wanted)
        except (NotFound, SpaceMoving) as error:  # it may have moved
            if not await self.backend.vital(again, self.backend.engines, self.space, error.code):
                raise
        return await self.backend.store(self.view().changes, self.space, wanted)

    async def blocks(self, page: Events) -> AsyncGenerator[bytes]:
        """Yield the events of this page and of all that follow; when the stream must end, an event with the reason."""
        with self.seq_watcher.watching(self.space, self.key_id):
            yield b"retry: %d\n\n" % RETRY_MS
            try:
                async with aclosing(self._blocks_of(page)) as blocks:
                    async for block in blocks:
                        yield block
                yield _end("stopping", "the server is stopping; connect again")
            except (MuistiError, HttpError) as error:
                yield _end(error.code, error.detail if isinstance(error, HttpError) else str(error))

    async def _blocks_of(self, page: Events) -> AsyncGenerator[bytes]:
        clock = asyncio.get_running_loop().time
        while not self.backend.stopping:
            for event in page.items:
                yield _block(event.kind, Seq(page.reached.epoch, event.seq), ChangeReply.of(event, self.wanted.show))
            sent_at = checked = clock()
            while not page.more and not self.backend.stopping:
                if await self.seq_watcher.past(self.space, page.reached, LOOK):
                    break
                if clock() - checked >= CHECK:
                    await self.allowed()
                    checked = clock()
                if clock() - sent_at >= HEARTBEAT:
                    yield b"id: %b\n: still here\n\n" % str(page.reached).encode()
                    sent_at = clock()
            await self.allowed()
            page = await self.page(page.reached)


def _block(name: str, at: Seq, data: Any) -> bytes:
    return b"id: %b\nevent: %b\ndata: %b\n\n" % (str(at).encode(), name.encode(), msgspec.json.encode(data))


def _end(code: str, detail: str) -> bytes:
    return b"event: end\ndata: %b\n\n" % msgspec.json.encode({"code": code, "detail": detail})


class EventStream(Stream):
    """A streamed answer. Whatever ends the answer, its generator is closed too."""

    def __init__(self, blocks: AsyncGenerator[bytes], headers: dict[str, str]) -> None:
        super().__init__(blocks, media_type=MEDIA_TYPE, headers={**headers, "X-Accel-Buffering": "no"})
        self._blocks = blocks

    def to_asgi_response(self, *args: Any, **kwargs: Any) -> ASGIResponse:
        made = super().to_asgi_response(*args, **kwargs)
        blocks = self._blocks

        class Closing(ASGIResponse):
            async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
                async with aclosing(blocks):
                    await made(scope, receive, send)

        return Closing()


# A stream of server-sent events: the reads of a space in this process as they happen

READS_LOOK = 0.5  # seconds between looks at the log
OFF = "the read log is off; MUISTI_READ_LOG=ring turns it on"


async def read_blocks(
    log: ReadLog,
    space: str,
    epoch: str,
    after: int,
    allowed: Callable[[], Awaitable[None]],
    stopping: Callable[[], bool],
) -> AsyncGenerator[bytes]:
    """Yield an event for each read of a space after a number, oldest first, until the server stops.

    `allowed` raises when the key of the client has ended. A log that is off ends the stream with the code `off`.
    """
    yield b"retry: %d\n\n" % RETRY_MS
    if log.mode == "off":
        yield _end("off", OFF)
        return
    clock = asyncio.get_running_loop().time
    sent = checked = clock()
    try:
        while not stopping():
            for entry in reversed([*log.entries(space, epoch, after)]):
                after, sent = entry.number, clock()
                yield b"id: %b\nevent: read\ndata: %b\n\n" % (entry.read.id.encode(), msgspec.json.encode(entry.read))
            if clock() - checked >= CHECK:
                await allowed()
                checked = clock()
            if clock() - sent >= HEARTBEAT:
                yield b": still here\n\n"
                sent = clock()
            await asyncio.sleep(READS_LOOK)
        yield _end("stopping", "the server is stopping; connect again")
    except (MuistiError, HttpError) as error:
        yield _end(error.code, error.detail if isinstance(error, HttpError) else str(error))


# A stream of server-sent events: the progress of a task until it ends

FIRST = 0.01  # seconds between the first two looks at a task
TASK_LOOK = 0.5  # seconds between looks at a task that takes long


def pauses() -> Iterator[float]:
    """Yield the seconds between looks at a task: most tasks are short, so each is twice the one before, up to a limit.

    >>> from itertools import islice
    >>> [*islice(pauses(), 8)]
    [0.01, 0.02, 0.04, 0.08, 0.16, 0.32, 0.5, 0.5]
    """
    pause = FIRST
    while True:
        yield pause
        pause = min(2 * pause, TASK_LOOK)


async def awaited(
    look: Callable[[], Awaitable[Task]], after: int | None, seconds: float, blocked: Callable[[], bool]
) -> Task:
    """Return the task when its revision is past `after`, when it is over, or after so many seconds.

    A task that is `blocked`, by something that keeps this process from working on it, is returned after half a second.
    """
    clock = asyncio.get_running_loop().time
    began, pause = clock(), pauses()
    until = began + seconds
    while True:
        task = await look()
        left = until - clock()
        if task.is_over or after is None or task.revision > after or left <= 0:
            return task
        with Urgent.waiting():
            await asyncio.sleep(min(next(pause), left))
        if clock() - began >= TASK_LOOK and blocked():
            return await look()


async def task_blocks(
    look: Callable[[], Awaitable[Task]],
    allowed: Callable[[], Awaitable[None]],
    stopping: Callable[[], bool],
    last: int | None,
) -> AsyncGenerator[bytes]:
    """Yield an event for each change of a task after revision `last`, until it is over.

    `allowed` raises when the key of the client has ended.
    """
    yield b"retry: %d\n\n" % RETRY_MS
    clock = asyncio.get_running_loop().time
    sent = checked = clock()
    seen, pause = -1 if last is None else last, pauses()
    try:
        while not stopping():
            task = await look()
            if task.revision > seen:
                seen, sent = task.revision, clock()
                yield _task_block(task)
            if task.is_over:
                return
            if clock() - checked >= CHECK:
                await allowed()
                checked = clock()
            if clock() - sent >= HEARTBEAT:
                yield b": still here\n\n"
                sent = clock()
            await asyncio.sleep(next(pause))
        yield _failed("stopping", "the server is stopping; connect again")
    except (MuistiError, HttpError) as error:
        yield _failed(error.code, error.detail if isinstance(error, HttpError) else str(error))


def _task_block(task: Task) -> bytes:
    name = b"end" if task.is_over else b"progress"
    return b"id: %d\nevent: %b\ndata: %b\n\n" % (task.revision, name, msgspec.json.encode(TaskReply.of(task)))


def _failed(code: str, detail: str) -> bytes:
    return b"event: error\ndata: %b\n\n" % msgspec.json.encode({"code": code, "detail": detail})
