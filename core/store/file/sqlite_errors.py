"""Errors of SQLite as errors of the core, waits for locks, and damage that was met."""

import os
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from types import TracebackType

import apsw

from muisti.core.model.errors import StoreCorrupt, StoreFailing, StoreFull, StoreUnavailable
from muisti.core.store.database import BadStatement
from muisti.core.support.waiting import WouldWait, may_wait

# Waiting for locks that another process has on a database file: for how long, and which process has them

BUSY_SECONDS = 10.0
NOTICE_SECONDS = 1.0
PAUSE_SECONDS = 0.01
WRITE_LOCK = 120  # the byte of the shared index that a writing process locks
_LOCKS = Path("/proc/locks")  # exists on Linux only

Notice = Callable[[str], None]


class LockWait:
    """Busy handler of SQLite that waits, and reports once which process has the lock. One for each connection."""

    def __init__(self, path: Path, notice: Notice | None = None) -> None:
        """`notice` gets the name of the process that has the lock after one second of waiting."""
        self._path, self._notice = path, notice
        self._began = 0.0
        self.seconds = BUSY_SECONDS

    def __call__(self, tries: int) -> bool:
        """Wait briefly and return True; return False after `seconds`, or when this thread may not wait."""
        if not may_wait():
            return False
        now = time.monotonic()
        if tries == 0:
            self._began = now
        waited = now - self._began
        if waited >= self.seconds:
            return False
        if self._notice is not None and waited >= NOTICE_SECONDS:
            notice, self._notice = self._notice, None
            notice(holder(self._path))
        time.sleep(PAUSE_SECONDS)
        return True


def holder(path: Path) -> str:
    """Name the process that has a database file locked, such as `pid 123, muisti serve`, if the system shows it."""
    with suppress(OSError):
        for pid in _pids(path):
            return f"pid {pid}{_command(pid)}"
    return "another process"


def _pids(path: Path) -> Iterator[int]:
    """Yield other processes that have a lock on the file, or the write lock on its shared index."""
    index = Path(f"{path}-shm")
    shared = index.stat().st_ino if index.exists() else None
    whole = path.stat().st_ino
    for line in _LOCKS.read_text("ascii").splitlines():
        fields = line.split()
        if len(fields) != 8 or fields[3] != "WRITE" or int(fields[4]) in (0, os.getpid()):
            continue
        inode, first, last = int(fields[5].rpartition(":")[2]), int(fields[6]), fields[7]
        if inode == whole or (inode == shared and first <= WRITE_LOCK and (last == "EOF" or int(last) >= WRITE_LOCK)):
            yield int(fields[4])


def _command(pid: int) -> str:
    """Shorten a command line to program and command; empty when another user's process hides it."""
    with suppress(OSError):
        words = Path(f"/proc/{pid}/cmdline").read_bytes().decode(errors="replace").split("\0")
        names = [Path(word).name for word in words if word]
        first = 1 if len(names) > 1 and names[0].startswith("python") else 0
        words = [name for name in names[first:] if not name.startswith("-")][:2]
        return f", {' '.join(words or names[:1])}" if names else ""
    return ""


class _Translated:
    """Context that turns SQLite's errors into the core's."""

    __slots__ = ("_path",)

    def __init__(self, path: Path | None) -> None:
        self._path = path

    def __enter__(self) -> None:
        pass

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if error is not None and (found := translation(error, self._path)) is not None:
            raise found from error


def translated(path: Path | None = None) -> _Translated:
    """Turn SQLite's errors into the core's; with a `path`, an error about a lock names the process that has it."""
    return _Translated(path)


def translation(error: BaseException, path: Path | None) -> Exception | None:
    """Return the core's error for one of SQLite's; None for any other."""
    match error:
        case apsw.FullError():
            return StoreFull("no room left on the disk; nothing was stored")
        case apsw.BusyError() | apsw.LockedError() | apsw.ProtocolError():
            if not may_wait():
                return WouldWait()
            who = "another process" if path is None else holder(path)
            return StoreUnavailable(f"the database is held by {who}; try again")
        case apsw.CorruptError() | apsw.NotADBError() | UnicodeDecodeError():  # the last for a text that is not UTF-8
            return StoreCorrupt("the database file is damaged or is no database; `muisti doctor` says more")
        case apsw.NoMemError() | MemoryError():
            return StoreUnavailable("not enough memory for the database")
        case apsw.IOError() | apsw.CantOpenError() | apsw.ReadOnlyError() | apsw.PermissionsError():
            return StoreFailing(f"the database file cannot be used ({type(error).__name__})")
        case apsw.SQLError() | apsw.RangeError() | apsw.BindingsError() | apsw.MismatchError():
            return BadStatement(str(error))
        case OSError():
            return StoreFailing(f"the database file cannot be opened ({error.strerror})")
        case _:
            return None


# Damage that reads and writes of a database have met. After that nothing more is written to it

ADVICE = "stop Muisti and run `muisti doctor`, which says what is damaged and how to save the rest"


class Health:
    """Record of damage. Thread-safe.

    It turns SQLite's errors into the core's, and remembers damage that ends a read or a commit. A text that is not
    UTF-8 is no damage of the file.
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
        if error is not None:
            self.meet(error)

    def meet(self, error: BaseException) -> None:
        """Remember damage that an error tells of, and raise the core's error for it, if there is one."""
        met = error.__cause__ if isinstance(error, StoreCorrupt) else error
        self.damaged = self.damaged or isinstance(met, apsw.CorruptError | apsw.NotADBError)
        if (found := translation(error, self._path)) is not None:
            raise found from error


def _is_sound(connection: apsw.Connection) -> bool:
    try:
        return connection.execute("PRAGMA quick_check(1)").get == "ok"
    except (apsw.SQLError, apsw.CorruptError, apsw.NotADBError):
        return False
