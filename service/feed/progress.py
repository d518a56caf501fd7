"""A stream of server-sent events: the progress of a task until it ends.

Each event holds the whole task, and its id is the task's revision. A client that reconnects with `Last-Event-ID` gets
the task when it has changed since; what happened in between is part of its counts.
"""

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable, Iterator

import msgspec

from muisti.core.model.errors import MuistiError
from muisti.core.model.tasks import Task
from muisti.core.support.waiting import Urgent
from muisti.service.feed.stream import CHECK, HEARTBEAT, RETRY_MS
from muisti.service.schemas.errors import HttpError
from muisti.service.schemas.tasks import TaskReply

FIRST = 0.01  # seconds between the first two looks at a task
LOOK = 0.5  # seconds between looks at a task that takes long


def pauses() -> Iterator[float]:
    """Yield the seconds between looks at a task: most tasks are short, so each is twice the one before, up to `LOOK`.

    >>> from itertools import islice
    >>> [*islice(pauses(), 8)]
    [0.01, 0.02, 0.04, 0.08, 0.16, 0.32, 0.5, 0.5]
    """
    pause = FIRST
    while True:
        yield pause
        pause = min(2 * pause, LOOK)


async def awaited(
    look: Callable[[], Awaitable[Task]], after: int | None, seconds: float, blocked: Callable[[], bool]
) -> Task:
    """Return the task when its revision is past `after`, when it is over, or after so many seconds.

    A task that is `blocked`, by something that keeps this process from working on it, is returned after `LOOK` seconds.
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
        if clock() - began >= LOOK and blocked():
            return await look()


async def blocks(
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
                yield _block(task)
            if task.is_over:
                return
            if clock() - checked >= CHECK:
                await allowed()
                checked = clock()
            if clock() - sent >= HEARTBEAT:
                yield b": still here\n\n"
                sent = clock()
            await asyncio.sleep(next(pause))
        yield _end("stopping", "the server is stopping; connect again")
    except (MuistiError, HttpError) as error:
        yield _end(error.code, error.detail if isinstance(error, HttpError) else str(error))


def _block(task: Task) -> bytes:
    name = b"end" if task.is_over else b"progress"
    return b"id: %d\nevent: %b\ndata: %b\n\n" % (task.revision, name, msgspec.json.encode(TaskReply.of(task)))


def _end(code: str, detail: str) -> bytes:
    return b"event: error\ndata: %b\n\n" % msgspec.json.encode({"code": code, "detail": detail})
