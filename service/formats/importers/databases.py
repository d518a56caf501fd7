"""SQLite databases of other systems, opened so that nothing in them is changed or run."""

import shutil
import tempfile
from collections.abc import Generator, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, cast

import apsw

from muisti.service.formats.importers.items import Json, Unreadable
from muisti.service.formats.importers.source_files import Source

VALUE_MAX = 64 << 20  # bytes of one value


class Tables:
    """A SQLite database of another program: its tables, read only, and nothing in it is run."""

    def __init__(self, connection: apsw.Connection, name: str) -> None:
        self._connection, self._name = connection, name

    def columns(self, table: str) -> list[str]:
        """Return the columns of an ordinary table, none when there is no such table."""
        found = self._run("SELECT sql FROM sqlite_master WHERE type = 'table' AND name = ?", (table,))
        sql = next((str(row[0]) for row in found), "")
        if not sql.upper().startswith("CREATE TABLE"):
            return []
        return [str(row[0]) for row in self._run("SELECT name FROM pragma_table_info(?)", (table,))]

    def rows(
        self, table: str, wanted: Sequence[str] | None = None, but: Sequence[str] = ()
    ) -> Iterator[tuple[str, Json]]:
        """Yield each row with its place: the wanted columns that exist, or all columns except those in `but`."""
        columns = [name for name in self.columns(table) if (wanted is None or name in wanted) and name not in but]
        listed = ", ".join(f'"{name}"' for name in columns)
        number = 0
        for number, row in enumerate(self._run(f'SELECT {listed} FROM "{table}"'), start=1):
            yield f"{self._name} {table} row {number}", dict(zip(columns, row, strict=True))

    def _run(self, sql: str, args: tuple[str, ...] = ()) -> Iterator[tuple[Any, ...]]:
        try:
            yield from cast(Iterator[tuple[Any, ...]], self._connection.execute(sql, args))
        except apsw.Error as error:
            raise Unreadable(f"{self._name}: the database is damaged ({error})") from None
        except UnicodeDecodeError as error:
            raise Unreadable(f"{self._name}: a text of the database is no UTF-8 ({error.reason})") from None


@contextmanager
def tables(source: Source) -> Generator[Tables]:
    """Open a SQLite file. With a write-ahead log beside it both are copied first: reading would change them.

    Raises:
        Unreadable: the file is damaged.
    """
    with tempfile.TemporaryDirectory() as folder:
        path, mode = source.path, "?mode=ro&immutable=1"
        log = path.with_name(path.name + "-wal")
        if log.exists():
            for one in (path, log):
                shutil.copyfile(one, Path(folder) / one.name)
            path, mode = Path(folder) / path.name, "?mode=rw"
        try:
            connection = apsw.Connection(
                f"{path.absolute().as_uri()}{mode}", flags=apsw.SQLITE_OPEN_URI | apsw.SQLITE_OPEN_READWRITE
            )
        except apsw.Error as error:
            raise Unreadable(f"{source.name}: the database cannot be opened ({error})") from None
        try:
            connection.config(apsw.SQLITE_DBCONFIG_DEFENSIVE, 1)
            connection.config(apsw.SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0)
            connection.config(apsw.SQLITE_DBCONFIG_ENABLE_TRIGGER, 0)
            connection.config(apsw.SQLITE_DBCONFIG_ENABLE_VIEW, 0)
            connection.limit(apsw.SQLITE_LIMIT_LENGTH, VALUE_MAX)
            opened = Tables(connection, source.name)
            check(connection, source)
            yield opened
        finally:
            connection.close()


def check(connection: apsw.Connection, source: Source) -> None:
    """Raise `Unreadable` when the file is damaged, so that no part of it is imported."""
    try:
        connection.pragma("cell_size_check", 1)
        found = [str(row[0]) for row in connection.execute("PRAGMA quick_check(1)")]
    except apsw.Error as error:
        raise Unreadable(f"{source.name}: the database is damaged ({error})") from None
    except UnicodeDecodeError:
        raise Unreadable(f"{source.name}: the database is damaged (a name is no UTF-8)") from None
    if found != ["ok"]:
        raise Unreadable(f"{source.name}: the database is damaged ({found[0].splitlines()[0] if found else ''})")
