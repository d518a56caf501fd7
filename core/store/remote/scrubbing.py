"""Remove what earlier purges left in the files of sqld: unused room in pages, write-ahead log, replication log.

The server refuses VACUUM to its clients. It runs VACUUM before a checkpoint when a database has 256 MiB or more, and
over half of its pages are free. So zeros make the database that large, and are freed. The replication log is compacted
to the last state of each page when it is long enough. So enough zeros are written to it. Reads and writes go on
meanwhile.
"""

import secrets
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple, Protocol, cast
from urllib.parse import quote

from muisti.core.model.errors import StoreUnavailable
from muisti.core.store.database import Rows, Statement
from muisti.core.store.remote.retry import TABLE
from muisti.core.support.meters import Progress

# Overwrite the free pages of a database on a server, which deletes rows without overwriting them.
#
# A value of zeros takes pages from the list of free ones, and SQLite writes each of them whole. The value is committed
# before it is deleted: a page that is taken and freed in one transaction is never written.

PAGE = 4_096  # bytes; sqld knows no other size
HELD = PAGE - 4  # bytes of a value on a page of its own
VALUE_PAGES = 900  # in one value: a server takes less than 4 MB
AT_ONCE = 8 * VALUE_PAGES  # pages in one transaction, far from its limit of 5 s
FREE_MAX = 20_000  # pages that one purge overwrites, 80 MB

_SCRUB = "`muisti scrub` removes them; so does a move into a new namespace (docs/how-to/erasure.md)"
_COUNTS = [Statement("PRAGMA page_count"), Statement("PRAGMA freelist_count")]


class Target(Protocol):
    """A database that is written by batches."""

    def read_primary(self, statements: Sequence[Statement]) -> list[Rows]: ...
    def write(self, statements: Sequence[Statement]) -> list[Rows]: ...


class Pages(NamedTuple):
    """Numbers of all pages of a database, and of the free ones among them."""

    all: int
    free: int


def pages(database: Target) -> Pages:
    """Return how many pages a database has."""
    counts = database.read_primary(_COUNTS)
    return Pages(*(cast(int, rows[0][0]) for rows in counts))


def overwrite(database: Target, most: int = FREE_MAX) -> int:
    """Overwrite the free pages with zeros, at most `most`. Return how many were left out."""
    free = pages(database).free
    if 0 < free <= most:
        take(database, free + 2)  # others may free some meanwhile
    return free if free > most else 0


def take(database: Target, number: int, note: Callable[[int], None] = lambda done: None) -> None:
    """Fill a number of pages with zeros, and free them again; `note` gets the number so far.

    Pages that are free already are taken first.
    """
    filler = secrets.token_bytes(16)
    try:
        for first in range(0, number, AT_ONCE):
            fill(database, filler, first, min(AT_ONCE, number - first))
            note(min(first + AT_ONCE, number))
    finally:  # a filler that stays behind is swept after an hour
        database.write([Statement(f"DELETE FROM {TABLE} WHERE id = ?", (filler,))])


def fill(database: Target, filler: bytes, first: int, number: int) -> None:
    """Fill pages with zeros in one transaction. `first` keeps the keys of several calls apart."""
    database.write([
        Statement(
            f"INSERT INTO {TABLE} VALUES (?, ?, zeroblob(?), unixepoch())",
            (filler, first + at, HELD * min(VALUE_PAGES, number - at)),
        )
        for at in range(0, number, VALUE_PAGES)
    ])  # fmt: skip


def unchecked(free: int | None) -> Mapping[str, str]:
    """Return the places on a server that a purge does not reach, each with the reason and what removes the copies.

    `free` is the number of free pages that were not overwritten, None for all of them.
    """
    found = {
        "unused room in pages of the database server": (
            f"where its trees have moved rows, copies may stay beside rows that remain. {_SCRUB}"
        ),
        "logs of the database server": (
            "`data-wal` keeps them until the next checkpoint, hourly by default. `wallog` and snapshots keep them "
            f"until sqld compacts them, by default after 200 MB of writes. Replicas have logs of their own. {_SCRUB}"
        ),
    }
    if free == 0:
        return found
    many = "they" if free is None else f"all {free:,}"
    return found | {
        "free pages of the database server": f"{many} were not overwritten, and keep deleted rows. {_SCRUB}"
    }


VACUUMED = 65_536  # pages from which the server runs VACUUM
LOG_BYTES = 200_000_000  # sqld's default of --max-log-size
MARGIN = 1_000  # pages, for writes of others meanwhile
TRIES = 5
CHECKPOINT_SECONDS = 600.0  # the server may run VACUUM before it answers a checkpoint
DEFAULT = "default"  # the namespace of a server without namespaces
REST_SECONDS = 3.0  # sqld looks every second whether its log is to be compacted, and then needs time for it

Checkpoint = Callable[[], None]


class ServerScrub(NamedTuple):
    """Pages of the database before and after, and bytes of zeros that were written."""

    pages_before: int
    pages_after: int
    written: int


def scrub(database: Target, checkpoint: Checkpoint, progress: Progress, log_bytes: int = LOG_BYTES) -> ServerScrub:
    """Have the server write its files again, without what is deleted. `checkpoint` makes one.

    The first round cleans the database file. The second one writes every page number that the database had again, so
    no earlier page is the last of its number in the log. The third one has the log compacted, while the database is
    small: then sqld merges its snapshots, too. A server needs free room of twice the database and 800 MB.

    Raises:
        StoreUnavailable: the server has not run VACUUM, or does not answer.
    """
    before, written = pages(database).all, 0
    for round_ in ("file", "log"):
        written += _vacuumed(database, checkpoint, f"overwriting the {round_}", progress)
        time.sleep(REST_SECONDS)
    written += _turned(database, log_bytes, progress)
    time.sleep(REST_SECONDS)
    checkpoint()
    return ServerScrub(before, pages(database).all, written * PAGE)


def checkpoint(url: str, namespace: str | None, key: str | None = None) -> None:
    """Move the write-ahead log of a database into its file. `url` is that of `--admin-listen-addr`, `key` its key.

    Raises:
        StoreUnavailable: the server cannot be reached, or refuses.
    """
    target = f"{url.rstrip('/')}/v1/namespaces/{quote(namespace or DEFAULT, safe='')}/checkpoint"
    headers = {"content-type": "application/json"} | ({} if key is None else {"authorization": f"basic {key}"})
    request = urllib.request.Request(target, b"{}", headers, method="POST")
    try:
        with urllib.request.urlopen(request, timeout=CHECKPOINT_SECONDS) as answer:
            answer.read()
    except urllib.error.HTTPError as error:
        raise StoreUnavailable(f"sqld refuses a checkpoint: {error.code} {error.reason}") from error
    except OSError as error:
        raise StoreUnavailable(f"sqld's administration API does not answer: {error}") from error


def _vacuumed(database: Target, checkpoint: Checkpoint, stage: str, progress: Progress) -> int:
    """Let the server run VACUUM; return how many pages of zeros that took."""
    known = pages(database)
    living = known.all - known.free
    number = max(VACUUMED - living, living) + MARGIN
    take(database, number, lambda done: progress(stage, done, number))
    grown = pages(database).all
    for _ in range(TRIES):
        checkpoint()
        if pages(database).all < grown - number // 2:
            return number
        time.sleep(REST_SECONDS)
    raise StoreUnavailable(
        "the server made checkpoints, but has not written the database again; long reads prevent that: try again"
    )


def _turned(database: Target, log_bytes: int, progress: Progress) -> int:
    """Write zeros over the same pages until the log has grown by more than it may; return the number of pages."""
    number, filler = log_bytes * 5 // 4 // PAGE + MARGIN, secrets.token_bytes(16)
    for first in range(0, number, AT_ONCE):
        fill(database, filler, 0, AT_ONCE)
        database.write([Statement(f"DELETE FROM {TABLE} WHERE id = ?", (filler,))])
        progress("turning over the log", min(first + AT_ONCE, number), number)
    return number
