"""Connections to a SQLite file: opened, checked, and configured for reading or writing."""

import errno
import os
import time
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path
from typing import Literal, cast

import apsw

from muisti.core.model.errors import Conflict, StoreCorrupt, StoreReadOnly, StoreUnavailable
from muisti.core.store.file.sqlite_errors import BUSY_SECONDS, PAUSE_SECONDS, LockWait, holder
from muisti.core.store.migrate import APPLIED, newest
from muisti.core.support.waiting import give_way

APPLICATION_ID = 0x4D756973  # "Muis"
BUSY_TIMEOUT_MS = round(1000 * BUSY_SECONDS)
JOURNAL_LIMIT_BYTES = 64 << 20
READ_ONLY = (errno.EACCES, errno.EPERM, errno.EROFS)
CLEAN = 1  # user_version of a file in which everything ever deleted was overwritten
# One statement has one snapshot: another process may be creating the database.
IDENTITY = "SELECT application_id, (SELECT count(*) FROM sqlite_master) FROM pragma_application_id"

Synchronous = Literal["FULL", "NORMAL", "OFF"]
Open = Callable[[], apsw.Connection]


def is_safe_sqlite(version: str) -> bool:
    """Return whether this SQLite has no WAL-reset corruption (sqlite.org/wal.html#walresetbug).

    >>> [is_safe_sqlite(v) for v in ("3.40.1", "3.44.6", "3.51.2", "3.51.3", "3.52.0", "3.54.1")]
    [False, True, False, True, False, True]
    """
    number = tuple(int(part) for part in version.split("."))
    if number[:2] == (3, 52):
        return number > (3, 52, 0)  # 3.52.0 was withdrawn for other faults
    return (3, 44, 6) <= number < (3, 45) or (3, 50, 7) <= number < (3, 51) or number >= (3, 51, 3)


PROGRESS = 50_000  # steps of SQLite's machine between two calls of `give_way`: about a millisecond


def refuse_unsafe_sqlite() -> None:
    """Raise `StoreUnavailable` when the installed SQLite may corrupt what it writes."""
    version = apsw.sqlite_lib_version()
    if not is_safe_sqlite(version):
        raise StoreUnavailable(f"SQLite {version} may corrupt write-ahead logs; install a newer apsw")


def connect(path: Path, vfs: str | None, waiting: LockWait | None = None, *, uri: str | None = None) -> apsw.Connection:
    """Open a connection that waits for locks; a `uri` names the file in SQLite's syntax, and opens it read-only."""
    flags = apsw.SQLITE_OPEN_READONLY | apsw.SQLITE_OPEN_URI if uri else None
    if flags is None:
        connection = apsw.Connection(str(path), vfs=vfs, statementcachesize=256)
    else:
        connection = apsw.Connection(str(uri), flags=flags, statementcachesize=256)
    connection.set_busy_handler(waiting or LockWait(path))
    # Else SQLite, as apsw builds it, compiles a join again each time that values are bound to it (docs/why/why.md).
    connection.config(apsw.SQLITE_DBCONFIG_ENABLE_QPSG, 1)
    return connection


def reading(path: Path, vfs: str | None) -> apsw.Connection:
    """Open a connection that cannot write. Its long statements give way where their thread does."""
    connection = connect(path, vfs)
    connection.set_progress_handler(_go_on, PROGRESS)
    connection.pragma("query_only", True)
    return connection


def _go_on() -> bool:
    """Give way, and return that the statement is not to be ended."""
    give_way()
    return False


def only_reading(path: Path) -> apsw.Connection:
    """Open a connection to a file that cannot be written, or whose folder cannot be written.

    Raises:
        StoreReadOnly: its log has commits that SQLite cannot read without writing.
        StoreCorrupt, StoreUnavailable: it is no database, or cannot be read either.
    """
    log = Path(f"{path}-wal")
    uri = f"{path.as_uri()}?mode=ro"
    try:
        return _looked_at(connect(path, None, uri=uri))
    except (apsw.CantOpenError, apsw.ReadOnlyError, apsw.IOError):
        if log.exists() and log.stat().st_size:
            raise StoreReadOnly(
                f"{path.name} cannot be written, and SQLite cannot read its log {log.name} without that; copy both "
                "files to a folder that can be written"
            ) from None
    return _looked_at(connect(path, None, uri=f"{uri}&immutable=1"))


def _looked_at(connection: apsw.Connection) -> apsw.Connection:
    try:
        found, tables = cast(tuple[int, int], connection.execute(IDENTITY).get)
        if found != APPLICATION_ID:
            raise StoreCorrupt(f"this is {'a database of another program' if tables else 'no Muisti database yet'}")
        _refuse_unreleased(connection)
    except (apsw.Error, Conflict, StoreCorrupt):
        connection.close()
        raise
    return connection


def _refuse_unreleased(connection: apsw.Connection) -> None:
    """Raise `Conflict` for a file from before the first release, before anything in it changes."""
    if connection.execute("SELECT 1 FROM sqlite_master WHERE name = 'schema_migrations'").get:
        newest(connection.execute(APPLIED.sql).fetchall())


def writing(path: Path, vfs: str | None, synchronous: Synchronous, waiting: LockWait | None = None) -> apsw.Connection:
    """Open a connection in WAL mode without automatic checkpoints. Create the file where it is missing.

    Raises:
        Conflict: the file is from before the first release.
        StoreCorrupt: the file is no Muisti database.
        StoreReadOnly: it can be read at most.
    """
    if vfs is None:
        _make_file(path)
    try:
        return _writing(path, vfs, synchronous, waiting)
    except (apsw.CantOpenError, apsw.ReadOnlyError, apsw.PermissionsError) as error:
        raise StoreReadOnly(_read_only(path, "its folder cannot be written")) from error
    except apsw.BusyError as error:
        raise StoreUnavailable(f"the database is held by {holder(path)}; try again") from error


def _make_file(path: Path) -> None:
    """Create the file where it is missing, accessible to its owner only."""
    try:
        _make_folder(path.parent)
        os.close(os.open(path, os.O_RDWR | os.O_CREAT, 0o600))
    except OSError as error:
        if error.errno in READ_ONLY and path.is_file() and os.access(path, os.R_OK):
            raise StoreReadOnly(_read_only(path, error.strerror or "")) from error
        raise StoreUnavailable(f"the database {path} cannot be opened: {error.strerror}") from error


def _read_only(path: Path, why: str) -> str:
    return (
        f"the database {path} can only be read ({why}): nothing is written; change its permissions, or copy it to a "
        "folder that can be written"
    )


def _writing(path: Path, vfs: str | None, synchronous: Synchronous, waiting: LockWait | None) -> apsw.Connection:
    connection = connect(path, vfs, waiting)
    with ExitStack() as failed:
        failed.callback(connection.close)
        failed.callback(leave_log, connection)
        found, tables = cast(tuple[int, int], connection.execute(IDENTITY).get)
        if found != APPLICATION_ID and tables:
            raise StoreCorrupt(f"{path.name} is a database of another program (application_id {found})")
        _refuse_unreleased(connection)
        _keep_log(connection)
        connection.pragma("synchronous", synchronous)
        connection.pragma("secure_delete", True)
        if found != APPLICATION_ID:
            connection.pragma("application_id", APPLICATION_ID)
            connection.pragma("user_version", CLEAN)
        connection.pragma("foreign_keys", True)
        connection.pragma("journal_size_limit", JOURNAL_LIMIT_BYTES)
        connection.wal_autocheckpoint(0)
        failed.pop_all()
    return connection


def leave_log(connection: apsw.Connection) -> None:
    """Let the connection close without a checkpoint, and without deleting the log."""
    connection.config(apsw.SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1)


def _make_folder(folder: Path) -> None:
    """Create a folder and its parents durably: SQLite syncs the folder of its file and none above it."""
    missing = [above for above in (folder, *folder.parents) if not above.exists()]
    folder.mkdir(parents=True, exist_ok=True)
    for made in missing if os.name == "posix" else ():
        parent = os.open(made.parent, os.O_RDONLY)
        try:
            os.fsync(parent)
        finally:
            os.close(parent)


def _keep_log(connection: apsw.Connection) -> None:
    """Switch to WAL mode. SQLite does not wait for another process that is switching a new file, so this does."""
    ends = time.monotonic() + BUSY_SECONDS
    while True:
        try:
            mode = connection.pragma("journal_mode", "wal")
            if mode != "wal":
                raise StoreUnavailable(f"this file system allows journal mode {mode} only; use a local disk")
            return
        except apsw.BusyError:
            if time.monotonic() >= ends:
                raise
        time.sleep(PAUSE_SECONDS)
