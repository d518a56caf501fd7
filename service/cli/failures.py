"""Messages for errors of the core or of the system: one line that says what to do."""

import errno
from collections.abc import Iterator

from muisti.core.model.errors import InvalidInput, MuistiError, StoreCorrupt, StoreFull, StoreReplaced
from muisti.service.cli.base import USAGE, Failure
from muisti.service.settings import SettingsError

ADVICE = {
    errno.ENOSPC: "free some space, or name another place",
    errno.EDQUOT: "free some space, or name another place",
    errno.EFBIG: "free some space, or name another place",
    errno.EROFS: "name a place that can be written",
    errno.EACCES: "change its permissions, or name another place",
    errno.EPERM: "change its permissions, or name another place",
    errno.ENOENT: "check the path",
    errno.ENOTDIR: "check the path",
    errno.EISDIR: "name a file",
}
NEXT: dict[type[MuistiError], str] = {
    StoreCorrupt: "`muisti doctor` says what is wrong; --database names another file",
    StoreFull: "free space on the disk, and repeat the command",
    StoreReplaced: "repeat the command",
}


def failure_of(error: BaseException) -> Failure | None:
    """Return an error as a failure with a message for the user; None for a fault of Muisti itself.

    >>> failure_of(ExceptionGroup("", [OSError(errno.ENOSPC, "No space left on device", "a.db")])).message
    "No space left on device: 'a.db'; free some space, or name another place"
    """
    for found in _leaves(error):
        if isinstance(found, Failure):
            return found
        if isinstance(found, SettingsError):
            return Failure(str(found), USAGE)
        if isinstance(found, InvalidInput):
            return Failure("; ".join(problem.message for problem in found.problems), USAGE)
        if isinstance(found, MuistiError):
            return Failure(_with(str(found), NEXT.get(type(found))))
        if isinstance(found, OSError):
            where = f": {found.filename!r}" if found.filename is not None else ""
            said = f"{found.strerror or type(found).__name__}{where}"
            return Failure(_with(said, ADVICE.get(found.errno or 0)))
    return None


def _with(said: str, advice: str | None) -> str:
    """Add advice, unless the message has some."""
    return said if advice is None or ";" in said else f"{said}; {advice}"


def _leaves(error: BaseException) -> Iterator[BaseException]:
    if isinstance(error, BaseExceptionGroup):
        for inner in error.exceptions:
            yield from _leaves(inner)
    else:
        yield error
