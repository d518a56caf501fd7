"""Builds a new database from the rows of a damaged one that can be trusted.

The table of a page is known while a B-tree leads to it. A page that is cut off by a damaged one is identified by its
rows. Our tables are strict, so all rows of a page must fit exactly one table, or the page is left out. Derived rows
are not taken, but computed again (`core.operations.repair`).
"""

from collections.abc import Callable, Container, Iterator, Mapping, Sequence
from typing import Any, NamedTuple, cast

import apsw
from msgspec import Struct

from muisti.core.model.fields import FOLDED
from muisti.core.model.ids import id_text
from muisti.core.store.database import Scalar
from muisti.core.store.file.pages import INTERIOR_INDEX, INTERIOR_TABLE, LEAF_INDEX, LEAF_TABLE, TREE, Image, Row
from muisti.core.store.migrate import TABLE, migrations, newest, split
from muisti.core.store.rescue.references import settle
from muisti.core.store.sql.spaces import readable
from muisti.core.store.sql.table import Table
from muisti.core.store.sql.tables import TABLES
from muisti.core.store.sql.version_rows import doubt, is_json
from muisti.core.text.terms import fold, same_text_hash

# Storage layouts of the schema's tables and indexes, by which rows on a page can be identified

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


Progress = Callable[[int, int], None]  # takes the pages checked and the pages in all


class Lost(Struct, frozen=True):
    """A version that the file had, and the reason why it is not in the new one."""

    memory: str
    version: int
    why: str


class Salvaged(Struct):
    """Result of a salvage: rows by table, lost versions, and descriptions of the damage.

    `notes` are the decisions that were made.
    """

    rows: dict[str, int] = {}
    lost: list[Lost] = []
    damage: list[str] = []
    _known: set[tuple[str, int]] = set()
    notes: list[str] = []

    def lose(self, memory_id: bytes, version: int, why: str) -> None:
        """Record that a version is lost; the first reason stays."""
        place = (id_text(memory_id[:16]), version)
        if place not in self._known:
            self._known.add(place)
            self.lost.append(Lost(*place, why))


def salvage(
    image: Image,
    target: apsw.Connection,
    now: int,
    progress: Progress,
    *,
    scripts: Sequence[str] | None = None,
    tables: Sequence[Table] = TABLES,
) -> Salvaged:
    """Put all rows that can be read and trusted into a new database, which has our schema and nothing else.

    `scripts` have made that schema, and `tables` are its tables; `scripts` None: the migrations of this code.

    Raises:
        Conflict: the file is from before the first release.
    """
    found = Salvaged()
    target.pragma("foreign_keys", False)
    target.config(apsw.SQLITE_DBCONFIG_ENABLE_TRIGGER, 0)  # triggers count rows, which would then count twice
    with target:
        target.execute("CREATE TEMP TABLE listed (memory_id BLOB, version INTEGER, PRIMARY KEY (memory_id, version))")
        target.execute("CREATE TEMP TABLE named (id INTEGER PRIMARY KEY, name TEXT)")
        reader = Reader(image, found.damage, scripts)
        wanted = {table.name for table in tables if table.salvaging != "left"}
        for shape, row in reader.rows(progress):
            _take(target, shape, shape.named(row.rowid, row.values), found, wanted)
        keys_lost = bool(reader.broken & {"keys", ""})
        settle(target, found.lose, found.notes.append, now, keys_lost=keys_lost, tables=tables)
    return found


class Reader:
    """Reads the rows of a file, each with its table or index.

    `broken` has the tables and indexes with unreadable pages, and "" when any may be."""

    def __init__(self, image: Image, damage: list[str], scripts: Sequence[str] | None = None) -> None:
        self.broken: set[str] = set()
        self._image, self._damage = image, damage
        self._shapes = shapes(scripts)
        self._seen: set[int] = set()

    def rows(self, progress: Progress) -> Iterator[tuple[Shape, Row]]:
        roots = self._roots()
        if not roots.keys() >= self._shapes.keys():  # an older file has fewer tables
            self.broken.add("")
        for name, root in roots.items():
            before = len(self._damage)
            yield from self._tree(root, self._shapes.get(name))
            if len(self._damage) > before:
                self.broken.add(name)
            progress(len(self._seen), self._image.count)
        self._seen |= self._image.free()
        for number in range(1, self._image.count + 1):
            if number not in self._seen and self._image.kind(number) in TREE:
                yield from self._stray(number)
            if not number % 1_000:
                progress(number, self._image.count)

    def _roots(self) -> dict[str, int]:
        listed = [row.values for _, row in self._tree(1, _SCHEMA)]
        return {str(name): int(str(root)) for _, name, _, root, _ in listed if isinstance(root, int) and root > 1}

    def _tree(self, root: int, shape: Shape | None) -> Iterator[tuple[Shape, Row]]:
        """Yield the rows of a B-tree, as far as its pages lead."""
        kinds = TREE
        if shape is not None:
            kinds = (INTERIOR_TABLE, LEAF_TABLE) if shape.rowids else (INTERIOR_INDEX, LEAF_INDEX)
        waiting = [root]
        while waiting:
            number = waiting.pop()
            if number in self._seen:
                continue
            if self._image.kind(number) not in kinds:
                self._damage.append(f"page {number} is not what it must be")
                continue
            self._seen.add(number)
            if shape is not None:
                yield from self._fitting(number, shape)
            waiting += reversed(self._image.children(number, self._damage))

    def _fitting(self, number: int, shape: Shape) -> Iterator[tuple[Shape, Row]]:
        for row in self._image.rows(number, self._damage):
            if shape.fits(row.values):
                yield shape, row
            else:
                self._damage.append(f"page {number}: a row does not fit {shape.name}")

    def _stray(self, number: int) -> Iterator[tuple[Shape, Row]]:
        """Yield the rows of a page that no B-tree leads to, when they fit exactly one table or index."""
        kind = self._image.kind(number)
        rows = [*self._image.rows(number, self._damage)]
        alike = [shape for shape in self._shapes.values() if shape.rowids == (kind == LEAF_TABLE)]
        fitting = [shape for shape in alike if rows and all(shape.fits(row.values) for row in rows)]
        if len(fitting) == 1:
            yield from ((fitting[0], row) for row in rows)
        elif rows:
            self._damage.append(f"page {number}: the table of its {len(rows)} rows is unknown")


_SCHEMA = Shape(
    name="sqlite_schema",
    table="sqlite_schema",
    columns=("type", "name", "tbl_name", "rootpage", "sql"),
    types=("TEXT", "TEXT", "TEXT", "INTEGER", "TEXT"),
    nullable=(False, False, False, False, True),
    least=5,
    key=None,
    rowids=True,
)


def _take(
    target: apsw.Connection, shape: Shape, row: dict[str, Scalar], found: Salvaged, wanted: Container[str]
) -> None:
    if shape.name == "sqlite_autoindex_versions_1":
        target.execute("INSERT OR IGNORE INTO listed VALUES (?, ?)", (row["memory_id"], row["version"]))
    elif shape.name == "sqlite_autoindex_spaces_1":
        target.execute("INSERT OR IGNORE INTO named VALUES (?, ?)", (row["rowid"], row["name"]))
    elif shape.name == "schema_migrations" and row["number"] == 1:
        newest([(1, row["name"])])
    elif not shape.index and shape.name in wanted:
        why = _doubt(shape.name, row)
        if why is None:
            _insert(target, shape.name, row, found)
        elif shape.name == "versions":
            found.lose(cast(bytes, row["memory_id"]), cast(int, row["version"]), why)
        else:
            found.damage.append(f"{shape.name}: {why}")


def _insert(target: apsw.Connection, table: str, row: Mapping[str, Scalar], found: Salvaged) -> None:
    marks = ", ".join("?" * len(row))
    target.execute(f"INSERT OR IGNORE INTO {table} ({', '.join(row)}) VALUES ({marks})", tuple(row.values()))
    if target.changes():
        found.rows[table] = found.rows.get(table, 0) + 1
    else:
        found.damage.append(f"{table}: a row contradicts another")


def _doubt(table: str, row: dict[str, Scalar]) -> str | None:
    """Return why a row cannot be trusted; None when it can. Sets the derived columns of a version."""
    if table == "versions":
        return _doubt_version(row)
    if table == "spaces" and not readable(row["settings"], row.get("policy", "{}")):
        return "the settings of a space cannot be read"
    if table == "keys" and not (is_json(row["scopes"]) and is_json(row["spaces"])):
        return "the scopes or spaces of a key cannot be read"
    return None


def _doubt_version(row: dict[str, Scalar]) -> str | None:
    content, memory_id = row["content"], row["memory_id"]
    assert isinstance(content, str) and isinstance(memory_id, bytes)
    if len(memory_id) < 16 or any(int(str(row[name])) < 1 for name in ("space_id", "version", "born")):
        return "its id, space, version or change number is impossible"
    if why := doubt(row):
        return why
    row["content_hash"] = same_text_hash(content)
    for name in FOLDED:
        text = row[name]
        row[f"{name}_folded"] = fold(text) if isinstance(text, str) else None
    return None
