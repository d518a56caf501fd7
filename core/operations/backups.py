"""Backups of a database wherever it is, made while others write, and put back."""

from pathlib import Path

from muisti.core.databases import entire
from muisti.core.model.backups import Stamp
from muisti.core.model.location import Location
from muisti.core.model.values import Seq
from muisti.core.store import backup
from muisti.core.support.progress import Progress, silent


def back_up(source: Location, target: Path, now: int, progress: Progress = silent, *, force: bool = False) -> Stamp:
    """Copy a database that may be in use; the copy gets its name when it has been opened and checked.

    Raises:
        Conflict: there is a file of that name, and no `force`.
        NotFound: there is no database.
        StoreCorrupt: the database is damaged, or the copy does not hold.
        StoreUnavailable, StoreFull: it cannot be read, or the copy not be written.
    """
    with entire(source) as database:
        return backup.back_up(database, target, now, progress, force=force)


def restore(
    copy: Path,
    target: Location,
    now: int,
    progress: Progress = silent,
    *,
    at: int | Seq | None = None,
    force: bool = False,
) -> Stamp:
    """Put a copy in the place of a database, with a new epoch for every space: points of before hold no more.

    `at` takes what came later back: all spaces to a time in microseconds, or one to a point of its history. With
    `force` a file that is there already is kept beside it, under another name. A database on a server must be empty.

    Raises:
        Conflict: there is a database already, and no `force`; or somebody has it open.
        NotFound, StoreCorrupt: there is no such copy, or it is damaged; nothing was changed.
        PastRetention, PointAhead: the copy does not know that point.
    """
    with entire(target) as database:
        return backup.restore(copy, database, now, progress, at=at, force=force)
