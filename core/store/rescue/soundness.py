"""Checks whether a database file is sound, without changing a byte: even its log stays as it is."""

import fcntl
import os
from collections.abc import Generator
from contextlib import contextmanager, suppress
from pathlib import Path

import apsw

from muisti.core.model.errors import Conflict
from muisti.core.store.file.opening import APPLICATION_ID, BUSY_TIMEOUT_MS
from muisti.core.store.file.pages import Image, read_log
from muisti.core.store.file.sqlite_errors import translated

REPORTED = 20  # errors that SQLite reports at most
SHARED_LOCK = 128  # the byte of the -shm file that every process with the database open has locked
NO_CHECKPOINT = getattr(apsw, "SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE", 1006)


def flaws(path: Path) -> list[str]:
    """Return the errors that SQLite finds in a file, and damage of its log that SQLite does not see.

    Raises:
        StoreUnavailable: the file cannot be checked now, which says nothing about damage.
    """
    try:
        with _untouched(path) as connection:
            if connection.pragma("application_id") != APPLICATION_ID:
                return [f"{path.name} is a database of another program"] if _tables(connection) else []
            found = [str(row[0]) for row in connection.execute(f"PRAGMA integrity_check({REPORTED})")]
            strays = connection.execute("SELECT count(*) FROM pragma_foreign_key_check").get
    except (apsw.CantOpenError, apsw.ReadOnlyError, apsw.PermissionsError, apsw.BusyError, apsw.NoMemError) as error:
        with translated(path):
            raise error
    except apsw.Error as error:
        return [f"SQLite cannot read it ({type(error).__name__.removesuffix('Error')})", *_torn(path)]
    flawed = [] if found == ["ok"] else found
    return [*flawed, *([f"{strays} rows refer to missing rows"] if strays else []), *_torn(path)]


@contextmanager
def image(path: Path) -> Generator[Image]:
    """Yield the pages of a file and its log, while no process has it open.

    Raises:
        Conflict: a process has it open.
        OSError: it cannot be read.
    """
    _refuse_shared(path)
    with path.open("rb") as file:
        data = file.read()
    yield Image(data, read_log(_log(path)))


@contextmanager
def _untouched(path: Path) -> Generator[apsw.Connection]:
    """Open a connection that changes nothing; in a read-only folder, a file without a log is opened as immutable."""
    alone = not os.access(path.parent, os.W_OK) and not _log(path)
    name = f"{path.absolute().as_uri()}?immutable=1" if alone else str(path)
    connection = apsw.Connection(name, flags=apsw.SQLITE_OPEN_READONLY | apsw.SQLITE_OPEN_URI)
    try:
        connection.set_busy_timeout(BUSY_TIMEOUT_MS)
        connection.config(NO_CHECKPOINT, 1)
        yield connection
    finally:
        connection.close()


def _tables(connection: apsw.Connection) -> bool:
    return bool(connection.execute("SELECT count(*) FROM sqlite_schema").get)


def _torn(path: Path) -> list[str]:
    """Return a line about commits in the log after a damaged place, which SQLite does not see."""
    behind = read_log(_log(path)).behind
    return [f"{behind} commits of its log come after a damaged place"] if behind else []


def _log(path: Path) -> bytes:
    with suppress(FileNotFoundError):
        return Path(f"{path}-wal").read_bytes()
    return b""


def _refuse_shared(path: Path) -> None:
    shared = Path(f"{path}-shm")
    if not shared.exists():
        return
    handle = os.open(shared, os.O_RDWR)
    try:
        fcntl.lockf(handle, fcntl.LOCK_EX | fcntl.LOCK_NB, 1, SHARED_LOCK)
    except OSError:
        raise Conflict(f"another process has {path.name} open; stop the server first") from None
    finally:
        os.close(handle)
