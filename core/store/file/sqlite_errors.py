"""Errors of SQLite as errors of the core."""

from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

import apsw

from muisti.core.model.errors import StoreCorrupt, StoreFull, StoreUnavailable
from muisti.core.store.database import BadStatement
from muisti.core.store.file.locks import holder
from muisti.core.support.waiting import WouldWait, may_wait


@contextmanager
def translated(path: Path | None = None) -> Generator[None]:
    """Turn SQLite's errors into the core's; with a `path`, an error about a lock names the process that has it."""
    try:
        yield
    except apsw.FullError as error:
        raise StoreFull("no room left on the disk; nothing was stored") from error
    except (apsw.BusyError, apsw.LockedError, apsw.ProtocolError) as error:
        if not may_wait():
            raise WouldWait from error
        who = "another process" if path is None else holder(path)
        raise StoreUnavailable(f"the database is held by {who}; try again") from error
    except (apsw.CorruptError, apsw.NotADBError, UnicodeDecodeError) as error:  # the last for a text that is not UTF-8
        raise StoreCorrupt("the database file is damaged or is no database; `muisti doctor` says more") from error
    except (apsw.NoMemError, MemoryError) as error:
        raise StoreUnavailable("not enough memory for the database") from error
    except (apsw.IOError, apsw.CantOpenError, apsw.ReadOnlyError, apsw.PermissionsError) as error:
        raise StoreUnavailable(f"the database file cannot be used ({type(error).__name__})") from error
    except (apsw.SQLError, apsw.RangeError, apsw.BindingsError, apsw.MismatchError) as error:
        raise BadStatement(str(error)) from error
    except OSError as error:
        raise StoreUnavailable(f"the database file cannot be opened ({error.strerror})") from error
