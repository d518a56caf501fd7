"""Answers a scrape, for this process and the other workers of the server."""

import time
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from anyio import to_thread

from muisti.core.support.lazy import Lazy
from muisti.service.metrics.peers import Peers, joined
from muisti.service.runtime.workers import Backend
from muisti.service.schemas.health import ServerStatsReply

if TYPE_CHECKING:
    from muisti.service.metrics import exposition
    from muisti.service.metrics import summary as summaries
else:  # 30 ms, which the first scrape pays on a thread
    exposition = Lazy("muisti.service.metrics.exposition")
    summaries = Lazy("muisti.service.metrics.summary")


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
        return await to_thread.run_sync(summaries.summary, await self._workers(), time.time())

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
