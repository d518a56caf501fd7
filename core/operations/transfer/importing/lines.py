"""Read and validate the lines of a file in their order, each alone and against earlier ones."""

from collections import Counter
from collections.abc import Sequence
from typing import cast

import msgspec
from msgspec import Struct, structs
from msgspec.structs import replace

from muisti.core.embedding.models import Models
from muisti.core.identity.caller import Caller
from muisti.core.model.errors import InvalidInput, Problem
from muisti.core.model.ids import id_bytes
from muisti.core.model.operations import LineProblem
from muisti.core.model.outcomes import Flag
from muisti.core.model.times import DAY_US, from_us, to_us
from muisti.core.model.values import Memory
from muisti.core.operations.transfer.records import (
    FORMAT,
    READABLE,
    BadLine,
    ChangeLine,
    End,
    Header,
    MemoryLine,
    PassageRecord,
    Record,
    TelemetryLine,
    VersionLine,
    id_of,
    read_memory,
    read_record,
    read_vector,
)
from muisti.core.store.sql.spaces import SpaceRow
from muisti.core.text.terms import count_tokens
from muisti.core.write.calls import Call
from muisti.core.write.intake import Intake
from muisti.core.write.prepare import distinct_tags, draft_of
from muisti.core.write.validate import check_draft

# State of an import, shared by all modules that handle the file

LISTED = 100  # lines that a report lists


class Item(msgspec.Struct, frozen=True):
    """A version from a line. `born` and `died` are change numbers of the file."""

    line: int
    place: str | None
    memory: Memory
    born: int
    died: int | None
    passages: Sequence[PassageRecord] | None
    is_new: bool  # without a history, so that it is added as a change of now
    flags: tuple[Flag, ...] = ()
    gives_way: bool = False


class Tally(msgspec.Struct):
    """Counts of the lines so far. `kept` and `embedded` count vectors."""

    failed: int = 0
    failures: list[LineProblem] = msgspec.field(default_factory=list[LineProblem])
    flags: list[Flag] = msgspec.field(default_factory=list[Flag])
    skipped: Counter[str] = msgspec.field(default_factory=Counter[str])
    kept: int = 0
    embedded: int = 0
    versions: int = 0


class Incoming(msgspec.Struct):
    """State of an import. `now` is in microseconds.

    `generation` is the model of the vectors that are kept. `lost` are ids of memories with a bad line.
    """

    target: SpaceRow
    caller: Caller
    now: int
    atomic: bool
    dry_run: bool
    generation: str | None
    header: Header | None = None
    lost: set[str] = msgspec.field(default_factory=set[str])
    tally: Tally = msgspec.field(default_factory=Tally)

    @property
    def opened(self) -> Header:
        """Header of the file, which must have been read."""
        return cast(Header, self.header)

    @property
    def top(self) -> int:
        """Number of the last change in the file."""
        header = self.header
        return 0 if header is None or header.space is None else header.space.seq

    @property
    def is_restored(self) -> bool:
        """Return whether the file restores a whole space, with its history, into an empty one."""
        return not self.target.seq.number and self.header is not None and self.header.space is not None

    @property
    def is_refused(self) -> bool:
        """Return whether nothing is imported, because a line is bad."""
        return self.tally.failed > 0 and self.atomic

    def fail(self, line: int, place: str | None, code: str, problems: Sequence[Problem]) -> None:
        """Record that a line cannot be imported."""
        tally = self.tally
        tally.failed += 1
        if len(tally.failures) < LISTED:
            tally.failures.append(LineProblem(line, place, code, tuple(problems)))

    def flag(self, flags: Sequence[Flag]) -> None:
        """Record what is stored differently from what was sent."""
        self.tally.flags += flags[: max(0, LISTED - len(self.tally.flags))]


class Broken(InvalidInput):
    """The rest of the file cannot be read."""


PIECE = 200  # versions in one batch
PIECE_BYTES = 4_000_000  # of lines
ANCIENT = -(1 << 55)  # microseconds; nothing expired before
_KIND = frozenset("abcdefghijklmnopqrstuvwxyz_")


class Reached(Struct, frozen=True):
    """Progress of a reader: lines, the change numbers of the last version and change, and whether the end was read."""

    lines: int = 0
    last: int = 0
    changed: int = 0
    ended: bool = False


START = Reached()


class Lines:
    """Reader of lines. Versions wait in it until `taken` is called."""

    def __init__(self, file: Incoming, intake: Intake, models: Models, reached: Reached = START) -> None:
        """`reached` is where an import that broke off goes on."""
        self._file, self._intake, self._models = file, intake, models
        self.last = reached.last  # change number of the last line, from the file or counted
        self._ended = reached.ended
        self._lines, self._changed = reached.lines, reached.changed
        self._items: list[Item] = []
        self._changes: list[ChangeLine] = []
        self._telemetry: list[TelemetryLine] = []
        self._size = 0

    @property
    def is_full(self) -> bool:
        """Return whether enough versions wait to be staged."""
        lines = len(self._items) + (len(self._changes) + len(self._telemetry)) // 2
        return lines >= PIECE or self._size >= PIECE_BYTES

    @property
    def reached(self) -> Reached:
        """Progress of the reader."""
        return Reached(self._lines, self.last, self._changed, self._ended)

    def read(self, line: bytes) -> None:
        """Read the next line of the file.

        Raises:
            Broken: the rest of the file cannot be read.
        """
        self._lines += 1
        if line.strip():
            self._take(line)

    def taken(self) -> tuple[list[Item], list[ChangeLine], list[TelemetryLine]]:
        """Return the waiting versions, changes and telemetry, and empty the queue."""
        waiting = self._items, self._changes, self._telemetry
        self._items, self._changes, self._telemetry, self._size = [], [], [], 0
        return waiting

    def check_whole(self) -> None:
        """Raise `Broken` unless the last line was read."""
        if not self._ended:
            raise self._broken("the file has no last line: it is truncated")

    def _take(self, line: bytes) -> None:
        place = None
        try:
            record = read_record(line)
            place = record.place if isinstance(record, MemoryLine | BadLine) else None
            self._check_order(record)
            self._accept(record)
            self._size += len(line)
        except Broken:
            raise
        except InvalidInput as bad:
            if self._file.header is None:
                raise self._broken(f"this is no header of an export: {bad}") from None
            self._file.fail(self._lines, place, bad.code, bad.problems)

    def _check_order(self, record: Record) -> None:
        if self._ended:
            raise self._broken("there are lines after the last record")
        if (self._file.header is None) != isinstance(record, Header):
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
            case TelemetryLine():
                self._take_telemetry(record)
            case BadLine():
                raise InvalidInput.at("$", record.message)
            case End():
                self._end(record)

    def _begin(self, header: Header) -> None:
        if header.format not in READABLE:
            raise self._broken(f"the file has format {header.format}; this Muisti reads formats up to {FORMAT}")
        self._file.header = header
        if header.space is not None and not self._file.target.seq.number:
            settings = header.space.settings.settings()
            self._file.target = replace(self._file.target, space=replace(self._file.target.space, settings=settings))
        if header.space is not None and self._file.target.space.generation is None:
            self._choose(header.space.generation)

    def _choose(self, generation: str | None) -> None:
        """Let a space without a model take that of the file, unless this process must embed and does not have it."""
        file = self._file
        if generation is not None and (self._models.default is None or self._models.of(generation) is not None):
            file.generation = generation
            file.target = replace(file.target, space=replace(file.target.space, generation=generation))

    def _end(self, end: End) -> None:
        before = self._lines - 1
        if end.lines != before:
            raise self._broken(f"the end counts {end.lines:,} lines before it, and there are {before:,}")
        header = self._file.opened
        if header.counts is not None and header.counts.versions != self._file.tally.versions:
            raise self._broken(
                f"the header counts {header.counts.versions:,} versions, not {self._file.tally.versions:,}"
            )
        self._ended = True

    def _take_change(self, line: ChangeLine) -> None:
        if line.seq <= self._changed or line.seq > self._file.top:
            raise InvalidInput.at("$.seq", _no_place(line.seq, self._changed, self._file.top))
        if not line.kind or not set(line.kind) <= _KIND:
            raise InvalidInput.at("$.kind", f"{line.kind!r} is no kind of change")
        if line.id is not None and id_bytes(line.id) is None:
            raise InvalidInput.at("$.id", f"{line.id[:80]!r} is no memory id")
        if line.at.tzinfo is None or to_us(line.at) > self._file.now + DAY_US:
            raise InvalidInput.at(
                "$.at", "needs a time zone, as in 2026-05-01T12:00:00Z, and must not be in the future"
            )
        self._changed = line.seq
        self._changes.append(line)

    def _take_version(self, line: VersionLine) -> None:
        self._file.tally.versions += 1
        memory, flags = self._read(line)
        if line.born <= self.last or line.born > self._file.top:
            raise InvalidInput.at("$.born", _no_place(line.born, self.last, self._file.top))
        if line.died is not None and not line.born < line.died <= self._file.top:
            raise InvalidInput.at("$.died", f"{line.died} is not between born and the {self._file.top} of the header")
        self.last = line.born
        self._add(Item(self._lines, None, memory, line.born, line.died, line.passages, is_new=False, flags=flags))

    def _take_memory(self, line: MemoryLine) -> None:
        memory, flags = self._read(line)
        self.last += 1
        gives_way = line.gives_way
        self._add(
            Item(self._lines, line.place, memory, self.last, None, None, is_new=True, flags=flags, gives_way=gives_way)
        )

    def _take_telemetry(self, line: TelemetryLine) -> None:
        if id_bytes(line.id) is None:
            raise InvalidInput.at("$.id", f"{line.id[:80]!r} is no memory id")
        if line.last_retrieved_at.tzinfo is None:
            raise InvalidInput.at("$.last_retrieved_at", "needs a time zone, as in 2026-05-01T12:00:00Z")
        self._telemetry.append(line)

    def _add(self, item: Item) -> None:
        self._items.append(item)

    def _read(self, line: VersionLine | MemoryLine) -> tuple[Memory, tuple[Flag, ...]]:
        try:
            memory = read_memory(line.memory, self._file.target.space.name, from_us(self._file.now))
            memory, flags = self._accepted(memory)
            if isinstance(line, VersionLine):
                self._check_vectors(line.passages or ())
        except InvalidInput:
            if isinstance(line, VersionLine):
                self._file.lost.update(id_of(line.memory))
            raise
        tags = distinct_tags(memory.tags)
        return structs.replace(memory, tags=tags, tokens=count_tokens(memory.content)), flags

    def _check_vectors(self, passages: Sequence[PassageRecord]) -> None:
        """Raise `InvalidInput` when a vector does not fit its generation."""
        generations = self._file.opened.generations
        for passage in passages:
            for name, text in passage.vectors.items():
                if name in generations:
                    read_vector(text, generations[name].dimensions)

    def _accepted(self, memory: Memory) -> tuple[Memory, tuple[Flag, ...]]:
        """Return the memory as the policy of the space accepts it, and flags for redacted text.

        Echoes are checked later, when it is known which memories the space has already.

        Raises:
            InvalidInput: the policy refuses the memory, or it is invalid.
        """
        _check(memory)
        call, path = Call(self._file.now, None, self._file.caller), f"$.lines[{self._lines}]"
        try:
            return self._intake.brought(self._file.target, memory, None, call, path, is_new=False)
        except InvalidInput as refusal:  # the line is named beside its problems
            problems = [Problem("$" + one.path.removeprefix(path), one.message) for one in refusal.problems]
            raise type(refusal)(problems) from None

    def _broken(self, message: str) -> Broken:
        path = f"$.lines[{self._lines}]"
        return Broken([Problem(path, f"line {self._lines:,}: {message}")])


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
