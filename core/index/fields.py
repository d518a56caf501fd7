"""Filter columns of an index, each read from the store when a filter first asks for it."""

from collections.abc import Sequence
from typing import Any, cast

from core.columns import Column, Keywords, Lists, Numbers, Value
from core.filter_fields import LISTED
from core.index.rows import Rows
from core.store.database import Database, Row
from core.store.index_rows import field_values
from core.store.spaces import SpaceRow
from core.waiting import Lock

NUMBERS = frozenset(
    {"importance", "created_at", "updated_at", "event_at", "valid_from", "valid_to", "expires_at", "trust"}
)


class Fields:
    """Columns that follow `rows`. Thread-safe."""

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
        """The column of a field, with at least `size` rows."""
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
    """The values of each version; a third column tells booleans from numbers."""
    lists: dict[int, list[Value]] = {}
    for row in found:
        value = bool(row[1]) if row[2:] == ("boolean",) else cast(Value, row[1])
        lists.setdefault(cast(int, row[0]), []).append(value)
    return lists
