"""A stream of server-sent events: the changes of a space as they happen, each with the point from which to go on.

The stream asks for the next page when the last one has been sent, so nothing piles up for a slow reader. A reader that
stops reading is disconnected (`service.app.protocol`). It reconnects with `Last-Event-ID` and has lost nothing.
"""

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import aclosing
from dataclasses import dataclass
from typing import Any

import msgspec
from litestar.response import Stream
from litestar.response.base import ASGIResponse
from litestar.types import Receive, Scope, Send
from msgspec.structs import replace

from muisti.core.model.errors import MuistiError
from muisti.core.model.events import Events
from muisti.core.model.values import Seq
from muisti.core.query.changes import Wanted
from muisti.core.views.read import Read
from muisti.service.feed.seq_watcher import SeqWatcher
from muisti.service.runtime.workers import Backend
from muisti.service.schemas.changes import ChangeReply
from muisti.service.schemas.errors import HttpError

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
    read: Read
    space: str
    wanted: Wanted
    allowed: Callable[[], Awaitable[None]]
    key_id: str | None

    async def page(self, since: Seq) -> Events:
        """Read the events after a point.

        Raises:
            NotFound, EpochGone, InvalidInput, NotYetReplicated.
        """
        return await self.backend.store(self.read.changes, self.space, replace(self.wanted, since=since))

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
