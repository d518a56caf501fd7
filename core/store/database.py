"""What Muisti asks of a database: atomic batches of statements, and nothing else.

Compare-and-set is a statement of the batch: one that begins with `refuse(code)` ends it with `Refused`.
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
    """One SQL statement and the values of its `?`s."""

    sql: str
    args: tuple[Scalar, ...] = ()


class Scrubbed(NamedTuple):
    """What is left of the erased outside of all rows: where it was looked for, and how much was found (0 for none).

    `unchecked` are places that could not be looked at, or not emptied, and why.
    """

    found: Mapping[str, int]
    unchecked: Mapping[str, str]


Outcome = list[Rows] | Exception  # what a batch ends with: its rows, or why nothing of it is kept
Ended = Callable[[Outcome], None]


class Refused(Exception):
    """The database refused a batch and kept nothing of it.

    `statement` is the place in the batch of what was refused.
    """

    def __init__(self, code: Refusal, statement: int, detail: str = "") -> None:
        super().__init__(detail or code)
        self.code, self.statement = code, statement


class BadStatement(Exception):
    """The database cannot make sense of a statement. That is a fault of ours."""


class Database(Protocol):
    """A database that several threads may use. Each call is one round trip.

    What was read or written through it is seen by all that is read through it later. A call raises `StoreUnavailable`
    (or `StoreFull`) when the database cannot answer, and `StoreCorrupt`.
    """

    @property
    def engine(self) -> str:
        """Name and version of what answers, such as `SQLite 3.54.1`."""
        ...

    @property
    def local(self) -> bool:
        """Whether a read of a few rows is a matter of microseconds."""
        ...

    @property
    def meters(self) -> StoreMeters:
        """Numbers about what it does."""
        ...

    @property
    def primary(self) -> "Database":
        """The same database, read where it is written: what anybody has written is seen."""
        ...

    def check(self) -> None:
        """Raise when what is known of the database forbids to write to it; this is no read, and may be cheap.

        Raises:
            StoreReplaced: its file is not the one that was opened.
            StoreCorrupt: a read or a write has met damage.
        """
        ...

    def read(self, statements: Sequence[Statement]) -> list[Rows]:
        """The rows of each statement, all from one snapshot."""
        ...

    def write(self, statements: Sequence[Statement]) -> list[Rows]:
        """Run all or nothing. When this returns the batch is durable.

        Rows come from SELECTs of a single value, never from RETURNING: a lost reply must be answered again.

        Raises:
            Refused: a statement was refused; nothing of the batch is kept.
            TooLarge: the batch is more than this database takes in one transaction; nothing was tried.
        """
        ...

    def rehearse(self, statements: Sequence[Statement]) -> list[Rows]:
        """What `write` would give or raise; nothing of it is kept."""
        ...

    def queue(self, statements: Sequence[Statement], ended: Ended) -> bool:
        """Hand over a batch to `write` and go on; False, and nothing is done, where only `write` will do.

        `ended` is told the outcome by another thread, which it must not hold up; it must not raise.
        """
        ...

    def expect(self, writes: int) -> None:
        """Note that so many more writes are about to be queued (fewer when negative): a commit may wait for them."""
        ...

    def hurry(self) -> None:
        """Wait for other processes only a moment from now on: what is still written can be spared."""
        ...

    def scrub(self, traces: Traces) -> Scrubbed:
        """Let nothing be left of what was erased outside of all rows, as far as that can be done from here."""
        ...

    def close(self) -> None:
        """Finish the waiting writes and let go of the database."""
        ...
