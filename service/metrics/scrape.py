"""Answers a scrape, for this process and the other workers of the server, which it asks."""

import asyncio
import fcntl
import os
import time
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING

from anyio import to_thread

from muisti.core.support.lazy import Lazy
from muisti.service.runtime.workers import Backend
from muisti.service.schemas.health import ServerStatsReply

# The workers of a server, which share its port: the worker that is asked for metrics asks the others

VARIABLE = "_MUISTI_WORKERS"  # in the environment of workers: their folder
PATIENCE_SECONDS = 1.0  # that a worker gets to answer


class Peers:
    """The workers as one of them sees them."""

    def __init__(self, folder: Path, number: int) -> None:
        self._folder = folder
        self.number = number

    async def ask(self) -> list[tuple[int, bytes]]:
        """Return the answers of the other workers with their numbers, without those that do not answer in time."""
        others = sorted(int(path.stem) for path in self._folder.glob("*.socket") if int(path.stem) != self.number)
        answers = await asyncio.gather(*map(self._asked, others))
        return [(other, answer) for other, answer in zip(others, answers, strict=True) if answer]

    async def _asked(self, other: int) -> bytes:
        with suppress(OSError, TimeoutError):  # it has ended or hangs: `muisti_workers` shows that its metrics lack
            async with asyncio.timeout(PATIENCE_SECONDS):
                reader, writer = await asyncio.open_unix_connection(_socket(self._folder, other))
                try:
                    return await reader.read(-1)
                finally:
                    writer.close()
        return b""


@asynccontextmanager
async def joined(folder: Path, answer: Callable[[], Awaitable[bytes]]) -> AsyncGenerator[Peers]:
    """Join the workers of a folder, and answer the others with `answer` until the context ends."""

    async def serve(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            writer.write(await answer())
            await writer.drain()
        finally:
            writer.close()

    number, lock = _number(folder)
    place = _socket(folder, number)
    place.unlink(missing_ok=True)  # of a predecessor that was killed
    server = await asyncio.start_unix_server(serve, place)
    try:
        yield Peers(folder, number)
    finally:
        server.close()
        place.unlink(missing_ok=True)
        os.close(lock)


def _number(folder: Path) -> tuple[int, int]:
    """Take the lowest free number; return it with the descriptor of the lock that holds it."""
    for number in count():
        lock = os.open(folder / f"{number}.lock", os.O_RDWR | os.O_CREAT, 0o600)
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            os.close(lock)
        else:
            return number, lock
    raise AssertionError("there is always another number")


def _socket(folder: Path, number: int) -> Path:
    return folder / f"{number}.socket"


if TYPE_CHECKING:
    from muisti.service.metrics import exposition
else:  # 30 ms, which the first scrape pays on a thread
    exposition = Lazy("muisti.service.metrics.exposition")


class Scrape:
    """The metrics of a server."""

    def __init__(self, backend: Backend, index_limit: int) -> None:
        """`index_limit` is in bytes."""
        self._backend, self._index_limit = backend, index_limit
        self._peers: Peers | None = None

    @asynccontextmanager
    async def among(self, folder: Path | None) -> AsyncGenerator[None]:
        """Join the workers that meet in the folder until the context ends; None: this worker is the only one."""
        if folder is None:
            yield
            return
        async with joined(folder, self._measured) as self._peers:
            yield

    async def render(self, accept: str) -> tuple[bytes, str]:
        """Return the metrics of all workers as text, and its media type: OpenMetrics when `accept` names that."""
        return await to_thread.run_sync(exposition.render, await self._workers(), accept)

    async def summary(self) -> ServerStatsReply:
        """Return the latencies of all workers by operation."""
        return await to_thread.run_sync(exposition.summary, await self._workers(), time.time())

    async def _workers(self) -> list[tuple[int, bytes]]:
        """Return the metrics of each worker that answers, with its number."""
        own = await self._measured()
        number, others = (0, []) if self._peers is None else (self._peers.number, await self._peers.ask())
        return sorted([(number, own), *others])

    async def _measured(self) -> bytes:
        """Measure this process on a thread: the first time loads the library, which takes a tenth of a second."""
        return await to_thread.run_sync(self._measure)

    def _measure(self) -> bytes:
        return exposition.measured(self._backend, self._index_limit)
