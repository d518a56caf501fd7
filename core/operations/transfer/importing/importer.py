"""The interface of imports to the engine: begin, list and undo them."""

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import nullcontext, suppress
from hashlib import sha256
from math import inf

import msgspec

from muisti.core.identity.caller import Caller
from muisti.core.index.cache import Indexes
from muisti.core.model.errors import TAKE_THE_REST, Conflict, Forbidden, Problem, StoreUnavailable
from muisti.core.model.operations import Imported, ImportRefused, ImportReport, LineProblem
from muisti.core.model.values import Seq
from muisti.core.operations.transfer.importing.lines import Incoming, Lines, Reached
from muisti.core.operations.transfer.importing.moving import (
    Begun,
    Checkpoint,
    Move,
    Moving,
    OfStep,
    clear_dead,
    stop_imports,
)
from muisti.core.operations.transfer.importing.staging import Staging
from muisti.core.read.reading import find_space
from muisti.core.store.sql import imports
from muisti.core.store.sql.imports import TOP
from muisti.core.store.sql.spaces import SpaceRow
from muisti.core.tasks.claim import UNFENCED
from muisti.core.write.calls import Call
from muisti.core.write.import_undo import ImportUndoer
from muisti.core.write.intake import Intake
from muisti.core.write.transactions import Transactions

Clock = Callable[[], int]


class Importer(msgspec.Struct, frozen=True):
    """Begin and undo imports. Instances are thread-safe."""

    store: Transactions
    intake: Intake
    clock: Clock

    def begin(self, space: str, caller: Caller, *, atomic: bool, dry_run: bool, digest: str | None = None) -> "Import":
        """Begin an import. With the `digest` of its file, go on where a process that was killed came in the same file.

        Raises:
            NotFound: there is no such space.
            Forbidden: the caller does not see the whole space.
        """
        target = self.check(space, caller)
        now = self.clock()
        token = None if digest is None or dry_run else _token(target, caller, digest, atomic=atomic)
        if token is not None:
            self._clear_moved(token)
            self.store.database.write(imports.keep(token, now))
        clear_dead(self.store.database, now)
        file = Incoming(
            target=target,
            caller=caller,
            now=now,
            atomic=atomic,
            dry_run=dry_run,
            generation=self._generation(target),
        )
        return self._over(file, Reached(), token)

    def _clear_moved(self, token: str) -> None:
        """End an import of a process that was killed while it moved: what it has moved is in the space."""
        (rows,) = self.store.database.read([imports.left_behind(token)])
        if not rows:
            stop_imports(self.store.database, imports.of_token(token))

    def check(self, space: str, caller: Caller) -> SpaceRow:
        """Return the space of an import that the caller may begin.

        Raises:
            NotFound: there is no such space.
            Forbidden: the caller does not see the whole space.
        """
        _check_whole(caller)
        return find_space(self.store.database, space)

    def resume(
        self, space: str, caller: Caller, checkpoint: Checkpoint | None, token: str, *, atomic: bool
    ) -> "Import":
        """Go on with an import from a checkpoint, or begin it; `token` is that of its hidden space.

        What was staged after the checkpoint is deleted, and a process that still stages is refused from now on.

        Raises:
            NotFound, Forbidden.
            Conflict: memories of the file were erased meanwhile.
        """
        if checkpoint is None:
            self.check(space, caller)
            stop_imports(self.store.database, imports.of_token(token))
            checkpoint = Checkpoint(now=self.clock())
        target = find_space(self.store.database, space)
        file = checkpoint.incoming(target, caller, self._generation(target), atomic=atomic)
        found = self._over(file, checkpoint.reached, token)
        found.go_on(checkpoint)
        return found

    def _generation(self, target: SpaceRow) -> str | None:
        """Return the model whose vectors an import keeps."""
        default = self.store.models.inline(None)
        return target.space.generation or (None if default is None else default.identity)

    def clear(self) -> None:
        """Delete what imports of ended processes and ended tasks left behind."""
        clear_dead(self.store.database, self.clock())

    def _over(self, file: Incoming, reached: Reached, token: str | None) -> "Import":
        return Import(
            file,
            Lines(file, self.intake, self.store.models, reached),
            Staging(file, self.store.database, self.store.models, self.clock, self.intake, token),
            Move(file, self.store.database, self.store.quota, self.clock),
            self.store.indexes,
        )

    def known(self, space: str) -> list[Imported]:
        """Return the imports of a space, newest first."""
        return ImportUndoer(self.store).known(find_space(self.store.database, space))

    def undo(self, space: str, import_id: int, call: Call) -> Imported:
        """Delete all memories of an import, if none was changed since. A dry run only counts them.

        Raises:
            NotFound, ChangedSince, Conflict, Forbidden.
            TooLarge: a remote database cannot delete so many in one transaction.
        """
        _check_whole(call.caller)
        return ImportUndoer(self.store).undo(space, import_id, call)


class Import:
    """The import of one file, used by one thread at a time. `finish` or `abandon` ends it."""

    def __init__(self, file: Incoming, lines: Lines, staging: Staging, move: Move, indexes: Indexes) -> None:
        self._file, self._lines, self._staging, self._move, self._indexes = file, lines, staging, move, indexes
        self._id: int | None = None  # of an import that another process has begun

    def take(self, lines: Sequence[bytes]) -> None:
        """Read the next lines of the file.

        Raises:
            InvalidInput: the rest of the file cannot be read.
        """
        for line in lines:
            self.take_one(line)

    def take_one(self, line: bytes) -> bool:
        """Read the next line, and return whether all lines until now are staged.

        Raises:
            InvalidInput: the rest of the file cannot be read.
        """
        self._lines.read(line)
        if self._lines.is_full:
            self._flush()
            return True
        return False

    def checkpoint(self, offset: int, moving: Moving | None = None) -> Checkpoint:
        """Return the state after all lines until byte `offset` were staged."""
        staged = self._staging.staged
        where = None if staged is None else (staged.id, staged.space.id)
        return Checkpoint.of(self._file, self._lines.reached, offset, where, moving)

    def go_on(self, checkpoint: Checkpoint) -> None:
        """Take over what another process has staged until a checkpoint."""
        if checkpoint.staged is None:
            return
        self._id, _ = checkpoint.staged
        is_moved = checkpoint.moving is not None and checkpoint.moving.is_over
        with suppress(Conflict) if is_moved else nullcontext():  # the hidden space may have been deleted already
            self._staging.go_on(*checkpoint.staged, TOP if checkpoint.moving else checkpoint.reached.last)

    def close(self) -> Moving:
        """Complete the staging after the last line, and return what is to be moved.

        Raises:
            InvalidInput: the file is incomplete.
            ImportRefused: lines are bad, and the caller asked for all or nothing.
        """
        self._lines.check_whole()
        self._flush()
        _, memories, versions = self._staging.close()
        if self._file.is_refused:
            raise self._refused(memories)
        return Moving(memories, versions, max(self._file.top, self._lines.last), Begun(self._file.is_restored))

    def move(self, moving: Moving, fenced: OfStep = lambda begun: UNFENCED) -> ImportReport:
        """Move what is staged into the space, from where an earlier process has come, and report the import.

        Raises:
            Conflict, NotFound, ModelMismatch, QuotaExceeded, TooLarge, TaskOver.
        """
        staged, file = self._staging.staged, self._file
        seq = file.target.seq
        if staged is not None and moving.versions:
            seq = self._move.run(staged, moving.versions, self._lines.last, moving.begun, fenced)
            self._indexes.drop(file.target.space.name)
            self._indexes.note(file.target, seq.number)
        with suppress(StoreUnavailable):  # the import is done; the next one deletes the remains
            self._staging.clear(moving.memories if moving.versions else None)
        import_id = self._id if staged is None else staged.id
        return _report(
            file, (moving.memories, moving.memories), moving.versions, seq, import_id if moving.versions else None
        )

    def finish(self) -> ImportReport:
        """Complete the import and report it. A dry run returns and raises what the import would.

        Raises:
            InvalidInput: the file is incomplete.
            ImportRefused: lines are bad, and the caller asked for all or nothing.
            Conflict, NotFound, ModelMismatch, QuotaExceeded, TooLarge: nothing was imported.
        """
        moving, file, staged = self.close(), self._file, self._staging.staged
        if not file.dry_run:
            return self.move(moving)
        if staged is not None and moving.versions:
            self._move.check(staged, moving.versions, self._lines.last)
        self.abandon()
        return _report(file, (moving.memories, moving.memories), moving.versions, file.target.seq, None)

    def abandon(self) -> None:
        """Delete the staged lines. Harmless after `finish`."""
        with suppress(StoreUnavailable):
            self._staging.clear(0 if self._move.has_begun else None)

    def _refused(self, memories: int) -> ImportRefused:
        file = self._file
        report = _report(file, (0, memories), 0, file.target.seq, None)
        return ImportRefused([*map(_problem, _in_order(file.tally.failures)), *_untold(file)], report)

    def _flush(self) -> None:
        """Stage the lines that were read."""
        self._staging.add(*self._lines.taken())


def _token(target: SpaceRow, caller: Caller, digest: str, *, atomic: bool) -> str:
    """Return the token of all imports of a file into a space that would store the same."""
    parts = (target.id, atomic, caller.actor, sorted(caller.allows), digest)
    return sha256(repr(parts).encode()).hexdigest()


def _check_whole(caller: Caller) -> None:
    if not caller.sees_all:
        raise Forbidden("export and import need a key that sees the whole space, in every category")
    if caller.source_class is not None:
        raise Forbidden("a file states the source class of its memories, which this key may not set")


def _report(file: Incoming, memories: tuple[int, int], versions: int, seq: Seq, import_id: int | None) -> ImportReport:
    """Return the report. `memories` are the numbers that were imported and that could be."""
    tally, header = file.tally, file.opened
    return ImportReport(
        id=import_id,
        dry_run=file.dry_run,
        source=header.source,
        created=memories[0],
        good=memories[1],
        versions=versions,
        skipped=dict(tally.skipped + Counter(header.left_out or {})),
        failed=tally.failed,
        failures=tuple(_in_order(tally.failures)),
        flags=tuple(tally.flags),
        vectors_kept=tally.kept,
        vectors_embedded=tally.embedded,
        origin=None if header.space is None else Seq(header.space.epoch, header.space.seq),
        seq=seq,
    )


def _in_order(failures: Sequence[LineProblem]) -> list[LineProblem]:
    """Return failures by line, those without a line last."""
    return sorted(failures, key=lambda one: one.line or inf)


def _problem(bad: LineProblem) -> Problem:
    """Return the first problem of a line, with the line in its path."""
    first = bad.problems[0]
    path = f"$.lines[{bad.line}]{first.path[1:]}" if bad.line else first.path
    where = f"line {bad.line:,}" + (f" ({bad.place})" if bad.place else "") if bad.line else "file"
    return Problem(path, f"{where}: {first.message}")


def _untold(file: Incoming) -> Iterator[Problem]:
    """Count the bad lines that are not listed, and say how to import the good ones."""
    more = file.tally.failed - len(file.tally.failures)
    if more:
        yield Problem("$", f"{more:,} more lines are bad")
    yield Problem("$", f"nothing was imported, not even the good lines; {TAKE_THE_REST}")
