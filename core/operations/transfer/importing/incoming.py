"""State of an import, shared by all modules that handle the file."""

from collections import Counter
from collections.abc import Sequence
from typing import cast

import msgspec

from muisti.core.identity.caller import Caller
from muisti.core.model.errors import InvalidInput, Problem
from muisti.core.model.imports import LineProblem
from muisti.core.model.outcomes import Flag
from muisti.core.model.values import Memory
from muisti.core.operations.transfer.records import Header, PassageRecord
from muisti.core.store.sql.spaces import SpaceRow

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
