"""The database that the settings name: a file, or a server that speaks Hrana."""

from __future__ import annotations

from collections.abc import Callable, Generator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from muisti.core.store.database import Database
from muisti.core.store.file.database import FileDatabase
from muisti.core.store.remote.access import Token
from muisti.core.store.remote.location import host, is_remote
from muisti.service.lazy import Lazy
from muisti.service.settings import Settings, database_path

if TYPE_CHECKING:
    from muisti.core.store.remote import database, http_client
    from muisti.core.store.remote.database import RemoteDatabase
else:  # a tenth of a second, and a file needs none of it
    database = Lazy("muisti.core.store.remote.database")
    http_client = Lazy("muisti.core.store.remote.http_client")


def open_database(
    settings: Settings, *, may_only_read: bool = False, notice: Callable[[str], None] | None = None
) -> Database:
    """Open it, or connect to it. A file that cannot be written is read with `may_only_read`.

    `notice` hears who has a file locked when a write has waited for a second.

    Raises:
        MuistiError: it cannot be used.
    """
    if not is_remote(settings.database_url):
        path = database_path(settings.database_url)
        return FileDatabase(path, may_only_read=may_only_read, notice=notice)
    return _connected(settings)


def _connected(settings: Settings) -> RemoteDatabase:
    file = settings.database_token_file
    token = Token(settings.database_token, None if file is None else Path(file))
    replica = settings.database_replica_url
    return database.RemoteDatabase(
        http_client.Server(settings.database_url, token, settings.database_namespace),
        None if replica is None else http_client.Server(replica, token, settings.database_namespace),
        seconds=settings.database_timeout,
    )


@contextmanager
def whole(settings: Settings) -> Generator[Path | RemoteDatabase]:
    """The database as backups take it and put it back: its file, or a connection to its server.

    Raises:
        MuistiError: it cannot be used.
    """
    if not is_remote(settings.database_url):
        yield Path(database_path(settings.database_url)).absolute()
        return
    with closing(_connected(settings)) as connected:
        yield connected


def whereabouts(settings: Settings) -> str:
    """Where the database is, as a log may say it: never with a secret.

    >>> whereabouts(Settings(database_url="libsql://me.turso.io", database_replica_url="http://edge:8080"))
    'me.turso.io, read from edge:8080'
    """
    if not is_remote(settings.database_url):
        return database_path(settings.database_url)
    replica = settings.database_replica_url
    return host(settings.database_url) + ("" if replica is None else f", read from {host(replica)}")
