"""Move staged memories into the target space, in one transaction or, where that is impossible, in steps."""

import uuid
from collections.abc import Callable
from typing import cast

import msgspec

from muisti.core.model.counts import Quota
from muisti.core.model.errors import Conflict, ModelMismatch, MuistiError, QuotaExceeded, TooLarge
from muisti.core.model.times import to_us
from muisti.core.model.values import Seq
from muisti.core.operations.transfer.importing.incoming import Incoming
from muisti.core.operations.transfer.importing.staging import write
from muisti.core.read.reading import find_space
from muisti.core.store.database import Database, Refusal, Refused, Statement
from muisti.core.store.sql import audit, imports, quotas, spaces
from muisti.core.store.sql.imports import Staged
from muisti.core.tasks.fenced_commit import UNFENCED, FencedCommit, over

REMOTE_MAX = 10_000  # versions that a remote database accepts in one transaction

Clock = Callable[[], int]


class Begun(msgspec.Struct, frozen=True):
    """Progress of a move: after which change of the file, and whether it restores a whole space."""

    restored: bool
    after: int = 0


OfStep = Callable[[Begun], FencedCommit]


class Move:
    """The move of one file. `has_begun`: some of it is visible."""

    def __init__(self, file: Incoming, database: Database, quota: Quota, clock: Clock) -> None:
        self._file, self._database, self._quota, self._clock = file, database, quota, clock
        self.has_begun = False

    def run(
        self,
        staged: Staged,
        versions: int,
        last: int,
        begun: Begun | None = None,
        fenced: OfStep = lambda begun: UNFENCED,
    ) -> Seq:
        """Move everything. Return the point at which all is visible. `last` is the highest staged change number.

        `begun` is where a move that broke off goes on. `fenced` returns what a step commits for a task, given where the
        move is after it.

        Raises:
            Conflict, ModelMismatch, QuotaExceeded, TooLarge.
            TaskOver: the task is over, or another process has it.
        """
        try:
            return self._move(staged, versions, last, begun or Begun(self._file.is_restored), fenced)
        except Refused as refused:
            raise over(refused) or self._explained(refused) from refused

    def check(self, staged: Staged, versions: int, last: int) -> None:
        """Run the move and roll it back. Of a move in steps, only the first step is run.

        Raises:
            Conflict, ModelMismatch, QuotaExceeded, TooLarge: `run` would raise it.
        """
        step = self._step(versions)
        upto = self._upto(staged, 0, max(self._file.top, last), step)
        try:
            batch = self._statements(staged, (0, upto), restored=self._file.is_restored, last=True)
            self._database.rehearse(batch)
        except Refused as refused:
            raise self._explained(refused) from refused

    def _move(self, staged: Staged, versions: int, last: int, begun: Begun, fenced: OfStep) -> Seq:
        step, restored = self._step(versions), begun.restored
        top, after, number = max(self._file.top, last), begun.after, self._file.target.seq.number
        self.has_begun = after > 0
        while after < top:
            upto = self._upto(staged, after, top, step)
            batch = self._statements(staged, (after, upto), restored=restored, last=upto == top)
            of_task = fenced(Begun(restored, upto))
            results = write(self._database, [*of_task.before, *batch, *of_task.after])
            number = next(cast(int, rows[0][0]) for rows in reversed(results) if rows)
            self.has_begun = True
            if not after:
                self._file.target = find_space(self._database, self._file.target.space.name)
            after = upto
        return Seq(self._file.target.space.epoch, number)

    def _step(self, versions: int) -> int:
        """Return how many versions one transaction moves."""
        if self._database.local:
            return versions
        if versions > REMOTE_MAX and self._file.atomic:
            raise TooLarge(
                f"the file has {versions:,} versions; a remote database takes {REMOTE_MAX:,} in one transaction: "
                "send atomic=false to import in steps"
            )
        return REMOTE_MAX

    def _upto(self, staged: Staged, after: int, top: int, step: int) -> int:
        """Return the change of the file at which the step after change `after` ends."""
        (rows,) = self._database.read([imports.step_end(staged, after, step)])
        end = cast(int | None, rows[0][0])
        (more,) = self._database.read([imports.step_end(staged, end, 1)]) if end else ([],)
        return end if end and more and more[0][0] is not None else top

    def _statements(self, staged: Staged, span: tuple[int, int], *, restored: bool, last: bool) -> list[Statement]:
        """Return the transaction of one step. The last statement with rows returns the seq."""
        now = self._clock()
        checks = [spaces.guard(self._file.target)] if span[0] else self._checks(staged)
        steps = imports.move(staged, span, now, as_it_was=restored)
        return [spaces.guard(staged.space), *checks, *steps, *self._entries(staged, now, last=last)]

    def _checks(self, staged: Staged) -> list[Statement]:
        """Return the statements that check the target space and prepare it.

        All that is staged must fit its quota, because a later step could not undo earlier ones.
        """
        target = staged.target
        guards = [spaces.guard_policy(target)]
        if self._file.generation is not None and self._file.tally.kept + self._file.tally.embedded:
            guards = [
                spaces.adopt_generation(target, self._file.generation),
                spaces.guard_model(target, self._file.generation),
            ]
        guards.append(quotas.refuse_sum(target, staged.space, self._quota))
        if self._file.is_restored:
            space = self._file.opened.space
            assert space is not None
            settings = spaces.settings_text(space.settings.settings())
            guards += imports.take_over(staged, str(uuid.uuid4()), settings, to_us(space.created_at), space.kept_from)
        return guards

    def _entries(self, staged: Staged, now: int, *, last: bool) -> list[Statement]:
        if not last:
            return []
        name, actor = self._file.target.space.name, self._file.caller.actor
        return [
            quotas.refuse_more(self._file.target, self._quota),
            audit.note(now, actor, "memories_imported", space=name, target=str(staged.id)),
        ]

    def _explained(self, refused: Refused) -> MuistiError:
        name = self._file.target.space.name
        if refused.code == Refusal.QUOTA_EXCEEDED:
            (rows,) = self._database.read([quotas.usage(self._file.target, self._quota)])
            return QuotaExceeded(name, quotas.used(rows[0]) if rows else None)
        if refused.code == Refusal.MODEL_MISMATCH:
            return ModelMismatch(f"space {name!r} was embedded by another model meanwhile; nothing was imported")
        return Conflict(f"space {name!r} changed while the file was read, in a way that conflicts with it; try again")
