"""Imports: what became of the lines of a file, and what a space knows of the files that came in."""

from collections.abc import Mapping, Sequence
from datetime import datetime

from msgspec import Struct

from muisti.core.model.errors import InvalidInput, Problem
from muisti.core.model.outcomes import Flag
from muisti.core.model.values import Seq


class LineProblem(Struct, frozen=True):
    """A line that cannot come in, counted from 1, and where it stood before; 0 when it is not one line."""

    line: int
    place: str | None
    code: str
    problems: tuple[Problem, ...]


class ImportReport(Struct, frozen=True, kw_only=True):
    """What became of a file. `created` and `skipped`, by reason, count memories, `versions` what they came with.

    `id` is None when nothing came in. `good` counts the memories that may come in; of a file that is refused because of
    its bad lines none does. `failures` are the first of the `failed` lines, in their order, and `flags` the first of
    what is not stored as the lines have it. `origin` is the point of history that the file shows, `seq` the one that
    the space is at.
    """

    id: int | None
    dry_run: bool
    source: str | None
    created: int
    good: int
    versions: int
    skipped: Mapping[str, int]
    failed: int
    failures: tuple[LineProblem, ...]
    vectors_kept: int
    vectors_embedded: int
    origin: Seq | None
    seq: Seq
    flags: tuple[Flag, ...] = ()


class Imported(Struct, frozen=True):
    """An import of a space: what it came from, who made it, and its changes, `first` to `last`. `undone`: by which."""

    id: int
    source: str | None
    actor: str
    at: datetime
    memories: int
    first: int
    last: int
    undone: int | None


class ImportRefused(InvalidInput):
    """Lines of a file are bad, and all of it was to come in or nothing. `report` says what each line came to."""

    def __init__(self, problems: Sequence[Problem], report: ImportReport) -> None:
        super().__init__(problems)
        self.report = report
