"""Overwrite the free pages of a database on a server, which deletes rows without overwriting them.

A value of zeros takes pages from the list of free ones, and SQLite writes each of them whole. The value is committed
before it is deleted: a page that is taken and freed in one transaction is never written.
"""

import secrets
from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple, Protocol, cast

from muisti.core.store.database import Rows, Statement
from muisti.core.store.remote.writes import TABLE

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
