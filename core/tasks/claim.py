"""A claimed task, as the work on it sees it."""

import threading
from collections.abc import Callable, Iterator, Sequence
from typing import Protocol, cast

import msgspec

from muisti.core.identity.caller import Caller
from muisti.core.model.choices import TaskState
from muisti.core.model.tasks import Item, ItemOutcome, NewItem, Paused, Task, TaskOver
from muisti.core.store.database import Database, Refusal, Refused, Rows, Statement
from muisti.core.tasks.sql import task_rows, tasks
from muisti.core.tasks.sql.tasks import ClaimId

# The part of a batch that a write commits for its task

_OVER = (Refusal.TASK_LOST, Refusal.TASK_CANCELLED)


class FencedCommit(msgspec.Struct, frozen=True):
    """Statements that begin a batch, and refuse it when its task is over, and statements that end the batch.

    The latter store the states of items and the counters, and prolong the lease.
    """

    before: Sequence[Statement] = ()
    after: Sequence[Statement] = ()

    def commit(self, database: Database) -> None:
        """Commit these statements only, for work that changes nothing else. Raises `TaskOver`."""
        try:
            if self.before:
                database.write([*self.before, *self.after])
        except Refused as refused:
            raise over(refused) or refused from refused


UNFENCED = FencedCommit()  # of a write that is part of no task


def over(refused: Refused) -> TaskOver | None:
    """Return the error that explains the refusal of a fenced commit, or None when something else refused it."""
    return TaskOver(cancelled=refused.code == Refusal.TASK_CANCELLED) if refused.code in _OVER else None


PIECE = 1 << 20  # bytes of a piece of a blob
GROUP = 16  # items that are worked on together
DEATHS = 3  # processes that may crash on an item before it is failed
CRASHED = "task.crashed"
_TOLD = "the work on it ended the process three times; it was given up"


class Kind(Protocol):
    """A kind of work. `crashed` is the error code of an item on which three processes have crashed.

    It is None for work that is never given up, however many processes crash.
    """

    @property
    def name(self) -> str: ...

    @property
    def crashed(self) -> str | None: ...

    def run(self, claim: "Claim") -> object:
        """Do the work, and return its result as a value that JSON can hold. It may have been begun before."""
        ...


class Claim:
    """A task that this process has claimed. Used by the thread that works on it; `beat` is for another thread.

    `caller` asked for the task, and its rights apply to the work. `ended` is set when the task is over, or the process
    is about to stop; `stopping` says which.
    """

    def __init__(
        self, database: Database, task: Task, caller: Caller, lease_us: int, kind: Kind, stopping: Callable[[], bool]
    ) -> None:
        self.task, self.caller = task, caller
        self.ended = threading.Event()
        self._database, self._lease_us, self._kind, self._stopping = database, lease_us, kind, stopping
        self._id = ClaimId(task.number, task.owner, task.fence)
        self._over: TaskOver | None = None

    def items(self, most: int = GROUP) -> list[Item]:
        """Begin the next items, and return them; none when all are finished.

        That work on them begins is committed first. An item on which a process has crashed comes alone.

        Raises:
            TaskOver, Paused.
        """
        while True:
            self.check()
            found = [task_rows.item(row) for row in self._database.read([tasks.left(self._id, most)])[0]]
            if not found:
                return []
            crashed = [one for one in found if one.state == "working" and one.attempts >= DEATHS]
            if crashed and self._kind.crashed is not None:
                self._give_up(crashed)
                continue
            begun = found[:1] if found[0].state == "working" else found
            batch = [tasks.begin_items(self._id, [one.number for one in begun]), self._prolonged()]
            self._write([tasks.guard(self._id), *batch])
            return [msgspec.structs.replace(one, state="working", attempts=one.attempts + 1) for one in begun]

    def fenced(
        self,
        outcomes: Sequence[ItemOutcome] = (),
        *,
        position: str | None = None,
        done: int = 0,
        failed: int = 0,
        skipped: int = 0,
        total: int | None = None,
        adds: Sequence[NewItem] = (),
    ) -> FencedCommit:
        """Return what the next batch commits for this task.

        `position` is where the work is after the batch. Without items, the numbers count what the batch has finished.
        `total` replaces the number of all, and `adds` are further items to work on.
        """
        before = [tasks.guard(self._id)]
        if outcomes:
            before.append(tasks.guard_items(self._id, [one.number for one in outcomes]))
        if position is not None:
            before.append(tasks.guard_position(self._id, self._position()))
        ended = [one.state for one in outcomes]
        counts = (done + ended.count("done"), failed + ended.count("failed"), skipped + ended.count("skipped"))
        after = [tasks.finish_items(self._id, outcomes)] if outcomes else []
        if adds:
            after += tasks.add_items(self.task.id, adds)
        after.append(tasks.progress(self._id, counts, position, total, self._lease_us))
        return FencedCommit(before, after)

    def commit(
        self,
        outcomes: Sequence[ItemOutcome] = (),
        *,
        position: str | None = None,
        done: int = 0,
        failed: int = 0,
        skipped: int = 0,
        total: int | None = None,
        adds: Sequence[NewItem] = (),
    ) -> None:
        """Commit progress without a memory; see `fenced`.

        Raises:
            TaskOver: this process no longer has the task, or it was cancelled.
        """
        fenced = self.fenced(
            outcomes, position=position, done=done, failed=failed, skipped=skipped, total=total, adds=adds
        )
        self._write([*fenced.before, *fenced.after])

    def check(self) -> None:
        """Raise `Paused` when the process is about to stop, and `TaskOver` when the task is known to be over."""
        if self._over is not None:
            raise self._over
        if self._stopping():
            raise Paused

    def read(self, blob: str, offset: int = 0) -> Iterator[bytes]:
        """Yield the bytes of a blob from `offset` on, piece by piece; none when there is no such blob."""
        part, within = divmod(offset, PIECE)
        while rows := self._database.read([tasks.blob_part(self._id.number, blob, part)])[0]:
            yield cast(bytes, rows[0][0])[within:]
            part, within = part + 1, 0

    def beat(self, *, prolong: bool) -> None:
        """Look whether the task still is this process's, from any thread. With `prolong`, prolong its lease."""
        (rows,) = self._database.read([tasks.claim_state(self._id)])
        state, mine = cast(tuple[str, int], rows[0]) if rows else ("cancelled", 0)
        if not mine or state != "running":
            self._over = TaskOver(cancelled=state == "cancelled")
            self.ended.set()
        elif prolong:
            self._database.write([self._prolonged()])

    def end(self, result: str | None, error: tuple[str, str] | None) -> Task:
        """End the task, and return it: `failed` with an error, else by the outcomes of its items.

        Raises:
            TaskOver: it was cancelled, or another process has it.
        """
        (rows,) = self._database.read([task_rows.by_number(self._id.number)])
        if not rows:
            raise TaskOver
        now = task_rows.task(rows[0])
        state: TaskState = "failed" if error or now.failed else "succeeded"
        if not error and now.finished > now.failed > 0:
            state = "partial"
        self._write(tasks.end(self._id, state, result, error))
        return msgspec.structs.replace(now, state=state)

    def give_back(self, rest_us: int = 0) -> None:
        """Let another process go on, in `rest_us` microseconds. Attempts of the items in work do not count."""
        self._write(tasks.give_back(self._id, rest_us))

    def rest(self, rest_us: int) -> None:
        """Let another process try again in `rest_us` microseconds. Attempts of the items in work count."""
        self._write(tasks.rest(self._id, rest_us))

    def _position(self) -> str:
        """Return where the work is; an earlier commit may have been refused."""
        (rows,) = self._database.read([tasks.position(self._id)])
        return cast(str, rows[0][0]) if rows else ""

    def _prolonged(self) -> Statement:
        return tasks.prolong(self._id, self._lease_us)

    def _give_up(self, items: Sequence[Item]) -> None:
        self.commit([ItemOutcome(one.number, "failed", self._kind.crashed, _TOLD) for one in items])

    def _write(self, batch: Sequence[Statement]) -> list[Rows]:
        try:
            return self._database.write(batch)
        except Refused as refused:
            raise over(refused) or refused from refused
