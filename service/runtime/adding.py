"""Adds of single memories on the event loop: those that come while one is stored are prepared and stored together."""

import asyncio
from collections.abc import Callable, Sequence
from contextlib import suppress

import msgspec

from muisti.core.identity.caller import Caller
from muisti.core.model.choices import OnConflict
from muisti.core.model.collisions import Similar
from muisti.core.model.errors import Busy
from muisti.core.model.outcomes import Written
from muisti.core.model.values import Draft
from muisti.core.support.waiting import without_waiting
from muisti.core.views.write import Begun, Outcome, Write
from muisti.service.runtime.admission import Line

PATIENCE = 0.002  # seconds for which adds wait for the writer, which a fast disk needs for a commit
TRIES = 3  # to begin adds together, with one less that resembles a stored memory each time
AT_ONCE = 8  # adds of a batch; those of 16 clients are two, so that one is prepared while the other is written

Key = tuple[str, OnConflict, Caller]  # adds that may be stored together: space, policy, and who may do what


class _Add:
    """An add from its arrival to its outcome. `begun` is None until its batch waits for the writer."""

    __slots__ = ("begun", "draft", "outcome", "turn", "write")

    def __init__(self, write: Write, draft: Draft, loop: asyncio.AbstractEventLoop) -> None:
        self.write, self.draft = write, draft
        self.begun: Begun | None = None
        self.turn: asyncio.Future[None] = loop.create_future()
        self.outcome: asyncio.Future[Outcome] = loop.create_future()


class Adds:
    """Adds memories without a thread of ours. All calls come from one event loop."""

    def __init__(self, limit: int, disk: Line) -> None:
        """Take at most `limit` adds that wait for the database, which `disk` counts."""
        self._disk = disk
        self._limit = self._free = limit
        self._gathered: dict[Key, list[_Add]] = {}
        self._timer: asyncio.Handle | None = None  # of the next batch
        self._is_next = False  # it begins in the next turn
        self._writing = 0  # batches that wait for the writer
        self._crowded = False  # adds came at the same time a moment ago

    async def add(self, write: Write, space: str, draft: Draft, on_conflict: OnConflict) -> tuple[Begun, Outcome]:
        """Add one memory; return what `Write.end_add` takes.

        Raises:
            WouldWait: this may take longer; nothing is begun.
        """
        if self._free <= 0:
            raise Busy(f"{self._limit} writes are waiting already; try again in a moment")
        self._free -= 1  # before anything is awaited: adds that arrive together are counted one by one
        self._disk.enter()
        loop = asyncio.get_running_loop()
        one = _Add(write, draft, loop)
        try:
            if self._limit - self._free == 1 and not self._crowded:
                self._begin_one(space, on_conflict, one)
            else:
                self._gather((space, on_conflict, msgspec.structs.replace(write.calls.caller, request=None)), one, loop)
                await one.turn
        finally:
            if one.begun is None:  # else `_arrived` gives the place back
                self._free += 1
                self._disk.give_up()
        outcome = await one.outcome
        assert one.begun is not None
        return one.begun, outcome

    def _gather(self, key: Key, one: _Add, loop: asyncio.AbstractEventLoop) -> None:
        """Let an add begin with others: those of this turn, and those that arrive while the writer is busy.

        Neither a full batch nor one that has waited for `PATIENCE` waits for the writer.
        """
        waiting = self._gathered.setdefault(key, [])
        waiting.append(one)
        if not self._writing or len(waiting) >= AT_ONCE:
            self._begin_after(0.0, loop)
        elif self._timer is None:
            self._begin_after(PATIENCE, loop)

    def _begin_after(self, seconds: float, loop: asyncio.AbstractEventLoop) -> None:
        """Begin after some seconds, or in the next turn, whichever is asked for first."""
        if self._timer is not None:
            if self._is_next or seconds:
                return
            self._timer.cancel()
        self._is_next = not seconds
        begin = self._begin_gathered
        self._timer = loop.call_later(seconds, begin, loop) if seconds else loop.call_soon(begin, loop)

    def _begin_gathered(self, loop: asyncio.AbstractEventLoop) -> None:
        self._timer, self._crowded = None, self._limit - self._free > 1
        gathered, self._gathered = self._gathered, {}
        for arrived in gathered.values():
            arrived[0].write.expect(1)  # the writer waits for the batch of each kind
        for key, arrived in gathered.items():
            waiting = [one for one in arrived if not one.turn.done()]  # else the caller gave up
            if waiting[AT_ONCE:]:
                self._gathered[key] = waiting[AT_ONCE:]
            self._begin_some(key, waiting[:AT_ONCE])
            arrived[0].write.expect(-1)
        if self._gathered:
            self._begin_after(0.0, loop)

    def _begin_some(self, key: Key, few: Sequence[_Add]) -> None:
        space, on_conflict, _ = key
        self._begin_together(space, on_conflict, few)
        for one in few:
            if one.begun is None:
                try:
                    self._begin_one(space, on_conflict, one)
                except Exception as error:  # noqa: BLE001  # the caller's to handle, whatever it is
                    one.turn.set_exception(error)
                    continue
            one.turn.set_result(None)

    def _begin_together(self, space: str, on_conflict: OnConflict, few: Sequence[_Add], tries: int = TRIES) -> None:
        """Begin what can be one batch; what has not begun then is begun on its own, where each has its own error."""
        if len(few) < 2 or not tries:
            return
        added = [(one.write, one.draft) for one in few]
        try:
            self._have_begun(few, few[0].write.begin_adds(space, added, on_conflict, self._ended(few)))
        except Similar as refusal:
            others = [one for place, one in enumerate(few) if place != refusal.position]
            self._begin_together(space, on_conflict, others, tries - 1)
        except Exception:  # noqa: BLE001  # an unexpected one too: nobody would wake those that wait
            return

    def _begin_one(self, space: str, on_conflict: OnConflict, one: _Add) -> None:
        self._have_begun([one], [one.write.begin_add(space, one.draft, on_conflict, self._ended([one]))])

    def _have_begun(self, few: Sequence[_Add], begun: Sequence[Begun]) -> None:
        self._writing += 1
        for one, its in zip(few, begun, strict=True):
            one.begun = its

    def _ended(self, few: Sequence[_Add]) -> Callable[[Outcome], None]:
        loop = asyncio.get_running_loop()

        def ended(outcome: Outcome) -> None:
            with suppress(RuntimeError):  # the loop is closed: nobody waits
                loop.call_soon_threadsafe(self._arrived, few, outcome, loop)

        return ended

    def _arrived(self, few: Sequence[_Add], outcome: Outcome, loop: asyncio.AbstractEventLoop) -> None:
        self._writing -= 1
        if self._gathered and not self._writing:
            self._begin_after(0.0, loop)
        for one in few:
            self._disk.leave()
            self._free += 1
            if not one.outcome.done():  # else the caller gave up
                one.outcome.set_result(outcome)


def end_soon(write: Write, begun: Begun, outcome: Outcome) -> Written:
    """End an add on the event loop.

    Raises:
        WouldWait: what a refusal means is read from the database, which may take longer.
    """
    if not isinstance(outcome, Exception):
        return write.end_add(begun, outcome)
    with without_waiting():
        return write.end_add(begun, outcome)
