"""Claim tasks and run them. Threads of the service call this: one claims and calls `beat`, others run."""

import json
import threading
import traceback
import uuid
from collections.abc import Callable, Generator
from contextlib import contextmanager, suppress
from typing import cast

import msgspec

from muisti.core.identity.caller import Caller
from muisti.core.model.errors import Busy, MuistiError, NotYetReplicated, StoreUnavailable
from muisti.core.model.tasks import LASTING, Paused, Task, TaskFailed, TaskOver
from muisti.core.model.unavailable import ModelUnavailable
from muisti.core.store.database import Database, Refused, Rows
from muisti.core.tasks.claim import CRASHED, Claim, Kind
from muisti.core.tasks.fenced_commit import over
from muisti.core.tasks.sql import task_rows, tasks
from muisti.core.tasks.tasks import DEATHS, Tasks

SECOND_US = 1_000_000
TRY_AGAIN = (StoreUnavailable, Busy, NotYetReplicated, ModelUnavailable)  # errors after which another try may succeed
TRY_AGAIN_US = 2 * SECOND_US
LASTING_US = 10 * SECOND_US  # until another try after an error that lasts until a person acts
BROKEN_US = SECOND_US
REST_MAX_US = 3_600 * SECOND_US  # between tries of work that is never given up
_TOLD = f"{DEATHS} processes ended in the work on this task; it was given up"

# Built at import: msgspec (0.22) analyses a type on first use, and crashes when several threads do that together.
_CALLERS = msgspec.json.Decoder(Caller)

Broken = Callable[[Task, str, list[str]], None]  # takes the task, the name of the error, and its trace


def silent(task: Task, error: str, trace: list[str]) -> None:
    """Report nothing."""


class Runner:
    """Runs the tasks of a database in this process. Thread-safe.

    `lease` is in seconds: how long after the end of this process another one goes on. `per_space` is how many tasks of
    a space may be in work at a time, in all processes together.
    """

    def __init__(self, database: Database, known: Tasks, lease: float, per_space: int, broken: Broken = silent) -> None:
        """`broken` gets the errors in Muisti."""
        self._database, self._tasks, self._broken = database.primary, known, broken
        self._meters = known.meters
        self._lease_us, self._per_space = int(lease * SECOND_US), per_space
        self._claims: set[Claim] = set()
        self._lock = threading.Lock()
        self._stopping = False

    def stop(self) -> None:
        """Let running work end soon; what is not done is given back."""
        self._stopping = True
        for claim in self._current():
            claim.ended.set()

    def claim(self) -> Claim | float | None:
        """Claim a task that is due. Else return the seconds until one is due by itself; None when there is none."""
        with self._noting():
            ask = tasks.next_due(self._tasks.kinds, self._per_space)
            rows, queued = self._database.read([ask, tasks.queued()])
            self._count(queued)
            if not rows:
                self._tasks.unhinder()
                return None
            number, wait, held = cast(tuple[int, int, int], rows[0])
            if wait:
                return wait / SECOND_US
            found = self._claim(number, taken_over=bool(held))
            self._tasks.unhinder()
            return found or 0.0

    def run(self, claim: Claim) -> None:
        """Run a claimed task until it ends, or somebody else has it."""
        with suppress(TaskOver), self._noting():  # another process goes on, or nobody wants it
            try:
                self._work(claim)
            finally:
                with self._lock:
                    self._claims.discard(claim)
                self._meters.running.add(claim.task.kind, by=-1)

    def run_one(self) -> float | None:
        """Claim a task that is due, and run it. Return 0 then, else what `claim` returns."""
        found = self.claim()
        if not isinstance(found, Claim):
            return found
        self.run(found)
        return 0.0

    def beat(self, *, prolong: bool) -> None:
        """Look whether the tasks in work are still this process's. With `prolong`, prolong their leases."""
        for claim in self._current():
            claim.beat(prolong=prolong)
        if prolong:
            (queued,) = self._database.read([tasks.queued()])
            self._count(queued)
            self._tasks.failing()

    @contextmanager
    def _noting(self) -> Generator[None]:
        """Note an error that keeps this process from all tasks, and raise it again."""
        try:
            yield
        except LASTING as error:
            self._tasks.hinder(error)
            raise

    def _current(self) -> list[Claim]:
        with self._lock:
            return list(self._claims)

    def _count(self, queued: Rows) -> None:
        counts = cast(list[tuple[str, int]], queued)
        self._meters.queued.put({(kind,): 0 for kind in self._tasks.kinds} | {(kind,): count for kind, count in counts})

    def _claim(self, number: int, *, taken_over: bool) -> Claim | None:
        owner = uuid.uuid4().hex
        *_, fences = self._database.write(tasks.claim(number, owner, self._lease_us, self._per_space))
        if not fences:
            return None
        rows, callers = self._database.read([task_rows.by_number(number), task_rows.caller_of(number)])
        if not rows:
            return None
        task, caller = task_rows.task(rows[0]), _CALLERS.decode(cast(str, callers[0][0]))
        kind = self._tasks.kind(task.kind)
        if task.owner != owner:
            return None
        if taken_over:
            self._meters.takeovers.add(task.kind)
        claim = Claim(self._database, task, caller, self._lease_us, kind, lambda: self._stopping)
        if task.deaths > DEATHS and self._rests(claim, kind, taken_over=taken_over):
            return None
        with self._lock:
            self._claims.add(claim)
        self._meters.running.add(task.kind)
        return claim

    def _rests(self, claim: Claim, kind: Kind, *, taken_over: bool) -> bool:
        """End a task on which processes crash. One that is never given up rests after each crash, and is reported."""
        with suppress(TaskOver):
            if kind.crashed is not None:
                self._end(claim, None, (CRASHED, _TOLD))
            elif not taken_over:
                return False
            else:
                self._broken(claim.task, CRASHED, [])
                claim.rest(rest_of(claim.task.deaths))
        return True

    def _work(self, claim: Claim) -> None:
        """Run the work to its end, and store how it ended."""
        try:
            result = self._tasks.kind(claim.task.kind).run(claim)
        except Paused:
            claim.give_back()
        except TRY_AGAIN as error:
            claim.give_back(self._rest(error))
        except TaskFailed as failed:
            self._end(claim, _json(failed.result), (failed.code, str(failed)))
        except MuistiError as error:
            self._end(claim, None, (error.code, str(error)))
        except Refused as refused:
            if (ended := over(refused)) is not None:
                raise ended from refused
            self._is_broken(claim, refused)
        except TaskOver:
            raise
        except Exception as error:  # noqa: BLE001  # a bug of ours must not stop the other tasks
            self._is_broken(claim, error)
        else:
            self._end(claim, _json(result), None)

    def _rest(self, error: MuistiError) -> int:
        """Return the microseconds until another try at work that has met an error; note an error that lasts."""
        if not isinstance(error, LASTING):
            return TRY_AGAIN_US
        self._tasks.hinder(error)
        return LASTING_US

    def _end(self, claim: Claim, result: str | None, error: tuple[str, str] | None) -> None:
        ended = claim.end(result, error)
        self._meters.ended.add(ended.kind, ended.state)
        self._meters.seconds.add(ended.elapsed, ended.kind)

    def _is_broken(self, claim: Claim, error: Exception) -> None:
        """Report an error in Muisti. The task is tried again, and the item that was in work alone."""
        self._broken(claim.task, type(error).__qualname__, traceback.format_tb(error.__traceback__))
        lasting = self._tasks.kind(claim.task.kind).crashed is None
        claim.rest(rest_of(claim.task.deaths) if lasting else BROKEN_US)


def rest_of(deaths: int) -> int:
    """Return the microseconds until another try at work that is never given up, by the tries without progress.

    >>> [rest_of(deaths) // SECOND_US for deaths in (1, 5, 6, 8, 100)]
    [1, 1, 2, 8, 3600]
    """
    return min(SECOND_US << min(max(0, deaths - DEATHS), 20), REST_MAX_US)


def _json(result: object) -> str | None:
    return None if result is None else json.dumps(msgspec.to_builtins(result), ensure_ascii=False)
