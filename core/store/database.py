"""The interface of a database: atomic batches of statements, and nothing else.

A statement that begins with `refuse(code)` is a compare-and-set: it ends its batch with `Refused`.
"""

from collections.abc import Callable, Mapping, Sequence, Sized
from enum import StrEnum
from pathlib import Path
from typing import NamedTuple, Protocol

from muisti.core.model.errors import SpaceMoving, StoreUnavailable
from muisti.core.store.free_space import Traces
from muisti.core.support.meters import StoreMeters

# Codes with which the database refuses a batch, read by the SQL that refuses and by the code that handles it

_MARK = "refused: "  # what the view `refuse` puts before a code


class Refusal(StrEnum):
    """Reasons why a batch was refused. The view `refuse` of the schema knows all but the last two."""

    NO_SPACE = "no_space"  # the space is gone, or another one has its name
    SPACE_EXISTS = "space_exists"
    NO_MEMORY = "no_memory"  # the memory or webhook is gone
    NO_PARENT = "no_parent"  # the parent is no memory of the space
    STALE = "stale"  # the database has changed since the batch was prepared
    DUPLICATE = "duplicate"  # a current memory has the same text
    ADDRESS_TAKEN = "address_taken"  # another current memory has the category and key
    PLACE_TAKEN = "place_taken"  # another current memory has the name, or the turn of the conversation
    MODEL_MISMATCH = "model_mismatch"  # another model embeds the space, or its policy has changed
    REQUEST_KNOWN = "request_known"  # the idempotency key has an answer
    INCOMPLETE = "incomplete"  # vectors are missing, or a space has as many probes, webhooks or tasks as it may have
    QUOTA_EXCEEDED = "quota_exceeded"
    TASK_LOST = "task_lost"  # another process has the task, or its progress is not what the batch expects
    TASK_CANCELLED = "task_cancelled"
    MOVED = "moved"  # the space is on its way to another database, or there already: raised as `SpaceMoving`
    UNKNOWN = "unknown"  # a code that the view does not know: an error in Muisti
    CONSTRAINT = "constraint"  # a constraint of a table failed, and no statement refused


_BY_CODE = {str(code): code for code in Refusal}


def slots(values: Sized) -> str:
    """Return a list of placeholders in brackets, one for each value.

    >>> slots("ab")
    '(?,?)'
    """
    return f"({','.join('?' * len(values))})"


def refuse(code: Refusal) -> str:
    """Return the head of a statement, which refuses a batch when the clauses after it find a row.

    >>> refuse(Refusal.STALE) + " WHERE 1"
    "INSERT INTO refuse SELECT 'stale' WHERE 1"
    """
    return f"INSERT INTO refuse SELECT '{code}'"


def refuse_one_of(condition: str, code: Refusal, otherwise: Refusal) -> str:
    """Return the head of a statement that refuses a batch: with `code` where the condition is true, else `otherwise`.

    >>> refuse_one_of("1", Refusal.STALE, Refusal.NO_SPACE)
    "INSERT INTO refuse SELECT CASE WHEN 1 THEN 'stale' ELSE 'no_space' END"
    """
    return f"INSERT INTO refuse SELECT CASE WHEN {condition} THEN '{code}' ELSE '{otherwise}' END"


def refusal_of(message: str) -> Refusal:
    """Return the code in the message of a constraint that a batch broke.

    >>> refusal_of("refused: stale"), refusal_of("UNIQUE constraint failed: spaces.name")
    (<Refusal.STALE: 'stale'>, <Refusal.CONSTRAINT: 'constraint'>)
    """
    _, mark, code = message.partition(_MARK)
    return _BY_CODE.get(code, Refusal.UNKNOWN) if mark else Refusal.CONSTRAINT


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


def refusal(message: str, statement: int) -> Refused | SpaceMoving:
    """Return the error that the message of a constraint means, which a statement of a batch broke."""
    code = refusal_of(message)
    return SpaceMoving() if code == Refusal.MOVED else Refused(code, statement, message)


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
    def indexes(self) -> Path | None:
        """Folder for files with indexes beside the database, None where there is no place for them."""
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


class Around:
    """A `Database` around another one, to which it passes on what a subclass does not change."""

    def __init__(self, inner: Database) -> None:
        self._inner = inner

    @property
    def engine(self) -> str:
        return self._inner.engine

    @property
    def local(self) -> bool:
        return self._inner.local

    @property
    def indexes(self) -> Path | None:
        return self._inner.indexes

    @property
    def meters(self) -> StoreMeters:
        return self._inner.meters

    @property
    def primary(self) -> Database:
        return self

    def check(self) -> None:
        self._inner.check()

    def read(self, statements: Sequence[Statement]) -> list[Rows]:
        return self._inner.read(statements)

    def write(self, statements: Sequence[Statement]) -> list[Rows]:
        return self._inner.write(statements)

    def rehearse(self, statements: Sequence[Statement]) -> list[Rows]:
        return self._inner.rehearse(statements)

    def queue(self, statements: Sequence[Statement], ended: Ended) -> bool:
        return self._inner.queue(statements, ended)

    def expect(self, writes: int) -> None:
        self._inner.expect(writes)

    def hurry(self) -> None:
        self._inner.hurry()

    def scrub(self, traces: Traces) -> Scrubbed:
        return self._inner.scrub(traces)

    def close(self) -> None:
        self._inner.close()


class Rehearsed(Around):
    """A read-only database as it would be after a batch. Each read runs the batch and rolls it back.

    A read raises `Refused` when the batch is refused.
    """

    def __init__(self, inner: Database, batch: Sequence[Statement]) -> None:
        super().__init__(inner)
        self._batch = tuple(batch)

    @property
    def local(self) -> bool:
        return False

    @property
    def indexes(self) -> Path | None:
        return None

    def read(self, statements: Sequence[Statement]) -> list[Rows]:
        return self._inner.rehearse([*self._batch, *statements])[len(self._batch) :]

    def write(self, statements: Sequence[Statement]) -> list[Rows]:
        raise StoreUnavailable("a dry run cannot be written to")

    def rehearse(self, statements: Sequence[Statement]) -> list[Rows]:
        return self.read(statements)

    def queue(self, statements: Sequence[Statement], ended: Ended) -> bool:
        return False

    def scrub(self, traces: Traces) -> Scrubbed:
        raise StoreUnavailable("a dry run cannot be written to")

    def close(self) -> None:
        """Do nothing: the inner database stays open."""


# Writes outside the history of a space, which may be tried


def written(database: Database, statements: Sequence[Statement], ask: Statement, *, dry_run: bool) -> Rows:
    """Write, and read afterwards; of a dry run what would be read, and nothing stays.

    Raises:
        Refused: a statement was refused; nothing of the batch is kept.
    """
    if dry_run:
        return database.rehearse([*statements, ask])[-1]
    database.write(statements)
    return database.primary.read([ask])[0]
