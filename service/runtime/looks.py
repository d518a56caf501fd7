"""Looks at the databases beside the first, all at the same time, for signs of life.

Each look has a thread of its own, and a database that does not answer is not asked again meanwhile. So one that hangs
takes no thread from the others, nor from requests.
"""

import asyncio
import threading
from collections.abc import Mapping, Sequence
from concurrent.futures import Future
from contextlib import suppress
from typing import NamedTuple

from muisti.core.engine import Engine
from muisti.core.model.spaces import Space
from muisti.core.model.tasks import Failing
from muisti.core.placement.directory import MAIN
from muisti.service.runtime.engines import Engines


class Seen(NamedTuple):
    """Signs of life of a database: its engine, its spaces, and the tasks that keep failing."""

    engine: Engine
    spaces: Sequence[Space]
    failing: Sequence[Failing]


def look(engine: Engine) -> Seen:
    """Ask a database for signs of life. Call it on a thread.

    Raises:
        MuistiError: there are none.
    """
    engine.check()
    return Seen(engine, engine.spaces.list(), engine.tasks.failing())


class Looks:
    """Looks by database. Call it on the event loop."""

    def __init__(self, engines: Engines) -> None:
        self._engines = engines
        self._under_way: dict[int, Future[Seen]] = {}

    def begin(self) -> Mapping[str, Future[Seen]]:
        """Begin to look at each database but the first, and return what will be seen, by name."""
        found: dict[str, Future[Seen]] = {}
        for id_, target in self._engines.directory.map.targets.items():
            if id_ == MAIN:
                continue
            future = self._under_way.get(id_)
            if future is None or future.done():
                future = self._under_way[id_] = Future[Seen]()
                name = f"muisti-look-{target.name}"
                threading.Thread(target=self._run, args=(id_, future), name=name, daemon=True).start()
            found[target.name] = future
        return found

    def _run(self, id_: int, future: Future[Seen]) -> None:
        try:
            future.set_result(look(self._engines.opened(id_)))
        except Exception as error:  # noqa: BLE001  # whoever waits hears of it
            future.set_exception(error)


async def seen(looks: Mapping[str, Future[Seen]], seconds: float) -> dict[str, Seen | None]:
    """Return what was seen within so many seconds, by database; None where there was no answer."""
    waiting = [asyncio.wrap_future(future) for future in looks.values() if not future.done()]
    if waiting:
        await asyncio.wait(waiting, timeout=max(0.0, seconds))
    for one in waiting:
        with suppress(asyncio.InvalidStateError, asyncio.CancelledError):
            one.exception()  # it was looked at
    return {name: _of(future) for name, future in looks.items()}


def _of(future: Future[Seen]) -> Seen | None:
    return future.result() if future.done() and future.exception() is None else None
