"""Inspect, back up, restore and scrub a whole database, in a file or on a server."""

from collections.abc import Collection
from pathlib import Path
from typing import cast

from msgspec import Struct

from muisti.core.databases import entire
from muisti.core.model.errors import Conflict
from muisti.core.model.location import Location
from muisti.core.model.operations import Stamp
from muisti.core.model.values import Seq
from muisti.core.store import backup
from muisti.core.store.database import Database, Statement, slots
from muisti.core.store.migrate import APPLIED, migrations, newest
from muisti.core.store.remote import scrubbing
from muisti.core.store.remote.scrubbing import LOG_BYTES, ServerScrub
from muisti.core.store.rescue import soundness
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


# Inspect a database without changing it: its file, schema, clock and spaces. `checkup` reads all of its data


class Schema(Struct, frozen=True):
    """The schema version of a database, None if it has none yet, and the version that this Muisti needs."""

    found: int | None
    known: int


class Clocks(Struct, frozen=True):
    """The current time of a database and the time of its last change, or None. Both are in seconds since 1970."""

    there: float
    last_change: float | None


def file_flaws(path: Path) -> list[str]:
    """Return what SQLite finds wrong with a file and with its log. The list is empty when the file is sound.

    Raises:
        StoreUnavailable: the file cannot be inspected now, which says nothing about damage.
    """
    return soundness.flaws(path)


def schema_of(database: Database) -> Schema:
    """Return the schema of a database.

    Raises:
        Conflict: the database is from before the first release.
    """
    known = len(migrations())
    if not database.read([Statement("SELECT 1 FROM sqlite_master WHERE name = 'schema_migrations'")])[0]:
        return Schema(None, known)
    return Schema(newest(database.read([APPLIED])[0]), known)


def clocks_of(database: Database) -> Clocks:
    """Return the times of a database that has the current schema."""
    asked = "SELECT unixepoch('subsec'), (SELECT max(committed_at) FROM spaces)"
    ((there, last),) = cast(list[tuple[float, int | None]], database.read([Statement(asked)])[0])
    return Clocks(there, None if last is None else last / 1e6)


def spaces_with_memories(database: Database) -> list[str]:
    """Return the names of the spaces that have memories."""
    (rows,) = database.read([Statement("SELECT name FROM spaces WHERE memories > 0")])
    return [str(name) for (name,) in rows]


def spaces_of_other_models(database: Database, identities: Collection[str]) -> list[str]:
    """Return the names of the spaces whose vectors come from models other than these."""
    asked = (
        "SELECT s.name FROM spaces s JOIN generations g ON g.id = s.generation_id "
        f"WHERE g.hash NOT IN {slots(identities)} ORDER BY 1"
    )
    (rows,) = database.read([Statement(asked, tuple(identities))])
    return [str(name) for (name,) in rows]
