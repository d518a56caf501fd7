"""Imports: reports on the lines of a file, and the record that a space keeps of each import."""

from collections.abc import Mapping, Sequence
from datetime import datetime

from msgspec import Struct

from muisti.core.model.errors import InvalidInput, Problem
from muisti.core.model.outcomes import Flag
from muisti.core.model.values import Seq


class LineProblem(Struct, frozen=True):
    """A line that cannot be imported, counted from 1; 0 when the problem is not in one line.

    `place` is where the memory came from in its original source.
    """

    line: int
    place: str | None
    code: str
    problems: tuple[Problem, ...]


class ImportReport(Struct, frozen=True, kw_only=True):
    """A report of importing a file.

    `created` counts memories, `skipped` counts memories by reason, and `versions` counts the imported versions. `id` is
    None when nothing was imported. `good` counts the memories that could be imported, also when bad lines made the
    whole file be refused. `failures` are the first of the `failed` lines, in their order. `flags` are the first of the
    differences between the lines and what was stored. `origin` is the point of history that the file shows; `seq` is
    the last change of the space.
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
    """An import into a space: its source, who made it, and its changes, `first` to `last`.

    `undone` is the change that undid the import, None while it is in effect.
    """

    id: int
    source: str | None
    actor: str
    at: datetime
    memories: int
    first: int
    last: int
    undone: int | None


class ImportRefused(InvalidInput):
    """Lines of a file are bad, and the caller asked to import all of it or nothing; `report` has the bad lines."""

    def __init__(self, problems: Sequence[Problem], report: ImportReport) -> None:
        super().__init__(problems)
        self.report = report
