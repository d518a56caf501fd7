"""Errors of SQLite as errors of the core."""

from pathlib import Path
from types import TracebackType

import apsw

from muisti.core.model.errors import StoreCorrupt, StoreFailing, StoreFull, StoreUnavailable
from muisti.core.store.database import BadStatement
from muisti.core.store.file.locks import holder
from muisti.core.support.waiting import WouldWait, may_wait


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
