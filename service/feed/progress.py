"""A stream of server-sent events: the progress of a task until it ends.

Each event holds the whole task, and its id is the task's revision. A client that reconnects with `Last-Event-ID` gets
the task when it has changed since; what happened in between is part of its counts.
"""

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable

import msgspec

from muisti.core.model.errors import MuistiError
from muisti.core.model.tasks import Task
from muisti.service.feed.stream import CHECK, HEARTBEAT, RETRY_MS
from muisti.service.schemas.errors import HttpError
from muisti.service.schemas.tasks import TaskReply

LOOK = 0.5  # seconds between looks at a task


async def awaited(
    look: Callable[[], Awaitable[Task]], after: int | None, seconds: float, blocked: Callable[[], bool]
) -> Task:
    """Return the task when its revision is past `after`, when it is over, or after so many seconds.

    A task that is `blocked`, by something that keeps this process from working on it, is returned after one pause.
    """
    clock = asyncio.get_running_loop().time
    until = clock() + seconds
    while True:
        task = await look()
        left = until - clock()
        if task.is_over or after is None or task.revision > after or left <= 0:
            return task
        await asyncio.sleep(min(LOOK, left))
        if blocked():
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
    seen = -1 if last is None else last
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
            await asyncio.sleep(LOOK)
        yield _end("stopping", "the server is stopping; connect again")
    except (MuistiError, HttpError) as error:
        yield _end(error.code, error.detail if isinstance(error, HttpError) else str(error))


def _block(task: Task) -> bytes:
    name = b"end" if task.is_over else b"progress"
    return b"id: %d\nevent: %b\ndata: %b\n\n" % (task.revision, name, msgspec.json.encode(TaskReply.of(task)))


def _end(code: str, detail: str) -> bytes:
    return b"event: error\ndata: %b\n\n" % msgspec.json.encode({"code": code, "detail": detail})
