"""The database that the settings name."""

from contextlib import closing
from pathlib import Path

from muisti.core.databases import open_database
from muisti.core.model.buckets import BUCKETS
from muisti.core.model.location import Location, database_path, host
from muisti.core.placement.directory import MAIN, MAIN_NAME, Directory, is_directory
from muisti.service.settings import Settings

STAYING = frozenset(("asked", "copying", "back"))  # steps of a move whose source still holds the unit


def location_of(settings: Settings) -> Location:
    """Return the location of the database and its credentials."""
    file = settings.database_token_file
    return Location(
        url=settings.database_url,
        replica_url=settings.database_replica_url,
        token=settings.database_token,
        token_file=None if file is None else Path(file),
        namespace=settings.database_namespace,
        seconds=settings.database_timeout,
    )


def moved(home: Location) -> dict[int, tuple[str, str]]:
    """Return the step and the target of each move that a directory knows and whose source may have let go."""
    with closing(open_database(home, may_only_read=True)) as database:
        directory = Directory(database)
        moves = directory.moves(ended=BUCKETS)
        return {one.id: (one.step, directory.map.targets[one.target].name) for one in moves if one.step not in STAYING}


def databases_of(home: Location) -> dict[str, Location]:
    """Return all databases of a directory by name, the directory first; of another database only that.

    Raises:
        MuistiError: the directory cannot be read.
    """
    known = {MAIN_NAME: home}
    if home.file is not None and not home.file.exists():
        return known
    with closing(open_database(home, may_only_read=True)) as database:
        if is_directory(database):
            targets = Directory(database).map.targets
            known |= {one.name: one.location(home) for id_, one in sorted(targets.items()) if id_ != MAIN}
    return known


def whereabouts(settings: Settings) -> str:
    """Describe where the database is, for logs: without any secret.

    >>> whereabouts(Settings(database_url="libsql://me.turso.io", database_replica_url="http://edge:8080"))
    'me.turso.io, read from edge:8080'
    """
    return whereabouts_of(location_of(settings))


def whereabouts_of(location: Location) -> str:
    """Describe where a database is, without any secret."""
    if location.file is not None:
        return database_path(location.url)
    replica = location.replica_url
    return host(location.url) + ("" if replica is None else f", read from {host(replica)}")
