"""Threads for the synchronous core: one pool searches, one waits for the database. Both are bounded."""

import asyncio
import os
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import ParamSpec, TypeVar

from core.engine import Engine
from core.errors import Busy
from service.settings import Settings

P = ParamSpec("P")
R = TypeVar("R")


class Pool:
    """As many calls run as there are threads, and `waiting` more wait. What comes on top is refused."""

    def __init__(self, name: str, threads: int, waiting: int) -> None:
        self._executor = ThreadPoolExecutor(threads, thread_name_prefix=f"muisti-{name}")
        self._places = threading.Semaphore(threads + waiting)
        self._waiting = waiting

    async def run(self, call: Callable[P, R], *args: P.args, **kwargs: P.kwargs) -> R:
        """Run a call on a thread. A caller who gives up takes back a call that waits, never one that runs.

        Raises:
            Busy: too many calls wait.
        """
        if not self._places.acquire(blocking=False):
            raise Busy(f"{self._waiting} requests wait already; try again in a moment")
        future = self._executor.submit(partial(call, *args, **kwargs))
        future.add_done_callback(lambda _: self._places.release())
        return await asyncio.wrap_future(future)

    def close(self) -> None:
        """Wait until all calls have ended."""
        self._executor.shutdown(wait=True)


class Backend:
    """The engine and the pools that its calls run on.

    Calls that write embed text too, and still belong to `store`: they wait for the disk.
    """

    def __init__(self, engine: Engine, settings: Settings) -> None:
        self._search = Pool("search", settings.search_threads or os.cpu_count() or 1, settings.queue_limit)
        self._store = Pool("store", settings.database_threads, settings.queue_limit)
        self.engine = engine
        self.search = self._search.run
        self.store = self._store.run

    def close(self) -> None:
        """Wait until all calls have ended. The engine stays open."""
        self._search.close()
        self._store.close()
