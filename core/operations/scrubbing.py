"""Scrub a database on a server: remove from its files what purges have left in them."""

from pathlib import Path

from muisti.core.databases import entire
from muisti.core.model.errors import Conflict
from muisti.core.model.location import Location
from muisti.core.store.remote import scrubbing
from muisti.core.store.remote.scrubbing import LOG_BYTES, ServerScrub
from muisti.core.support.progress import Progress, silent


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
