"""Damage that reads and writes of a database have met. After that nothing more is written to it."""

from pathlib import Path
from types import TracebackType

import apsw

from muisti.core.model.errors import StoreCorrupt
from muisti.core.store.file.sqlite_errors import translation

ADVICE = "stop Muisti and run `muisti doctor`, which says what is damaged and how to save the rest"


class Health:
    """Record of damage. Thread-safe.

    As a context it turns SQLite's errors into the core's, and remembers damage that ends the code inside. A text that
    is not UTF-8 is no damage of the file. Every read and commit enters it, so it is one object for all of them.
    """

    __slots__ = ("_path", "damaged")

    def __init__(self, path: Path) -> None:
        """`path` is that of the database; an error about a lock names the process that has it."""
        self._path = path
        self.damaged = False

    def check(self) -> None:
        """Raise `StoreCorrupt` when damage was met."""
        if self.damaged:
            raise StoreCorrupt(f"the database file is damaged, so nothing is written to it: {ADVICE}")

    def doubt(self, connection: apsw.Connection, error: apsw.SQLError) -> None:
        """Raise `CorruptError` when a table is missing because the file is unsound.

        Pages of another database, in a log that was written over, may look like an earlier schema.
        """
        if str(error).startswith("no such table") and not _is_sound(connection):
            raise apsw.CorruptError("the schema of the database is gone") from error

    def __enter__(self) -> None:
        pass

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if error is None:
            return
        met = error.__cause__ if isinstance(error, StoreCorrupt) else error
        self.damaged = self.damaged or isinstance(met, apsw.CorruptError | apsw.NotADBError)
        if (found := translation(error, self._path)) is not None:
            raise found from error


def _is_sound(connection: apsw.Connection) -> bool:
    try:
        return connection.execute("PRAGMA quick_check(1)").get == "ok"
    except (apsw.SQLError, apsw.CorruptError, apsw.NotADBError):
        return False
