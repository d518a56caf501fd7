"""The interface of a database: atomic batches of statements, and nothing else.

A statement that begins with `refuse(code)` is a compare-and-set: it ends its batch with `Refused`.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple, Protocol

from muisti.core.store.free_space import Traces
from muisti.core.store.refusal_codes import Refusal
from muisti.core.support.meters import StoreMeters

Scalar = str | int | float | bytes | None
Row = tuple[Scalar, ...]
Rows = list[Row]


class Statement(NamedTuple):
    """One SQL statement and the values of its placeholders."""

    sql: str
    args: tuple[Scalar, ...] = ()


class Scrubbed(NamedTuple):
    """Result of a search for erased data outside of all rows.

    `found` is the amount by place, 0 for none. `unchecked` has the reason for each place that could not be checked or
    emptied.
    """

    found: Mapping[str, int]
    unchecked: Mapping[str, str]


Outcome = list[Rows] | Exception  # of a batch: its rows, or the reason why nothing of it is kept
Ended = Callable[[Outcome], None]


class Refused(Exception):
    """The database refused a batch and kept nothing of it.

    `statement` is the position in the batch of the statement that was refused.
    """

    def __init__(self, code: Refusal, statement: int, detail: str = "") -> None:
        super().__init__(detail or code)
        self.code, self.statement = code, statement


class BadStatement(Exception):
    """The database cannot run a statement, which is an error in Muisti."""


class Database(Protocol):
    """A database that several threads may use. Each call is one round trip.

    A read sees all that was read or written through the same object before. A call raises `StoreUnavailable` (or
    `StoreFull`) when the database cannot answer, and `StoreCorrupt` when it is damaged.
    """

    @property
    def engine(self) -> str:
        """Name and version of the database engine, such as `SQLite 3.54.1`."""
        ...

    @property
    def local(self) -> bool:
        """Tell whether a read of a few rows takes microseconds."""
        ...

    @property
    def meters(self) -> StoreMeters:
        """Counters and histograms of the database."""
        ...

    @property
    def primary(self) -> "Database":
        """This database with reads from the primary: they see every committed write."""
        ...

    def check(self) -> None:
        """Raise when a known fault forbids writing. The check may be cheap, and is no read.

        Raises:
            StoreReplaced: the file is not the one that was opened.
            StoreCorrupt: a read or a write has met damage.
        """
        ...

    def read(self, statements: Sequence[Statement]) -> list[Rows]:
        """Return the rows of each statement, all from one snapshot."""
        ...

    def write(self, statements: Sequence[Statement]) -> list[Rows]:
        """Run all statements or none. When this returns the batch is durable.

        Rows come from SELECTs of a single value, never from RETURNING, so that a lost reply can be read again.

        Raises:
            Refused: a statement was refused; nothing of the batch is kept.
            TooLarge: the batch is more than this database takes in one transaction; nothing was run.
        """
        ...

    def rehearse(self, statements: Sequence[Statement]) -> list[Rows]:
        """Return or raise what `write` would, and roll all of it back: a dry run."""
        ...

    def queue(self, statements: Sequence[Statement], ended: Ended) -> bool:
        """Put a batch into the queue of the writer and return True; return False where only `write` can write it.

        Another thread calls `ended` with the outcome. `ended` must return soon, and must not raise.
        """
        ...

    def expect(self, writes: int) -> None:
        """Announce so many more writes (fewer when negative), so that a commit may wait for them."""
        ...

    def hurry(self) -> None:
        """Wait only briefly for locks of other processes from now on, since the program is about to stop."""
        ...

    def scrub(self, traces: Traces) -> Scrubbed:
        """Remove traces of erased data outside of all rows, and report what is left or could not be checked."""
        ...

    def close(self) -> None:
        """Finish the waiting writes and close the database."""
        ...
