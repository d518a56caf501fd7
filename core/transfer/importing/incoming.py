"""What is known of a file that comes in, by all who handle it."""

from collections import Counter
from collections.abc import Sequence
from typing import cast

import msgspec

from muisti.core.identity.caller import Caller
from muisti.core.model.errors import InvalidInput, Problem
from muisti.core.model.imports import LineProblem
from muisti.core.model.outcomes import Flag
from muisti.core.model.values import Memory
from muisti.core.store.sql.spaces import SpaceRow
from muisti.core.transfer.records import Header, PassageRecord

TOLD = 100  # lines that a report names


class Item(msgspec.Struct, frozen=True):
    """A version from a line; `born` and `died` are numbers of the file."""

    line: int
    place: str | None
    memory: Memory
    born: int
    died: int | None
    passages: Sequence[PassageRecord] | None
    is_new: bool  # without a history, so that its birth is a change of now
    flags: tuple[Flag, ...] = ()
    gives_way: bool = False


class Tally(msgspec.Struct):
    """What has become of the lines so far; `kept` and `embedded` count vectors."""

    failed: int = 0
    failures: list[LineProblem] = msgspec.field(default_factory=list[LineProblem])
    flags: list[Flag] = msgspec.field(default_factory=list[Flag])
    skipped: Counter[str] = msgspec.field(default_factory=Counter[str])
    kept: int = 0
    embedded: int = 0
    versions: int = 0


class Incoming(msgspec.Struct):
    """A file on its way into a space; `now` in microseconds.

    `generation` is the model of the vectors that are kept, `lost` are the ids of memories of which a line is bad.
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
        """The header of a file that has begun."""
        return cast(Header, self.header)

    @property
    def top(self) -> int:
        """The last change of the file."""
        header = self.header
        return 0 if header is None or header.space is None else header.space.seq

    @property
    def is_restored(self) -> bool:
        """Whether the space becomes what that of the file was, history and all."""
        return not self.target.seq.number and self.header is not None and self.header.space is not None

    @property
    def is_refused(self) -> bool:
        """Whether nothing of it will come in, because a line is bad."""
        return self.tally.failed > 0 and self.atomic

    def fail(self, line: int, place: str | None, code: str, problems: Sequence[Problem]) -> None:
        """Note that a line cannot come in."""
        tally = self.tally
        tally.failed += 1
        if len(tally.failures) < TOLD:
            tally.failures.append(LineProblem(line, place, code, tuple(problems)))

    def flag(self, flags: Sequence[Flag]) -> None:
        """Note what is not stored as it was sent."""
        self.tally.flags += flags[: max(0, TOLD - len(self.tally.flags))]


class Broken(InvalidInput):
    """The file cannot be read any further."""
