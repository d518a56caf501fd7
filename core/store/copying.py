"""Copies a whole database to another, on a file or a server: every row of every table, from one snapshot.

Tables are copied with the schema that they have, whatever it is. The target must be empty. It cannot be opened until
all of it was read again and found equal, since only the last write removes the mark `UNFINISHED`.
"""

import hashlib
from collections.abc import Callable, Iterator, Sequence
from graphlib import TopologicalSorter
from typing import Protocol

import apsw
import msgspec

from muisti.core.model.errors import Conflict, NotFound, StoreCorrupt, StoreUnavailable, TooLarge
from muisti.core.store.database import Row, Rows, Statement
from muisti.core.store.file.sqlite_errors import translated
from muisti.core.store.migrate import APPLIED, UNFINISHED, newest, refuse_unfinished
from muisti.core.store.remote.retry import TABLE as WRITES
from muisti.core.support.meters import Progress

VALUES_MAX = 10_000  # in one statement
BYTES_MAX = 1_000_000  # in one statement, unless one row has more
SEQUENCE = "sqlite_sequence"

_SCHEMA = Statement(
    "SELECT type, name, sql FROM sqlite_master WHERE sql IS NOT NULL AND tbl_name <> ? "
    "AND name NOT LIKE 'sqlite_%' AND name NOT LIKE 'libsql_%' ORDER BY type, name",
    (WRITES,),
)
_COLUMNS = Statement(
    "SELECT m.name, c.name FROM sqlite_master m JOIN pragma_table_info(m.name) c WHERE m.type = 'table' "
    "ORDER BY m.name, c.cid"
)
_REFERENCES = Statement(
    "SELECT m.name, f.\"table\" FROM sqlite_master m JOIN pragma_foreign_key_list(m.name) f WHERE m.type = 'table'"
)


class Side(Protocol):
    """A database that is read or written as a whole."""

    def stream(self, statements: Sequence[Statement]) -> Iterator[tuple[int, Row]]:
        """Yield the rows of each statement with the statement's position, all from one snapshot, as they arrive."""
        ...

    def write(self, statements: Sequence[Statement]) -> object:
        """Run all statements or none."""
        ...


class FileSide:
    """A database file that no other process has open."""

    def __init__(self, connection: apsw.Connection) -> None:
        self._connection = connection

    def stream(self, statements: Sequence[Statement]) -> Iterator[tuple[int, Row]]:
        with translated(), self._connection:
            for place, statement in enumerate(statements):
                for row in self._connection.execute(statement.sql, statement.args):
                    yield place, row

    def write(self, statements: Sequence[Statement]) -> None:
        with translated(), self._connection:
            for statement in statements:
                self._connection.execute(statement.sql, statement.args)


class _Table(msgspec.Struct, frozen=True):
    name: str
    columns: tuple[str, ...]

    @property
    def read(self) -> Statement:
        """Select all rows, in the order of the table itself."""
        order = " ORDER BY name" if self.name == SEQUENCE else " NOT INDEXED"
        return Statement(f"SELECT {', '.join(map(_quoted, self.columns))} FROM {_quoted(self.name)}{order}")

    def insert(self, rows: Rows) -> Statement:
        marks = f"({', '.join('?' * len(self.columns))})"
        into = f"{_quoted(self.name)} ({', '.join(map(_quoted, self.columns))})"
        return Statement(
            f"INSERT INTO {into} VALUES {', '.join([marks] * len(rows))}", tuple(value for row in rows for value in row)
        )


class _Plan(msgspec.Struct, frozen=True):
    """The (type, name, SQL) of each object in the schema, and the tables, each after those that it refers to."""

    schema: Rows
    tables: tuple[_Table, ...]
    rows: int

    def sql_of(self, type_: str) -> list[Statement]:
        return [Statement(str(sql)) for of, _, sql in self.schema if of == type_]


def carry(source: Side, target: Side, progress: Progress) -> None:
    """Copy all of one database into another, which is empty.

    Raises:
        NotFound: the source has no tables of Muisti.
        Conflict: the target is not empty, or holds an unfinished copy; or the source is from before the first release.
        StoreUnavailable: one of both does not answer, or a newer Muisti has just migrated the source.
        TooLarge: a value does not fit into the target.
        StoreCorrupt: what is read from the target is not what was written.
    """
    plan = _plan(source)
    _refuse_what_holds_something(target)
    target.write([Statement(f"CREATE TABLE {UNFINISHED} (empty ANY) STRICT"), *plan.sql_of("table")])
    target.write(plan.sql_of("index"))
    carried = _read(source, plan, progress, "copying", lambda table, rows: _insert(target, table, rows))
    if _read(target, plan, progress, "comparing", lambda table, rows: None) != carried:
        raise StoreCorrupt("the copied rows differ from the written ones; create a new database and try again")
    target.write([*plan.sql_of("view"), *plan.sql_of("trigger"), Statement(f"DROP TABLE {UNFINISHED}")])


def _plan(source: Side) -> _Plan:
    schema, columns, references = _ask(source, [_SCHEMA, _COLUMNS, _REFERENCES])
    names = {str(name) for type_, name, _ in schema if type_ == "table"}
    refuse_unfinished(names)
    if "schema_migrations" not in names:
        raise NotFound("database", "with memories")
    newest(_ask(source, [APPLIED])[0])
    before = {name: {str(of) for table, of in references if table == name} - {name} for name in sorted(names)}
    ordered = list(TopologicalSorter(before).static_order())
    if any(name == SEQUENCE for name, _ in columns):
        ordered.append(SEQUENCE)
    tables = tuple(_Table(name, tuple(str(column) for table, column in columns if table == name)) for name in ordered)
    counts = _ask(source, [Statement(f"SELECT count(*) FROM {_quoted(table.name)}") for table in tables])
    return _Plan(schema, tables, sum(int(str(rows[0][0])) for rows in counts))


def _refuse_what_holds_something(target: Side) -> None:
    (schema,) = _ask(target, [_SCHEMA])
    refuse_unfinished({str(name) for _, name, _ in schema})
    if schema:
        raise Conflict("the database is not empty; nothing was written: name an empty one")


def _read(
    side: Side, plan: _Plan, progress: Progress, stage: str, each: Callable[[_Table, Rows], None]
) -> dict[str, tuple[int, bytes]]:
    """Pass all rows to `each`; return the number of rows of each table, and a digest of them."""
    digests = {table.name: hashlib.blake2b() for table in plan.tables}
    counts = dict.fromkeys(digests, 0)
    rows = side.stream([_SCHEMA, *(table.read for table in plan.tables)])
    done = 0
    for place, batch in _batches(rows):
        if place == 0:
            _check_schema(batch, plan)
            continue
        table = plan.tables[place - 1]
        each(table, batch)
        digests[table.name].update(b"".join(map(msgspec.msgpack.encode, batch)))
        counts[table.name] += len(batch)
        done += len(batch)
        progress(stage, min(done, plan.rows), plan.rows)
    return {name: (counts[name], digest.digest()) for name, digest in digests.items()}


def _check_schema(found: Rows, plan: _Plan) -> None:
    if [row for row in found if row not in plan.schema and row[1] != UNFINISHED]:
        raise StoreUnavailable("the database was migrated meanwhile; try again")


def _insert(target: Side, table: _Table, rows: Rows) -> None:
    counted = [Statement(f"DELETE FROM {SEQUENCE}")] if table.name == SEQUENCE else []  # the inserts filled it
    try:
        target.write([*counted, table.insert(rows)])
    except TooLarge as error:
        raise TooLarge(f"a row of the table {table.name} is too large for that database") from error


def _batches(rows: Iterator[tuple[int, Row]]) -> Iterator[tuple[int, Rows]]:
    """Group the rows of one statement into batches that one INSERT can hold."""
    at, batch, size = 0, list[Row](), 0
    for place, row in rows:
        weight = sum(len(value) for value in row if isinstance(value, str | bytes))
        full = size + weight > BYTES_MAX or (len(batch) + 1) * len(row) > VALUES_MAX
        if batch and (place != at or full):
            yield at, batch
            batch, size = [], 0
        at = place
        batch.append(row)
        size += weight
    if batch:
        yield at, batch


def _ask(side: Side, statements: Sequence[Statement]) -> list[Rows]:
    rows: list[Rows] = [[] for _ in statements]
    for place, row in side.stream(statements):
        rows[place].append(row)
    return rows


def _quoted(name: str) -> str:
    return f'"{name}"'
