"""The seq watcher: notices when watched spaces reach a new point of history, for many streams at a time.

One query reads the points of all watched spaces together, and none runs while no space is watched. Writers in this
process wake waiting streams through the change notifier; writes of other processes are found by polling.
"""

import asyncio
from collections import Counter
from collections.abc import Generator
from contextlib import contextmanager, suppress

from muisti.core.engine import Engine
from muisti.core.model.errors import Busy, MuistiError
from muisti.core.model.values import Seq
from muisti.core.support.priority import Urgent
from muisti.service.runtime.workers import Backend

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
            self._looking = asyncio.create_task(self._look(self._backend.engine))
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

    async def _look(self, engine: Engine) -> None:
        loop = asyncio.get_running_loop()

        def rung(space: str, at: Seq) -> None:
            if space in self._watchers:
                with suppress(RuntimeError):  # the loop is closed: nobody waits
                    loop.call_soon_threadsafe(self._note, space, at)

        engine.notifier.listen(rung)
        try:
            while True:
                names = list(self._watchers)
                with suppress(MuistiError):  # a stream that reads next meets the same error, and reports it
                    found = await self._backend.store(engine.spaces.standing, names)
                    for name in names:
                        self._note(name, found.get(name))
                await asyncio.sleep(EVERY)
        finally:
            engine.notifier.ignore(rung)

    def _note(self, space: str, at: Seq | None) -> None:
        known = self._at.get(space)
        late = at is not None and known is not None and at.epoch == known.epoch and at.number <= known.number
        if space in self._watchers and not late:
            self._at[space] = at
            if (moved := self._moved.pop(space, None)) is not None:
                moved.set()
