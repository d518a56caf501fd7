"""Back up, restore and scrub a whole database, in a file or on a server; `core.store.backup` copies a file."""

from pathlib import Path

from muisti.core.databases import entire
from muisti.core.model.errors import Conflict
from muisti.core.model.location import Location
from muisti.core.model.operations import Stamp
from muisti.core.model.values import Seq
from muisti.core.store import backup
from muisti.core.store.remote import scrubbing
from muisti.core.store.remote.scrubbing import LOG_BYTES, ServerScrub
from muisti.core.support.meters import Progress, silent

# Scrub a database on a server: remove from its files what purges have left in them


def scrub(
    location: Location, admin_url: str, admin_key: str | None, progress: Progress = silent, log_bytes: int = LOG_BYTES
) -> ServerScrub:
    """Have sqld write the files of a database again. Reads and writes may go on.

    Raises:
        Conflict: the database is a file, which every purge cleans itself.
        StoreUnavailable: the server does not answer, or has not written the database again.
    """
    with entire(location) as database:
        if isinstance(database, Path):
            raise Conflict("the database is a file: every purge cleans it, and nothing is left to scrub")
        return scrubbing.scrub(
            database,
            lambda: scrubbing.checkpoint(admin_url, location.namespace, admin_key),
            progress,
            log_bytes,
        )


def back_up(source: Location, target: Path, now: int, progress: Progress = silent, *, force: bool = False) -> Stamp:
    """Copy a database that may be in use. The copy gets its name after it was opened and verified.

    Raises:
        Conflict: a file of that name exists, and `force` is not set.
        NotFound: there is no database.
        StoreCorrupt: the database is damaged, or the copy fails verification.
        StoreUnavailable, StoreFull: the database cannot be read, or the copy cannot be written.
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
    """Restore a backup. Every space gets a new epoch, so points of history from before are invalid.

    `at` also rolls back later changes: all spaces to a time in microseconds, or one space to a point of its history.
    With `force`, an existing file is kept beside the new one under another name. A database on a server must be empty.

    Raises:
        Conflict: a database exists and `force` is not set, or a process has it open.
        NotFound, StoreCorrupt: the backup is missing or damaged. Nothing was changed.
        PastRetention, PointAhead: the backup does not have that point of history.
    """
    with entire(target) as database:
        return backup.restore(copy, database, now, progress, at=at, force=force)
