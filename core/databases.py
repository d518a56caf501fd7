"""Open databases by their location, for an `Engine` or for work on a whole database."""

from __future__ import annotations

from collections.abc import Callable, Generator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from muisti.core.model.location import Location
from muisti.core.store.database import Database as Database
from muisti.core.store.file.database import FileDatabase
from muisti.core.support.lazy import Lazy

if TYPE_CHECKING:
    from muisti.core.store.remote import database, http_client
    from muisti.core.store.remote.database import RemoteDatabase
else:  # takes a tenth of a second, and a file needs none of it
    database = Lazy("muisti.core.store.remote.database")
    http_client = Lazy("muisti.core.store.remote.http_client")


def open_database(
    location: Location, *, may_only_read: bool = False, notice: Callable[[str], None] | None = None
) -> Database:
    """Open a database file, creating a missing one, or connect to a server.

    With `may_only_read`, a file that cannot be written is opened for reading. When a write has waited a second for
    another process, `notice` is called with the name of that process.

    Raises:
        MuistiError: the database cannot be used.
    """
    if location.file is None:
        return _connected(location)
    return open_file(location.file, may_only_read=may_only_read, notice=notice)


def open_file(path: Path, *, may_only_read: bool = False, notice: Callable[[str], None] | None = None) -> Database:
    """Open the database in a file; see `open_database`."""
    return FileDatabase(path, may_only_read=may_only_read, notice=notice)


@contextmanager
def entire(location: Location) -> Generator[Path | RemoteDatabase]:
    """Yield the database for a backup or a restore: its file, or a connection to its server.

    Raises:
        MuistiError: the database cannot be used.
    """
    if location.file is not None:
        yield location.file
        return
    with closing(_connected(location)) as connected:
        yield connected


def _connected(location: Location) -> RemoteDatabase:
    token = http_client.Token(location.token, location.token_file)
    replica = location.replica_url
    return database.RemoteDatabase(
        http_client.Server(location.url, token, location.namespace),
        None if replica is None else http_client.Server(replica, token, location.namespace),
        seconds=location.seconds,
    )
