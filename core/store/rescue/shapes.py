"""Storage layouts of the schema's tables and indexes, by which rows on a page can be identified."""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple, cast

import apsw
from msgspec import Struct

from muisti.core.store.database import Scalar
from muisti.core.store.migrate import TABLE, migrations, split

_KINDS: Mapping[str, type | tuple[type, ...]] = {
    "INTEGER": int,
    "TEXT": str,
    "BLOB": bytes,
    "REAL": (float, int),
    "ANY": (int, float, str, bytes),
}


class Shape(Struct, frozen=True):
    """Storage layout of a table or an index: its columns in stored order, their types, and which may be null.

    No row has fewer than `least` columns, their number when the table was created. `key` is the column that is an
    alias of the rowid, if any. `rowids` says whether rows on the page have a rowid. `table` is the table itself,
    or the one that an index is on.
    """

    name: str
    table: str
    columns: tuple[str, ...]
    types: tuple[str, ...]
    nullable: tuple[bool, ...]
    least: int
    key: int | None
    rowids: bool

    @property
    def index(self) -> bool:
        return self.name != self.table

    def fits(self, values: Sequence[Scalar]) -> bool:
        """Return whether a row has the layout of this table or index."""
        return self.least <= len(values) <= len(self.columns) and all(
            (value is None and (self.nullable[place] or place == self.key))
            or (value is not None and place != self.key and isinstance(value, _KINDS[self.types[place]]))
            for place, value in enumerate(values)
        )

    def named(self, rowid: int | None, values: Sequence[Scalar]) -> dict[str, Scalar]:
        """Return the values of a row by column name; columns that were added later are missing."""
        row = dict(zip(self.columns, values, strict=False))
        if self.key is not None:
            row[self.columns[self.key]] = rowid
        return row


def shapes(scripts: Sequence[str] | None = None) -> dict[str, Shape]:
    """Return the layouts of a schema by name. `scripts` make the schema; None is the migrations of this code."""
    connection = apsw.Connection(":memory:")
    least: dict[str, int] = {}
    known = [script for _, script in migrations()] if scripts is None else scripts
    for script in (f"{TABLE};", *known):
        for sql in split(script):
            connection.execute(sql)
        for kind, name, _ in _made(connection):
            if kind == "table":
                least.setdefault(name, len(_stored(connection, name)))
    tables = {name: _table(connection, name, least[name]) for kind, name, _ in _made(connection) if kind == "table"}
    indexes = [_index(connection, name, tables[of]) for kind, name, of in _made(connection) if kind == "index"]
    connection.close()
    return tables | {index.name: index for index in indexes}


def _made(connection: apsw.Connection) -> list[tuple[str, str, str]]:
    """Return (type, name, table) of all tables and indexes that have pages."""
    asked = "SELECT type, name, tbl_name FROM sqlite_schema WHERE type IN ('table', 'index') AND rootpage"
    return cast(list[tuple[str, str, str]], connection.execute(asked).fetchall())


class _Column(NamedTuple):
    """A row of PRAGMA table_xinfo. `key` is the place in the primary key, from 1; `hidden` is 2 when computed."""

    place: int
    name: str
    type: str
    not_null: int
    default: str | None
    key: int
    hidden: int


def _stored(connection: apsw.Connection, table: str) -> list[_Column]:
    rows = connection.execute(f"PRAGMA table_xinfo({table})").fetchall()
    return [column for row in rows if (column := _Column(*cast(Any, row))).hidden != 2]


def _table(connection: apsw.Connection, name: str, least: int) -> Shape:
    columns = _stored(connection, name)
    rowids = not connection.execute("SELECT wr FROM pragma_table_list WHERE name = ?", (name,)).get
    keys = sorted((column for column in columns if column.key), key=lambda column: column.key)
    if not rowids:
        columns = keys + [column for column in columns if not column.key]
    alias = rowids and [column.type for column in keys] == ["INTEGER"]
    return Shape(
        name=name,
        table=name,
        columns=tuple(column.name for column in columns),
        types=tuple(column.type or "ANY" for column in columns),
        nullable=tuple(not column.not_null and (rowids or not column.key) for column in columns),
        least=least,
        key=columns.index(keys[0]) if alias else None,
        rowids=rowids,
    )


def _index(connection: apsw.Connection, name: str, table: Shape) -> Shape:
    rows = cast(list[tuple[Any, ...]], connection.execute(f"PRAGMA index_xinfo({name})").fetchall())
    columns = [cast("str | None", row[2]) or "rowid" for row in rows]
    places = [table.columns.index(column) if column in table.columns else None for column in columns]
    return Shape(
        name=name,
        table=table.name,
        columns=tuple(columns),
        types=tuple("INTEGER" if place is None else table.types[place] for place in places),
        nullable=tuple(place is not None and table.nullable[place] for place in places),
        least=len(columns),
        key=None,
        rowids=False,
    )
