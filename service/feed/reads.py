"""A stream of server-sent events: the reads of a space in this process as they happen."""

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable

import msgspec

from muisti.core.model.errors import MuistiError
from muisti.service.feed.stream import CHECK, HEARTBEAT, RETRY_MS
from muisti.service.observability.reads import ReadLog
from muisti.service.schemas.errors import HttpError

LOOK = 0.5  # seconds between looks at the log
OFF = "the read log is off; MUISTI_READ_LOG=ring turns it on"


async def blocks(
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
            await asyncio.sleep(LOOK)
        yield _end("stopping", "the server is stopping; connect again")
    except (MuistiError, HttpError) as error:
        yield _end(error.code, error.detail if isinstance(error, HttpError) else str(error))


def _end(code: str, detail: str) -> bytes:
    return b"event: end\ndata: %b\n\n" % msgspec.json.encode({"code": code, "detail": detail})
