"""Counts of spaces that are kept in memory and brought up to date with what has changed since."""

from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

from muisti.core.model.outcomes import Counts, Quota, Stats
from muisti.core.model.values import Seq
from muisti.core.query.points import AsOf, Point
from muisti.core.read import statistics
from muisti.core.read.reading import read_at
from muisti.core.read.statistics import Counting, Days, Sums
from muisti.core.store.database import Database, Rows, Statement
from muisti.core.store.sql.changes import rewritten
from muisti.core.store.sql.spaces import SpaceRow

KEPT = 64  # counts that are remembered
KEYS_MAX = 20_000  # of a count that is


class _Known(NamedTuple):
    """Counts up to a change: of memories that do not expire, and of the changes of the last days."""

    seq: Seq
    sums: Sums
    days: Days


_Key = tuple[int, str | None, Counting]
_Rest = Callable[[SpaceRow, Point, int | None], list[Statement]]


def _nothing(row: SpaceRow, point: Point, since: int | None) -> list[Statement]:
    return []


class Tallies:
    """Counts the memories and the changes of spaces, as `core.read.statistics` has them. Thread-safe."""

    def __init__(self, database: Database, quota: Quota) -> None:
        self._database = database
        self._quota = quota
        self._known: dict[_Key, _Known] = {}

    def names(self, space: str, what: Counting, own: str | None, as_of: AsOf | None, now: int) -> Counts:
        """Count the active memories with each name."""
        found, sums, _, _ = self._counted(space, what, own, as_of, now)
        return statistics.names(found, sums)

    def stats(self, space: str, own: str | None, as_of: AsOf | None, now: int) -> Stats:
        """Return sizes and rates; the quota is of the present and of callers who see the whole space."""

        def rest(row: SpaceRow, point: Point, since: int | None) -> list[Statement]:
            return statistics.history(row, point, self._quota, own, since)

        found, sums, days, results = self._counted(space, statistics.SHAPES, own, as_of, now, rest)
        return statistics.stats(found, sums, days, results, whole=own is None and as_of is None)

    def _counted(
        self, space: str, what: Counting, own: str | None, as_of: AsOf | None, now: int, rest: _Rest = _nothing
    ) -> tuple[SpaceRow, Sums, Days, Sequence[Rows]]:
        """Return the counts of a space, its changes by day, and the results of `rest`, of one snapshot."""
        known: _Known | None = None

        def statements(row: SpaceRow, point: Point) -> list[Statement]:
            nonlocal known
            known = self._known.get((row.id, own, what)) if as_of is None else None
            if known and not (row.seq.epoch == known.seq.epoch and row.kept_from <= known.seq.number <= row.seq.number):
                known = None
            since = known and known.seq.number
            checked = [] if since is None else [rewritten(row, since)]
            return [*checked, *statistics.counted(row, what, point, own, since), *rest(row, point, since)]

        found, point, results = read_at(self._database, space, as_of, now, statements)
        key = (found.id, own, what)
        if known is not None:
            is_rewritten, *results = results
            if is_rewritten:
                self._known.pop(key, None)
                return self._counted(space, what, own, as_of, now, rest)
        first, *results = results
        sums: Sums = {} if known is None else known.sums
        days: Days = {} if known is None else known.days
        if as_of is None:
            came, *results = results
            sums = statistics.added(sums, came)
        if known is not None:
            gone, *results = results
            sums = statistics.added(sums, gone, -1)
        if results:
            days = statistics.days(point, days, results)
        if as_of is None:
            self._remember(key, _Known(found.seq, sums, days))
        return found, statistics.added(sums, first), days, results

    def _remember(self, key: _Key, known: _Known) -> None:
        kept: Mapping[_Key, _Known] = {name: one for name, one in [*self._known.items()] if name != key}
        if len(known.sums) <= KEYS_MAX:
            self._known = {**dict([*kept.items()][-KEPT + 1 :]), key: known}
