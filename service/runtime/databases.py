"""The database that the settings name."""

from contextlib import closing
from pathlib import Path

from muisti.core.databases import open_database
from muisti.core.model.location import Location, database_path, host, is_remote
from muisti.core.placement.directory import MAIN, Directory
from muisti.service.settings import Settings


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


def beside(location: Location) -> list[str]:
    """Return the names of the databases that a directory has beside itself."""
    with closing(open_database(location, may_only_read=True)) as database:
        return [target.name for id_, target in sorted(Directory(database).map.targets.items()) if id_ != MAIN]


def whereabouts(settings: Settings) -> str:
    """Describe where the database is, for logs: without any secret.

    >>> whereabouts(Settings(database_url="libsql://me.turso.io", database_replica_url="http://edge:8080"))
    'me.turso.io, read from edge:8080'
    """
    if not is_remote(settings.database_url):
        return database_path(settings.database_url)
    replica = settings.database_replica_url
    return host(settings.database_url) + ("" if replica is None else f", read from {host(replica)}")
