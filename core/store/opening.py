"""Connections to a SQLite file: made, checked, and set up to read or to write."""

import os
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Literal, cast

import apsw

from core.errors import StoreCorrupt, StoreUnavailable
from core.waiting import may_wait

APPLICATION_ID = 0x4D756973  # "Muis"
BUSY_TIMEOUT_MS = 10_000
BUSY_PAUSE_MS = 10
JOURNAL_LIMIT_BYTES = 64 << 20
CLEAN = 1  # user_version of a file in which all that was ever deleted was overwritten
# One statement, one snapshot: another process may be making the database.
IDENTITY = "SELECT application_id, (SELECT count(*) FROM sqlite_master) FROM pragma_application_id"

Synchronous = Literal["FULL", "NORMAL", "OFF"]
Open = Callable[[], apsw.Connection]


def is_safe_sqlite(version: str) -> bool:
    """Whether this SQLite is free of the WAL-reset corruption (sqlite.org/wal.html#walresetbug).

    >>> [is_safe_sqlite(v) for v in ("3.40.1", "3.44.6", "3.51.2", "3.51.3", "3.52.0", "3.54.1")]
    [False, True, False, True, False, True]
    """
    number = tuple(int(part) for part in version.split("."))
    if number[:2] == (3, 52):
        return number > (3, 52, 0)  # 3.52.0 was withdrawn for other faults
    return (3, 44, 6) <= number < (3, 45) or (3, 50, 7) <= number < (3, 51) or number >= (3, 51, 3)


def refuse_unsafe_sqlite() -> None:
    """Raises `StoreUnavailable` when the SQLite at hand may corrupt what it writes."""
    version = apsw.sqlite_lib_version()
    if not is_safe_sqlite(version):
        raise StoreUnavailable(f"SQLite {version} may corrupt write-ahead logs; install a newer apsw")


def connect(path: Path, vfs: str | None) -> apsw.Connection:
    connection = apsw.Connection(str(path), vfs=vfs, statementcachesize=256)
    connection.set_busy_timeout(BUSY_TIMEOUT_MS)
    # Else SQLite, as apsw builds it, compiles a join anew each time that values are bound to it (docs/why.md).
    connection.config(apsw.SQLITE_DBCONFIG_ENABLE_QPSG, 1)
    return connection


def reading(path: Path, vfs: str | None) -> apsw.Connection:
    """A connection that cannot write."""
    connection = connect(path, vfs)
    connection.pragma("query_only", True)
    connection.set_busy_handler(_keep_trying)
    return connection


def _keep_trying(tries: int) -> bool:
    """Pause while another process holds the file, and return whether to try again; SQLite calls it."""
    if not may_wait() or tries >= BUSY_TIMEOUT_MS // BUSY_PAUSE_MS:
        return False
    time.sleep(BUSY_PAUSE_MS / 1000)
    return True


def writing(path: Path, vfs: str | None, synchronous: Synchronous) -> apsw.Connection:
    """A connection that writes ahead, and leaves checkpoints to others. Makes the file where it is missing.

    Raises:
        StoreCorrupt: the file is no Muisti database.
    """
    if vfs is None:
        _make_folder(path.parent)
        os.close(os.open(path, os.O_RDWR | os.O_CREAT, 0o600))  # memories are private: owner only
    connection = connect(path, vfs)
    found, tables = cast(tuple[int, int], connection.execute(IDENTITY).get)
    if found != APPLICATION_ID and tables:
        connection.close()
        raise StoreCorrupt(f"{path.name} is a database of another program (application_id {found})")
    _keep_log(connection)
    connection.pragma("synchronous", synchronous)
    connection.pragma("secure_delete", True)
    if found != APPLICATION_ID:
        connection.pragma("application_id", APPLICATION_ID)
        connection.pragma("user_version", CLEAN)
    connection.pragma("foreign_keys", True)
    connection.pragma("journal_size_limit", JOURNAL_LIMIT_BYTES)
    connection.wal_autocheckpoint(0)
    return connection


def leave_log(connection: apsw.Connection) -> None:
    """Let the connection close without a checkpoint, and without deleting the log."""
    connection.config(apsw.SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1)


def _make_folder(folder: Path) -> None:
    """Make a folder and those above, and make them last: SQLite syncs the folder of its file and none above it."""
    missing = [above for above in (folder, *folder.parents) if not above.exists()]
    folder.mkdir(parents=True, exist_ok=True)
    for made in missing if os.name == "posix" else ():
        parent = os.open(made.parent, os.O_RDONLY)
        try:
            os.fsync(parent)
        finally:
            os.close(parent)


def _keep_log(connection: apsw.Connection) -> None:
    """Write ahead. SQLite does not wait by itself for another process that makes a new file do so, so this does."""
    for _ in range(BUSY_TIMEOUT_MS // BUSY_PAUSE_MS):
        with suppress(apsw.BusyError):
            mode = connection.pragma("journal_mode", "wal")
            if mode != "wal":
                raise StoreUnavailable(f"this file system allows journal mode {mode} only; use a local disk")
            return
        time.sleep(BUSY_PAUSE_MS / 1000)
    raise StoreUnavailable("another process holds the database; try again")
