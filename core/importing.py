"""Takes in a file of records: all of it or, when that is asked, what is good of it.

Lines come some at a time and are put into a space that nobody sees. When the last one is there, that is moved into the
space that it is for, in one transaction; where a database is remote and the file large, in steps, each of which shows
the space as it stood at some change of the file. Memory is bounded by a piece, whatever the size of the file.
"""

import math
import struct
import uuid
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import cast

from msgspec import structs

from core.caller import Caller
from core.embed import Encoder, check_model
from core.errors import (
    ChangedSince,
    Conflict,
    Forbidden,
    InvalidInput,
    ModelMismatch,
    MuistiError,
    NotFound,
    Problem,
    QuotaExceeded,
    StoreUnavailable,
    TooLarge,
)
from core.ids import id_bytes, id_text
from core.index.cache import Indexes
from core.prepare import DRAFT_FIELDS, distinct_tags, draft_of, ready
from core.reading import find_space
from core.records import (
    FORMAT,
    BadLine,
    ChangeLine,
    End,
    Header,
    Imported,
    ImportReport,
    LineProblem,
    MemoryLine,
    PassageRecord,
    Record,
    VersionLine,
    id_of,
    read_memory,
    read_record,
    read_vector,
)
from core.screening import Screener
from core.store import audit, imports, quotas, spaces
from core.store.database import Database, Refused, Rows, Statement
from core.store.imports import Staged
from core.store.memories import NewVersion, raw
from core.store.spaces import SpaceRow
from core.text import count_tokens
from core.times import DAY_US, from_us, to_us
from core.transactions import Call
from core.validate import check_draft
from core.values import LaterChange, Memory, Quota, Seq

PIECE = 200  # versions that are stored at once
PIECE_CHARACTERS = 2_000_000
TOLD = 100  # lines that a report names
REMOTE_MAX = 10_000  # versions that a remote database surely takes in one transaction
ANCIENT = -(1 << 55)  # microseconds; nothing expired before
_KIND = frozenset("abcdefghijklmnopqrstuvwxyz_")
_SCALES = struct.Struct("<2f")

Clock = Callable[[], int]


@dataclass(frozen=True, slots=True)
class _Item:
    """A version from a line; `born` and `died` are numbers of the file."""

    line: int
    place: str | None
    memory: Memory
    born: int
    died: int | None
    passages: Sequence[PassageRecord] | None
    is_new: bool  # without a history, so that its birth is a change of now


@dataclass(slots=True)
class _Tally:
    failed: int = 0
    failures: list[LineProblem] = field(default_factory=list[LineProblem])
    skipped: Counter[str] = field(default_factory=Counter[str])
    kept: int = 0
    embedded: int = 0
    versions: int = 0


class Importer:
    """Begins imports and takes them back. Thread-safe; `encoder` is None when embeddings are off."""

    def __init__(
        self,
        database: Database,
        indexes: Indexes,
        encoder: Encoder | None,
        quota: Quota,
        clock: Clock,
        screener: Screener,
    ) -> None:
        """`quota` is that of spaces without one."""
        self._database, self._indexes, self._encoder = database, indexes, encoder
        self._quota, self._clock, self._screener = quota, clock, screener

    def begin(self, space: str, caller: Caller, *, atomic: bool, dry_run: bool) -> "Import":
        """Make ready for the lines of a file.

        Raises:
            NotFound, ModelMismatch, Forbidden: the caller does not see the whole space.
        """
        _check_whole(caller)
        target = find_space(self._database, space)
        if self._encoder is not None and target.space.generation is not None:
            check_model(self._encoder, space, target.space.generation)
        self._clear_dead()
        return Import(self._database, self._indexes, self._encoder, self._quota, self._clock, target, caller,
            self._screener,
                      atomic=atomic, dry_run=dry_run)  # fmt: skip

    def known(self, space: str) -> list[Imported]:
        """The imports of a space, newest first."""
        (rows,) = self._database.read([imports.known(find_space(self._database, space))])
        return [_imported(row) for row in rows]

    def undo(self, space: str, import_id: int, caller: Caller, *, dry_run: bool = False) -> Imported:
        """Delete all that an import has brought, if nobody has changed any of it; for `dry_run` tell only how much.

        Raises:
            NotFound, ChangedSince, Forbidden.
            TooLarge: more than a remote database takes at once.
        """
        _check_whole(caller)
        row = find_space(self._database, space)
        found = next((one for one in self.known(space) if one.id == import_id), None)
        if found is None or found.undone is not None:
            raise NotFound("import", str(import_id), "" if found is None else "it is undone already")
        span = found.first, found.last
        later, living = self._database.read(
            [imports.changed_since(row, span, import_id), imports.living(row, span, import_id)]
        )
        if later:
            changed = cast(list[tuple[int, str, bytes, str | None]], later)
            raise ChangedSince([LaterChange(seq, kind, id_text(id_), actor) for seq, kind, id_, actor in changed])
        memories = cast(int, living[0][0])
        if not self._database.local and memories > REMOTE_MAX:
            raise TooLarge(f"the import brought {memories:,} memories; a remote database undoes {REMOTE_MAX:,} at once")
        if dry_run:
            return replace(found, memories=memories)
        now = self._clock()
        batch = imports.undo(row, span, import_id, memories, caller.actor, caller.request, now)
        told = audit.note(now, caller.actor, "import_undone", space=space, target=str(import_id))
        try:
            results = self._database.write([told, *batch])
        except Refused as refused:
            raise Conflict("others changed the same memories meanwhile; nothing was undone: try again") from refused
        seq = cast(int, results[-1][0][0])
        self._indexes.note(row, seq)
        return replace(found, undone=seq, memories=memories)

    def _clear_dead(self) -> None:
        """Take away what imports left behind that broke off with their process."""
        (rows,) = self._database.read([imports.dead(self._clock())])
        for staging_id, moved in cast(list[tuple[int, int]], rows):
            clear(self._database, staging_id, 0 if moved else None)


class Import:
    """One file that comes in. Used by one thread at a time; `finish` or `abandon` ends it."""

    def __init__(
        self,
        database: Database,
        indexes: Indexes,
        encoder: Encoder | None,
        quota: Quota,
        clock: Clock,
        target: SpaceRow,
        caller: Caller,
        screener: Screener,
        *,
        atomic: bool,
        dry_run: bool,
    ) -> None:
        self._database, self._indexes, self._encoder = database, indexes, encoder
        self._quota, self._clock, self._caller, self._screener = quota, clock, caller, screener
        self._atomic, self._dry_run = atomic, dry_run
        self._target = target
        self._now = clock()
        self._header: Header | None = None
        self._staged: Staged | None = None
        self._ended = self._moved = False
        self._lines = self._number = self._changed = 0
        self._items: list[_Item] = []
        self._changes: list[ChangeLine] = []
        self._size = 0
        self._lost: set[str] = set()  # memories of which a line is bad
        self._generation = None if encoder is None else encoder.identity
        self._tally = _Tally()

    def take(self, lines: Sequence[bytes]) -> None:
        """The next lines of the file.

        Raises:
            InvalidInput: from here on the file cannot be read.
        """
        for line in lines:
            self._lines += 1
            if line.strip():
                self._take(line)
            if len(self._items) + len(self._changes) // 2 >= PIECE or self._size >= PIECE_CHARACTERS:
                self._flush()

    def finish(self) -> ImportReport:
        """What has become of the file.

        Raises:
            InvalidInput: it is not whole, or lines of it are bad and it was to come in as a whole or not at all.
            Conflict, NotFound, ModelMismatch, QuotaExceeded, TooLarge: nothing came in.
        """
        if not self._ended:
            raise self._broken("the file ends here without its end: it is cut off")
        self._flush()
        staged = self._open()
        self._write(imports.touch(staged, self._clock()))
        for chunk in _chunks(sorted(self._lost)):
            self._write(imports.drop(staged, chunk))
        self._check_parents(staged)
        if self._tally.failed and self._atomic and not self._dry_run:
            raise InvalidInput([*map(_problem, self._tally.failures), *self._untold()])
        memories, versions = (cast(int, rows[0][0]) for rows in self._database.read(imports.sizes(staged)))
        if self._dry_run or not versions:
            self.abandon()
            return self._report(memories, versions, self._target.seq, None)
        try:
            seq = self._move(staged, versions)
        except Refused as refused:
            raise self._explained(refused) from refused
        self._indexes.drop(self._target.space.name)
        self._indexes.note(self._target, seq.number)
        with suppress(StoreUnavailable):  # it is in; what is left over is cleared by the next import
            clear(self._database, staged.space.id, memories)
        self._staged = None
        return self._report(memories, versions, seq, staged.id)

    def abandon(self) -> None:
        """Take back what was put aside. Harmless after `finish`."""
        staged, self._staged = self._staged, None
        if staged is not None:
            with suppress(StoreUnavailable):
                clear(self._database, staged.space.id, 0 if self._moved else None)

    def _take(self, line: bytes) -> None:
        place = None
        try:
            record = read_record(line)
            place = record.place if isinstance(record, MemoryLine | BadLine) else None
            self._check_order(record)
            self._accept(record)
        except _Broken:
            raise
        except InvalidInput as bad:
            if self._header is None:
                raise self._broken(f"this is no header of an export: {bad}") from None
            self._fail(self._lines, place, bad.code, bad.problems)

    def _check_order(self, record: Record) -> None:
        if self._ended:
            raise self._broken("there are lines behind the end")
        if (self._header is None) != isinstance(record, Header):
            raise self._broken('the first line, and no other, must be a header such as {"type": "muisti", …}')

    def _accept(self, record: Record) -> None:
        match record:
            case Header():
                self._begin(record)
            case ChangeLine():
                self._take_change(record)
            case VersionLine():
                self._take_version(record)
            case MemoryLine():
                self._take_memory(record)
            case BadLine():
                raise InvalidInput.at("$", record.message)
            case End():
                self._end(record)

    def _begin(self, header: Header) -> None:
        if header.format != FORMAT:
            raise self._broken(f"the file has format {header.format}; this Muisti reads format {FORMAT}")
        self._header = header
        if header.space is not None and not self._target.seq.number:
            settings = header.space.settings.settings()
            self._target = replace(self._target, space=replace(self._target.space, settings=settings))
        if self._encoder is None and header.space is not None:
            here = self._target.space.generation
            self._generation = header.space.generation if here in (None, header.space.generation) else None

    def _end(self, end: End) -> None:
        before = self._lines - 1
        if end.lines != before:
            raise self._broken(f"the end counts {end.lines:,} lines before it, and there are {before:,}")
        header = cast(Header, self._header)
        if header.counts is not None and header.counts.versions != self._tally.versions:
            raise self._broken(f"the header counts {header.counts.versions:,} versions, not {self._tally.versions:,}")
        self._ended = True

    def _take_change(self, line: ChangeLine) -> None:
        if line.seq <= self._changed or line.seq > self._top:
            raise InvalidInput.at("$.seq", _no_place(line.seq, self._changed, self._top))
        if not line.kind or not set(line.kind) <= _KIND:
            raise InvalidInput.at("$.kind", f"{line.kind!r} is no kind of change")
        if line.id is not None and id_bytes(line.id) is None:
            raise InvalidInput.at("$.id", f"{line.id[:80]!r} is no memory id")
        if line.at.tzinfo is None or to_us(line.at) > self._now + DAY_US:
            raise InvalidInput.at("$.at", "needs a time zone, as in 2026-05-01T12:00:00Z, and must have come")
        self._changed = line.seq
        self._changes.append(line)

    def _take_version(self, line: VersionLine) -> None:
        self._tally.versions += 1
        memory = self._read(line)
        if line.born <= self._number or line.born > self._top:
            raise InvalidInput.at("$.born", _no_place(line.born, self._number, self._top))
        if line.died is not None and not line.born < line.died <= self._top:
            raise InvalidInput.at("$.died", f"{line.died} is not between the birth and the {self._top} of the header")
        self._number = line.born
        self._add(_Item(self._lines, None, memory, line.born, line.died, line.passages, is_new=False))

    def _take_memory(self, line: MemoryLine) -> None:
        memory = self._read(line)
        self._number += 1
        self._add(_Item(self._lines, line.place, memory, self._number, None, None, is_new=True))

    def _add(self, item: _Item) -> None:
        self._items.append(item)
        self._size += len(item.memory.content)

    def _read(self, line: VersionLine | MemoryLine) -> Memory:
        try:
            memory = read_memory(line.memory, self._target.space.name, from_us(self._now))
            memory = self._screened(memory)
        except InvalidInput:
            if isinstance(line, VersionLine):
                self._lost.update(id_of(line.memory))
            raise
        tags = distinct_tags(memory.tags)
        return structs.replace(memory, tags=tags, tokens=count_tokens(memory.content))

    def _screened(self, memory: Memory) -> Memory:
        """The memory as the policy of the space lets it in.

        Raises:
            InvalidInput: it does not, or it is no memory that may be stored.
        """
        _check(memory)
        stated = draft_of(memory)
        draft = replace(stated, status="active") if memory.status == "superseded" else stated
        clean, _ = self._screener.screened(self._target, draft, Call(ANCIENT, None, self._caller))
        changes = {name: getattr(clean, name) for name in DRAFT_FIELDS if getattr(clean, name) != getattr(draft, name)}
        return structs.replace(memory, **changes)

    @property
    def _top(self) -> int:
        """The last change of the file."""
        header = self._header
        return 0 if header is None or header.space is None else header.space.seq

    def _flush(self) -> None:
        """Put aside what has been read."""
        items, changes, self._items, self._changes, self._size = self._items, self._changes, [], [], 0
        if not items and not changes or self._tally.failed and self._atomic and not self._dry_run:
            return
        staged = self._open()
        plan = self._plan(items, changes)
        chosen = [moved for item in items if (moved := plan.item(item)) is not None]
        self._stage(staged, self._free(chosen))
        rows = [imports.stage_change(staged, *values) for values in plan.changes(changes, self._is_restored)]
        if rows:
            self._write([*imports.touch(staged, self._clock()), *rows])

    @property
    def _is_restored(self) -> bool:
        """Whether the space becomes what that of the file was, history and all."""
        return not self._target.seq.number and self._header is not None and self._header.space is not None

    def _open(self) -> Staged:
        """The import in the database, begun with the first piece."""
        if self._staged is None:
            token, source = uuid.uuid4().hex, cast(Header, self._header).source
            batch = imports.begin(token, str(uuid.uuid4()), self._target, self._caller.actor, source, self._clock())
            *_, space_id, import_id = self._write(batch)
            space = replace(self._target, id=cast(int, space_id[0][0]))
            epoch = Statement("SELECT epoch FROM spaces WHERE id = ?", (space.id,))
            (found,) = self._database.read([epoch])
            space = replace(space, space=replace(space.space, epoch=cast(str, found[0][0])))
            self._staged = Staged(cast(int, import_id[0][0]), space, self._target)
        return self._staged

    def _plan(self, items: Sequence[_Item], changes: Sequence[ChangeLine]) -> "_Plan":
        ids = {item.memory.id for item in items} | {change.id for change in changes if change.id is not None}
        new = sorted({item.memory.id for item in items if item.is_new})
        ask = [imports.last_versions(self._target, chunk) for chunk in _chunks(sorted(ids))]
        found = self._database.read([*ask, imports.known_ids(self._open(), new)])
        return _Plan([row for rows in found[:-1] for row in rows], found[-1], self._lost, self._tally)

    def _free(self, items: Sequence[_Item]) -> list[_Item]:
        """Those whose address no other memory of the space has."""
        keyed = [item for item in items if item.died is None and _has_address(item.memory)]
        answers = self._database.read([imports.holder(self._target, item.memory) for item in keyed]) if keyed else []
        for item, rows in zip(keyed, answers, strict=True):
            if rows and rows[0][0] != raw(item.memory.id):
                other = id_text(cast(bytes, rows[0][0]))
                message = f"category and key belong to memory {other} of this space"
                self._lost.add(item.memory.id)
                self._fail(item.line, item.place, "address_taken", [Problem("$.key", message)])
        return [item for item in items if item.memory.id not in self._lost]

    def _stage(self, staged: Staged, items: Sequence[_Item]) -> None:
        """Store versions; when the database refuses them, one by one down to the one that it does not take."""
        if not items:
            return
        batch = list(imports.touch(staged, self._clock()))
        kept, embedded = self._tally.kept, self._tally.embedded
        for item, new in zip(items, self._prepared(items), strict=True):
            batch += imports.stage(staged, new, item.born, item.died, self._generation)
            if item.is_new:
                me, version = raw(item.memory.id), item.memory.version
                caller = self._caller
                values = ("created", me, version, self._now, caller.actor, caller.request, None)
                batch.append(imports.stage_change(staged, item.born, values))
        try:
            self._write([*self._register(), *batch])
        except Refused as refused:
            if refused.code != "constraint":
                raise
            self._tally.kept, self._tally.embedded = kept, embedded
            if len(items) == 1:
                item = items[0]
                if not item.is_new:
                    self._lost.add(item.memory.id)
                message = "the same id and version, or the same category and key, stand in an earlier line"
                self._fail(item.line, item.place, "address_taken", [Problem("$", message)])
                return
            middle = len(items) // 2
            self._stage(staged, items[:middle])
            self._stage(staged, items[middle:])

    def _prepared(self, items: Sequence[_Item]) -> list[NewVersion]:
        """Versions with their passages: with the vectors of the file where they are of the model, else embedded now."""
        bare = ready([item.memory for item in items], self._target, None)
        made = [self._with_vectors(item, new) for item, new in zip(items, bare, strict=True)]
        todo = [place for place, new in enumerate(made) if new is None]
        self._tally.embedded += sum(len(bare[place].passages or ()) for place in todo) if self._encoder else 0
        encoder = None if self._dry_run else self._encoder
        fresh = ready([items[place].memory for place in todo], self._target, encoder) if todo else []
        for place, new in zip(todo, fresh, strict=True):
            made[place] = new
        return [new for new in made if new is not None]

    def _with_vectors(self, item: _Item, new: NewVersion) -> NewVersion | None:
        """The version with the vectors that stand in its line, None when they are not there or of another model."""
        cut, told = new.passages or (), item.passages or ()
        if [(one.passage.start, one.passage.stop) for one in cut] != [(one.start, one.stop) for one in told]:
            return None
        header = cast(Header, self._header)
        name = next((name for name, one in header.generations.items() if one.hash == self._generation), None)
        if name is None or any(name not in one.vectors for one in told):
            return None
        dimensions = header.generations[name].dimensions
        vectors = [read_vector(one.vectors[name], dimensions) for one in told]
        if not all(map(_is_sound, vectors)):
            return None
        self._tally.kept += len(vectors)
        passages = [replace(one, vector=vector) for one, vector in zip(cut, vectors, strict=True)]
        return replace(new, passages=passages)

    def _register(self) -> list[Statement]:
        """See that the model of the vectors is known to the database."""
        if self._encoder is not None:
            encoder = self._encoder
            return [spaces.register_generation(encoder.identity, encoder.name, encoder.dimensions, self._now)]
        header = cast(Header, self._header)
        return [
            spaces.register_generation(one.hash, one.model, one.dimensions, self._now)
            for one in header.generations.values()
            if one.hash == self._generation
        ]

    def _check_parents(self, staged: Staged) -> None:
        """Parents must be there, and the parents of parents: without them, what is not to be whole goes without."""
        while True:
            (rows,) = self._database.read([imports.orphans(staged)])
            for memory_id, parent_id in cast(list[tuple[bytes, bytes]], rows):
                message = f"memory {id_text(memory_id)}: no memory {id_text(parent_id)} in the file or in this space"
                self._fail(0, None, "invalid_input", [Problem("$.parent_id", message)])
            if not rows or self._atomic:
                return
            self._write([imports.drop_orphans(staged)])

    def _move(self, staged: Staged, versions: int) -> Seq:
        step = versions if self._database.local else REMOTE_MAX
        if versions > step and self._atomic:
            raise TooLarge(
                f"the file has {versions:,} versions; a remote database takes {REMOTE_MAX:,} in one transaction: "
                "send atomic=false, and they come in step by step"
            )
        names = self._database.read([imports.columns(table) for table in imports.moved_tables()])
        columns = {
            table: [cast(str, row[0]) for row in rows]
            for table, rows in zip(imports.moved_tables(), names, strict=True)
        }
        restored = self._is_restored
        top, after, number = max(self._top, self._number), 0, 0
        while after < top:
            (rows,) = self._database.read([imports.step_end(staged, after, step)])
            end = cast(int | None, rows[0][0])
            (more,) = self._database.read([imports.step_end(staged, end, 1)]) if end else ([],)
            upto = end if end and more and more[0][0] is not None else top
            now = self._clock()
            batch = self._entrance(staged) if not after else [spaces.guard(self._target)]
            steps = imports.move(staged, (after, upto), columns, now, as_it_was=restored)
            results = self._write([*batch, *steps, *self._told(staged, now, last=upto == top)])
            number = cast(int, results[len(batch) + len(steps) - 1][0][0])
            self._moved = True
            if not after:
                self._target = find_space(self._database, self._target.space.name)
            after = upto
        return Seq(self._target.space.epoch, number)

    def _entrance(self, staged: Staged) -> list[Statement]:
        """What must hold of the space that it is moved into, and what becomes of it first."""
        target = staged.target
        guards = [spaces.guard(target)]
        if self._generation is not None and self._tally.kept + self._tally.embedded:
            guards = [spaces.adopt_generation(target, self._generation), spaces.guard_model(target, self._generation)]
        if self._is_restored:
            space = cast(Header, self._header).space
            assert space is not None
            settings = spaces.settings_text(space.settings.settings())
            guards += imports.take_over(staged, str(uuid.uuid4()), settings, to_us(space.created_at), space.kept_from)
        return guards

    def _told(self, staged: Staged, now: int, *, last: bool) -> list[Statement]:
        if not last:
            return []
        name, actor = self._target.space.name, self._caller.actor
        return [
            quotas.refuse_more(self._target, self._quota),
            audit.note(now, actor, "memories_imported", space=name, target=str(staged.id)),
        ]

    def _write(self, batch: Sequence[Statement]) -> list[Rows]:
        try:
            return self._database.write(batch)
        except Refused as refused:
            if refused.code == "no_space":
                raise Conflict("the space was made anew meanwhile, or the import took too long; try again") from refused
            raise

    def _explained(self, refused: Refused) -> MuistiError:
        name = self._target.space.name
        if refused.code == "quota_exceeded":
            (rows,) = self._database.read([quotas.usage(self._target, self._quota)])
            return QuotaExceeded(name, quotas.used(rows[0]) if rows else None)
        if refused.code == "model_mismatch":
            return ModelMismatch(f"space {name!r} was embedded by another model meanwhile; nothing was imported")
        return Conflict(f"space {name!r} changed while the file was read, and they do not go together; try again")

    def _fail(self, line: int, place: str | None, code: str, problems: Sequence[Problem]) -> None:
        tally = self._tally
        tally.failed += 1
        if len(tally.failures) < TOLD:
            tally.failures.append(LineProblem(line, place, code, tuple(problems)))

    def _untold(self) -> Iterator[Problem]:
        more = self._tally.failed - len(self._tally.failures)
        if more:
            yield Problem("$", f"{more:,} lines more are bad")

    def _broken(self, message: str) -> "_Broken":
        path = f"$.lines[{self._lines}]"
        return _Broken([Problem(path, f"line {self._lines:,}: {message}")])

    def _report(self, memories: int, versions: int, seq: Seq, import_id: int | None) -> ImportReport:
        tally, header = self._tally, cast(Header, self._header)
        return ImportReport(
            id=import_id,
            dry_run=self._dry_run,
            source=header.source,
            created=memories,
            versions=versions,
            skipped=dict(tally.skipped),
            failed=tally.failed,
            failures=tuple(tally.failures),
            vectors_kept=tally.kept,
            vectors_embedded=tally.embedded,
            origin=None if header.space is None else Seq(header.space.epoch, header.space.seq),
            seq=seq,
        )


class _Broken(InvalidInput):
    """The file cannot be read any further."""


class _Plan:
    """What is to be done with the memories of a piece, given what the database has of them already."""

    def __init__(self, rows: Rows, staged: Rows, lost: set[str], tally: _Tally) -> None:
        """`staged` are the ids of new memories that came in an earlier piece."""
        self._lost, self._tally = lost, tally
        self._twice = {id_text(cast(bytes, row[0])) for row in staged}
        self._known: Mapping[str, tuple[int, int, int, int]] = {
            id_text(cast(bytes, row[0])): cast(tuple[int, int, int, int], row[1:]) for row in rows
        }

    def item(self, item: _Item) -> _Item | None:
        """The item as it is to be stored, None when it is passed over."""
        reason = self._passed(item.memory.id)
        if reason is None and item.is_new:
            reason = "twice" if item.memory.id in self._twice else None
            self._twice.add(item.memory.id)
        if reason is None:
            version = item.memory.version + self._shift(item.memory.id)
            return replace(item, memory=structs.replace(item.memory, version=version))
        if item.died is None and reason != "failed":
            self._tally.skipped[reason] += 1
        return None

    def changes(
        self, changes: Sequence[ChangeLine], is_restored: bool
    ) -> Iterator[tuple[int, tuple[str | int | bytes | None, ...]]]:
        """The number and the values of the changes that are to be stored."""
        for one in changes:
            if one.id is None:
                if is_restored:
                    yield one.seq, (one.kind, None, None, to_us(one.at), one.actor, one.request, one.undone)
            elif self._passed(one.id) is None:
                version = None if one.version is None else one.version + self._shift(one.id)
                values = (one.kind, raw(one.id), version, to_us(one.at), one.actor, one.request, one.undone)
                yield one.seq, values

    def _passed(self, memory_id: str) -> str | None:
        """Why a memory is passed over, if it is."""
        if memory_id in self._lost:
            return "failed"
        if memory_id not in self._known:
            return None
        is_own, _, lives, was_undone = self._known[memory_id]
        if not is_own:
            return "elsewhere"
        if lives:
            return "exists"
        return None if was_undone else "deleted"

    def _shift(self, memory_id: str) -> int:
        """The number of its last version, for a memory that was here and was undone."""
        return self._known[memory_id][1] if memory_id in self._known else 0


def clear(database: Database, staging_id: int, memories: int | None) -> None:
    """Delete a staging space; of an import that has brought `memories`, None when it has come to nothing."""
    while True:
        *_, left = database.write(imports.clear(staging_id))
        if not left[0][0]:
            break
    database.write(imports.end(staging_id, memories))


def _check_whole(caller: Caller) -> None:
    if not caller.sees_all:
        raise Forbidden("a whole space is moved by keys that see all of it, in every category")
    if caller.source_class is not None:
        raise Forbidden("a file says where its memories come from, and this key may not say that of all sources")


def _check(memory: Memory) -> None:
    """Raise `InvalidInput` when a memory of a file may not be stored."""
    draft = draft_of(memory)
    is_superseded = memory.status == "superseded"
    if is_superseded != (memory.superseded_by is not None):
        raise InvalidInput.at("$.status", "superseded and superseded_by go together")
    check_draft(replace(draft, status="active") if is_superseded else draft, ANCIENT)
    if not 1 <= memory.version < 1 << 31:
        raise InvalidInput.at("$.version", f"{memory.version} is no number of a version")


def _no_place(number: int, last: int, top: int) -> str:
    return f"{number} is not between the {last} before and the {top} of the header"


def _has_address(memory: Memory) -> bool:
    return memory.key is not None and memory.superseded_by is None


def _is_sound(vector: bytes) -> bool:
    """Whether the scales of a stored vector are such as a unit vector has."""
    return all(math.isfinite(scale) and 0 <= scale <= 1 for scale in _SCALES.unpack_from(vector))


def _problem(bad: LineProblem) -> Problem:
    """The first problem of a line, which the path names."""
    first = bad.problems[0]
    path = f"$.lines[{bad.line}]{first.path[1:]}" if bad.line else first.path
    where = f"line {bad.line:,}" + (f" ({bad.place})" if bad.place else "") if bad.line else "file"
    return Problem(path, f"{where}: {first.message}")


def _chunks(ids: Sequence[str]) -> Iterator[Sequence[str]]:
    for start in range(0, len(ids), 500):
        yield ids[start : start + 500]


def _imported(row: Sequence[object]) -> Imported:
    id_, source, actor, at, memories, first, last, undone = cast(
        tuple[int, str | None, str, int, int, int, int, int | None], row
    )
    return Imported(id_, source, actor, from_us(at), memories, first, last, undone)
