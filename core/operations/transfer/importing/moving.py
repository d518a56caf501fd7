"""Move staged memories into the target space, in one transaction or, where that is impossible, in steps."""

import uuid
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import cast

import msgspec

from muisti.core.identity.caller import Caller
from muisti.core.model.errors import Conflict, ModelMismatch, MuistiError, QuotaExceeded, TooLarge
from muisti.core.model.operations import LineProblem
from muisti.core.model.outcomes import Flag, Quota
from muisti.core.model.times import to_us
from muisti.core.model.values import Seq
from muisti.core.operations.transfer.importing.lines import Incoming, Reached, Tally
from muisti.core.operations.transfer.records import Header
from muisti.core.read.reading import find_space
from muisti.core.store.database import Database, Refusal, Refused, Rows, Statement
from muisti.core.store.sql import imports, operations, quotas, spaces
from muisti.core.store.sql.imports import Staged
from muisti.core.store.sql.spaces import SpaceRow
from muisti.core.tasks.claim import FencedCommit, over


def write(database: Database, batch: Sequence[Statement]) -> list[Rows]:
    """Run a batch.

    Raises:
        Conflict: the target space or the hidden one no longer exists.
    """
    try:
        return database.write(batch)
    except Refused as refused:
        if refused.code == Refusal.NO_SPACE:
            raise Conflict("the space was erased meanwhile, or the import took too long; try again") from refused
        raise


def clear(database: Database, staging_id: int, memories: int | None) -> None:
    """Delete a hidden space. `memories` is the number imported, None when the import failed."""
    while True:
        *_, left = database.write(imports.clear(staging_id))
        if not left[0][0]:
            break
    database.write(imports.end(staging_id, memories))


def clear_dead(database: Database, now: int) -> None:
    """Delete what imports of ended processes left behind."""
    _clear_all(database, imports.dead(now))


def stop_imports(database: Database, which: Statement) -> int:
    """End the imports that `which` finds, running or dead; none writes any more. Return their number."""
    (rows,) = database.read([which])
    for staging_id, _ in rows:
        database.write([imports.disown(cast(int, staging_id))])
    return _clear_all(database, which)


def _clear_all(database: Database, which: Statement) -> int:
    (rows,) = database.read([which])
    for staging_id, moved in cast(list[tuple[int, int]], rows):
        clear(database, staging_id, 0 if moved else None)
    return len(rows)


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

    def run(self, staged: Staged, versions: int, last: int, begun: Begun, fenced: OfStep) -> Seq:
        """Move everything. Return the point at which all is visible. `last` is the highest staged change number.

        `begun` is where a move that broke off goes on. `fenced` returns what a step commits for a task, given where the
        move is after it.

        Raises:
            Conflict, ModelMismatch, QuotaExceeded, TooLarge.
            TaskOver: the task is over, or another process has it.
        """
        try:
            return self._move(staged, versions, last, begun, fenced)
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
            operations.audit(now, actor, "memories_imported", space=name, target=str(staged.id)),
        ]

    def _explained(self, refused: Refused) -> MuistiError:
        name = self._file.target.space.name
        if refused.code == Refusal.QUOTA_EXCEEDED:
            (rows,) = self._database.read([quotas.usage(self._file.target, self._quota)])
            return QuotaExceeded(name, quotas.used(rows[0]) if rows else None)
        if refused.code == Refusal.MODEL_MISMATCH:
            return ModelMismatch(f"space {name!r} was embedded by another model meanwhile; nothing was imported")
        return Conflict(f"space {name!r} changed while the file was read, in a way that conflicts with it; try again")


class Moving(msgspec.Struct, frozen=True):
    """Numbers of the staged memories and versions, the last change of the file, and where the move is."""

    memories: int
    versions: int
    top: int
    begun: Begun

    @property
    def is_over(self) -> bool:
        return self.begun.after >= self.top


class Checkpoint(msgspec.Struct, frozen=True, kw_only=True):
    """State of an import after `offset` bytes of its file. `staged` are the ids of the import and its hidden space.

    `now` is the time of the import in microseconds, which all of its memories have.
    """

    now: int
    offset: int = 0
    reached: Reached = Reached()
    header: Header | None = None
    staged: tuple[int, int] | None = None
    lost: tuple[str, ...] = ()
    failed: int = 0
    failures: tuple[LineProblem, ...] = ()
    flags: tuple[Flag, ...] = ()
    skipped: Mapping[str, int] = {}
    vectors: tuple[int, int] = (0, 0)
    versions: int = 0
    moving: Moving | None = None

    @classmethod
    def of(
        cls, file: Incoming, reached: Reached, offset: int, staged: tuple[int, int] | None, moving: Moving | None
    ) -> "Checkpoint":
        """Return the state of an import."""
        tally = file.tally
        return cls(
            now=file.now,
            offset=offset,
            reached=reached,
            header=file.header,
            staged=staged,
            lost=tuple(sorted(file.lost)),
            failed=tally.failed,
            failures=tuple(tally.failures),
            flags=tuple(tally.flags),
            skipped=dict(tally.skipped),
            vectors=(tally.kept, tally.embedded),
            versions=tally.versions,
            moving=moving,
        )

    def incoming(self, target: SpaceRow, caller: Caller, generation: str | None, *, atomic: bool) -> Incoming:
        """Return the state that the modules of an import share."""
        kept, embedded = self.vectors
        tally = Tally(
            self.failed, list(self.failures), list(self.flags), Counter(self.skipped), kept, embedded, self.versions
        )
        return Incoming(
            target=target,
            caller=caller,
            now=self.now,
            atomic=atomic,
            dry_run=False,
            generation=generation,
            header=self.header,
            lost=set(self.lost),
            tally=tally,
        )

    def text(self) -> str:
        """Return the state as JSON."""
        return msgspec.json.encode(self).decode()


# Built at import: msgspec (0.22) analyses a type on first use, and crashes when several threads do that together.
_DECODER = msgspec.json.Decoder(Checkpoint)


def read(text: str) -> Checkpoint | None:
    """Return the state in a text that `Checkpoint.text` made; None for an empty one."""
    return _DECODER.decode(text) if text else None
