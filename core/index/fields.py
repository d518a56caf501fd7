"""Filter columns of an index, each read from the store when a filter first asks for it."""

from collections.abc import Sequence
from typing import Any, cast

from muisti.core.index.columns import Column, Keywords, Lists, Numbers, Value
from muisti.core.index.rows import Rows
from muisti.core.model.fields import FILTERED
from muisti.core.query.filter_fields import LISTED
from muisti.core.store.database import Database, Row
from muisti.core.store.sql.index_rows import field_values
from muisti.core.store.sql.spaces import SpaceRow
from muisti.core.support.waiting import Lock

NUMBERS = frozenset(field.name for field in FILTERED if field.filter and field.form in ("rank", "time", "number"))


class Fields:
    """The filter columns of `rows`, each read from the store as far as filters have needed it. Thread-safe."""

    def __init__(self, database: Database, space: SpaceRow, rows: Rows) -> None:
        self.rows = rows
        self._database = database
        self._space = space
        self._columns: dict[str, Column] = {}
        self._growing = Lock()

    @property
    def nbytes(self) -> int:
        return sum(column.nbytes for column in list(self._columns.values()))

    def column(self, field: str, size: int) -> Column:
        """Return the column of a field, with at least `size` rows, read from the store as far as it is missing."""
        with self._growing:
            column = self._columns.get(field)
            if column is None:
                column = self._columns[field] = _empty(field)
            if len(column) < size:
                self._extend(column, field, size)
            return column

    def _extend(self, column: Column, field: str, size: int) -> None:
        versions = self.rows.version.view(size)[len(column) :]
        (found,) = self._database.read([field_values(self._space, field, int(versions[0]), int(versions[-1]))])
        if isinstance(column, Lists):
            lists = _lists(found)
            column.extend([lists.get(version, ()) for version in versions.tolist()])
        else:
            values = dict(cast(list[tuple[int, Any]], found))
            column.extend([values.get(version) for version in versions.tolist()])


def _empty(field: str) -> Column:
    if field in LISTED or field.startswith("metadata."):
        return Lists()
    return Numbers() if field in NUMBERS else Keywords()


def _lists(found: Sequence[Row]) -> dict[int, list[Value]]:
    """Return the values of each version; a third column of `found` marks booleans, which SQL stores as numbers."""
    lists: dict[int, list[Value]] = {}
    for row in found:
        value = bool(row[1]) if row[2:] == ("boolean",) else cast(Value, row[1])
        lists.setdefault(cast(int, row[0]), []).append(value)
    return lists
