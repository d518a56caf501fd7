"""Filter columns of an index, each read from the store when a filter first asks for it."""

from collections.abc import Sequence
from typing import Any, cast

import numpy as np

from muisti.core.index.columns import Column, Keywords, Lists, Numbers, Value
from muisti.core.index.rows import Rows
from muisti.core.index.selections import Selections
from muisti.core.kernels import Longs
from muisti.core.model.fields import FILTERED
from muisti.core.query.filter_fields import LISTED, VERSION_ROW
from muisti.core.query.query import PATHS
from muisti.core.store.database import Database, Row
from muisti.core.store.sql.index_rows import field_values, some_field_values
from muisti.core.store.sql.spaces import SpaceRow
from muisti.core.support.waiting import Lock

FEW = 8  # how many times the new rows a column has, when they are read one by one and not as a range
TOGETHER = 1_000  # versions of one statement

NUMBERS = frozenset(field.name for field in FILTERED if field.filter and field.form in ("rank", "time", "number"))


class Fields:
    """The filter columns of `rows`, each read from the store as far as filters have needed it, and what they select.

    Thread-safe.
    """

    def __init__(self, database: Database, space: SpaceRow, rows: Rows) -> None:
        self.rows = rows
        self._database = database
        self._space = space
        self._columns: dict[str, Column] = {}
        self._growing = Lock()
        self.selections = Selections(rows, self.column)

    @property
    def nbytes(self) -> int:
        return sum(column.nbytes for column in list(self._columns.values())) + self.selections.nbytes

    def column(self, field: str, size: int) -> Column:
        """Return the column of a field, with at least `size` rows, read from the store as far as it is missing."""
        if field == VERSION_ROW:
            return Numbers.of(self.rows.version)
        with self._growing:
            column = self._columns.get(field)
            if column is None:
                column = self._columns[field] = _empty(field)
            if len(column) < size:
                self._columns[field] = column = self._extended(column, field, size)
            return column

    def _read(self, field: str, versions: Longs, *, few: bool) -> list[Row]:
        """Return the values of ascending versions; `few` says that the space has many times as many."""
        if not few:
            (found,) = self._database.read([field_values(self._space, field, int(versions[0]), int(versions[-1]))])
            return found
        asked = np.unique(versions).tolist()
        starts = range(0, len(asked), TOGETHER)
        parts = [some_field_values(self._space, field, asked[start : start + TOGETHER]) for start in starts]
        return [row for found in self._database.read(parts) for row in found]

    def _extended(self, column: Column, field: str, size: int) -> Column:
        """Read what a column lacks, and return it, or one of another kind if that suits the values better."""
        versions = self.rows.version.view(size)[len(column) :]
        found = self._read(field, versions, few=len(versions) * FEW < len(column))
        if not _is_listed(field):
            values = dict(cast(list[tuple[int, Any]], found))
            cast(Keywords | Numbers, column).extend([values.get(version) for version in versions.tolist()])
            return column
        lists = _lists(found)
        rows = [lists.get(version, ()) for version in versions.tolist()]
        several = any(len(values) > 1 for values in lists.values())
        if isinstance(column, Keywords) and several:
            column = Lists.of(column)
        elif not len(column) and not several and field.startswith(PATHS) and 2 * len(lists) >= len(rows):
            column = Keywords()  # a place for each row is smaller than pairs, and compared several times as fast
        if isinstance(column, Lists):
            column.extend(rows)
        else:
            cast(Keywords, column).extend([values[0] if values else None for values in rows])
        return column


def _is_listed(field: str) -> bool:
    return field in LISTED or field.startswith(PATHS)


def _empty(field: str) -> Column:
    if _is_listed(field):
        return Lists()
    return Numbers() if field in NUMBERS else Keywords()


def _lists(found: Sequence[Row]) -> dict[int, list[Value]]:
    """Return the values of each version; a third column of `found` marks booleans, which SQL stores as numbers."""
    lists: dict[int, list[Value]] = {}
    for row in found:
        value = bool(row[1]) if row[2:] == ("boolean",) else cast(Value, row[1])
        lists.setdefault(cast(int, row[0]), []).append(value)
    return lists
