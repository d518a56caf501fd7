"""A database on a server that speaks Hrana: sqld or Turso. Writes go to the primary, reads to a replica if any.

A batch is one request. Every write stores an id with its rows. After a lost reply, the id shows whether the write was
committed; see `writes`.
"""

import threading
import time
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TypeVar

from muisti.core.model.errors import NotYetReplicated, StoreCorrupt, StoreUnavailable, TooLarge
from muisti.core.store.database import Around, Database, Ended, Row, Rows, Scrubbed, Statement
from muisti.core.store.free_space import Traces
from muisti.core.store.remote import retry as writes
from muisti.core.store.remote import scrubbing
from muisti.core.store.remote.hrana import (
    BatchResult,
    Passing,
    Step,
    Unsure,
    check,
    is_bad_statement,
    is_too_large,
    rows_of,
    transaction,
    whole,
)
from muisti.core.store.remote.http_client import NoAnswer, Server, TooSlow
from muisti.core.store.remote.retry import PASSING, Progress, Reached, Retry, reason_of, tally
from muisti.core.support.meters import StoreMeters

SECONDS = 10.0  # for a call with its retries
WAITED = 0.8  # of the time for a write that it waits for its turn at most
REPLICATION_SECONDS = 1.0  # for a replica to catch up, and to answer before it is probed
PROBE_SECONDS = 0.2
POLL_SECONDS = 0.02
STREAM_SECONDS = 60.0  # of silence while a whole database is read
REST_SECONDS = 5.0  # without requests to a replica that did not answer
BEHIND = "the read replica of the database has not received that change yet; try again"
LARGE_KNOWN = 100  # remembered batches whose rows take more room than one answer has
SMALL_BYTES = 1_000_000  # an answer below this has room enough
# A server is sure to finish these within 5 s, its limit for a transaction while others wait (docs/why/why.md).
STATEMENTS_MAX = 50_000
VALUES_MAX = 100_000_000  # bytes and characters in a batch
VALUE_MAX = 4_000_000  # in one value

_READ, _WRITE = "BEGIN DEFERRED", "BEGIN IMMEDIATE"
_TABLES = Statement("SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%'")
_VERSION = Statement("SELECT sqlite_version()")
_PROBE = [Step(Statement("SELECT 1"), rows=True)]

R = TypeVar("R")


class RemoteDatabase:
    """A `Database` on a server. Any number of processes may use the same one."""

    def __init__(self, primary: Server, replica: Server | None = None, *, seconds: float = SECONDS) -> None:
        """Connect. `seconds` is the limit for one call.

        Raises:
            StoreUnavailable: the server cannot be used.
            StoreCorrupt: the database belongs to another program.
        """
        self._server = primary
        self._replica = replica
        self._rests_until = 0.0
        self._seconds = seconds
        self._progress = Progress()
        self._meters = StoreMeters(lag=None if replica is None else lambda: self._progress.lag, retries=tally())
        self._large = set[str]()
        self._writing = threading.Lock()
        self._closed = False
        self._primary = _Primary(self)
        self._engine = f"libSQL (SQLite {self._prepare()})"

    @property
    def engine(self) -> str:
        return self._engine

    @property
    def local(self) -> bool:
        return False

    @property
    def indexes(self) -> Path | None:
        return None

    @property
    def meters(self) -> StoreMeters:
        return self._meters

    @property
    def primary(self) -> Database:
        return self._primary

    def check(self) -> None:
        self._check_open()

    def read(self, statements: Sequence[Statement]) -> list[Rows]:
        self._check_open()
        steps = _reading(statements)
        return self._insist(lambda seconds: _rows(self._ask_nearest(steps, seconds), len(statements)))

    def read_primary(self, statements: Sequence[Statement]) -> list[Rows]:
        """Return the rows of each statement as they are on the primary, which receives all writes."""
        self._check_open()
        steps = _reading(statements)
        return self._insist(lambda seconds: _rows(self._ask_primary(steps, seconds), len(statements)))

    def write(self, statements: Sequence[Statement]) -> list[Rows]:
        self._check_open()
        _check_size(statements)
        began = time.perf_counter()
        results = self._written(statements)
        self._meters.commit_seconds.add(time.perf_counter() - began)
        return results

    def rehearse(self, statements: Sequence[Statement]) -> list[Rows]:
        self._check_open()
        _check_size(statements)
        steps = [Step(statement, rows=statement.sql.startswith("SELECT")) for statement in statements]
        batch = transaction(_WRITE, steps, end="ROLLBACK")

        def run(seconds: float) -> list[Rows]:
            with self._turn_to_write(seconds):
                return _rows(self._ask_primary(batch, seconds, None), len(statements))

        return self._insist(run)

    def queue(self, statements: Sequence[Statement], ended: Ended) -> bool:
        return False

    def stream(self, statements: Sequence[Statement]) -> Iterator[tuple[int, Row]]:
        """Yield the rows of each statement with its position as they arrive, all from one snapshot of the primary.

        Nothing is retried, because the rows so far may have been used. A caller starts again after an error.
        """
        self._check_open()
        steps = transaction(_READ, [Step(statement, rows=True) for statement in statements])
        try:
            for step, row in self._server.stream(steps, STREAM_SECONDS):
                yield step - 1, row
        except PASSING as problem:
            raise StoreUnavailable(f"the database was not read to its end: {problem}; try again") from problem

    def expect(self, writes: int) -> None:
        pass  # nothing is queued here

    def hurry(self) -> None:
        pass

    def scrub(self, traces: Traces) -> Scrubbed:
        """Overwrite the free pages. The server refuses VACUUM, checkpoints and `secure_delete`: the rest is unchecked.

        When the server does not answer, the report says that free pages keep what they have.
        """
        try:
            left = scrubbing.overwrite(self)
        except StoreUnavailable:
            return Scrubbed({}, scrubbing.unchecked(None))
        return Scrubbed({}, scrubbing.unchecked(left))

    def close(self) -> None:
        self._closed = True
        for server in (self._server, self._replica):
            if server is not None:
                server.close()

    def _written(self, statements: Sequence[Statement]) -> list[Rows]:
        """Retry a write until it is known to be committed, or known to be lost for good."""
        retry = Retry(self._seconds, self._meters.retries)
        while True:
            write = writes.new_id()
            steps, places = writes.steps(write, statements)
            try:
                with self._turn_to_write(retry.left):
                    result = self._ask_primary(transaction(_WRITE, steps), retry.left, 1 + writes.COUNTED)
                check(result, [1 + place for place in places])
                return [rows_of(result.step_results[1 + place]) for place in places]
            except (NoAnswer, Unsure) as problem:
                outcome = self._settle(write)
                if outcome.committed:
                    return outcome.rows(len(statements))
                retry.wait(problem)
            except PASSING as problem:
                retry.wait(problem)

    @contextmanager
    def _turn_to_write(self, seconds: float) -> Generator[None]:
        """Wait at most `seconds` until no other thread of this process writes.

        A database has one writer. A client that waits at the server holds a connection. That connection goes on waiting
        for the lock after its client has given up and retried. So 16 clients at a time wrote a tenth of what one does.
        A write is not sent when too little time is left for it. Where the lock of a server hung, each one that was sent
        stayed there as a thread that spins.

        Raises:
            StoreUnavailable: too little time is left.
        """
        if not self._writing.acquire(timeout=seconds * WAITED):
            raise StoreUnavailable("the database has too many writes waiting; nothing was stored: try again later")
        try:
            yield
        finally:
            self._writing.release()

    def _prepare(self) -> str:
        """Check that the database is Muisti's, make the table of `writes`, and return the version of SQLite."""
        names, version = self._repeat(_READ, [_TABLES, _VERSION])
        tables = {str(name) for (name,) in names}
        if tables and not tables & {"schema_migrations", writes.TABLE}:
            raise StoreCorrupt("the remote database belongs to another program: none of its tables is Muisti's")
        if writes.TABLE not in tables:
            self._repeat(_WRITE, writes.MAKE)
        return str(version[0][0])

    def _settle(self, write: bytes) -> writes.Outcome:
        """Determine whether a write with a lost reply was committed; one that was not never will be."""
        try:
            return writes.outcome(self._repeat(_WRITE, writes.settle(write), count=2)[1])
        except StoreUnavailable as error:
            raise StoreUnavailable(
                "the database did not answer a write, which may or may not be stored; repeat it with the same "
                "Idempotency-Key, or read first"
            ) from error

    def _repeat(self, begin: str, statements: Sequence[Statement], count: int | None = None) -> list[Rows]:
        """Run statements that may run twice on the primary, with retries. `count` is the place of the write count."""
        batch = transaction(begin, [Step(statement, rows=True) for statement in statements])
        counts = None if count is None else 1 + count

        def run(seconds: float) -> list[Rows]:
            return _rows(self._ask_primary(batch, seconds, counts), len(statements))

        return self._insist(run)

    def _insist(self, run: Callable[[float], R]) -> R:
        """Call `run` until it succeeds or time is over, and return its result. It must be safe to repeat."""
        retry = Retry(self._seconds, self._meters.retries)
        while True:
            try:
                return run(retry.left)
            except PASSING as problem:
                retry.wait(problem)

    def _ask(self, server: Server, steps: Sequence[Step], index: int | None, seconds: float) -> BatchResult:
        """Run a batch and return its result, streamed when one answer cannot hold its rows."""
        key = "\n".join(step.statement.sql for step in steps)
        if key not in self._large:
            result = server.run(steps, index, seconds)
            if not is_too_large(result):
                return whole(result)
        result, size = server.scan(steps, index, seconds)
        if size < SMALL_BYTES:
            self._large.discard(key)  # the earlier rows were more, or shared their answer with others
        elif len(self._large) < LARGE_KNOWN:
            self._large.add(key)
        return whole(result)

    def _ask_primary(self, steps: Sequence[Step], seconds: float, count: int | None = -3) -> BatchResult:
        """Run steps on the primary. `count` is the step with the count of writes: third from the end by default."""
        before = self._progress.newest
        result = self._ask(self._server, steps, None, seconds)
        reached = _reached(result, count)
        if reached is not None:
            self._progress.primary_at(reached, before)
        return result

    def _ask_nearest(self, steps: Sequence[Step], seconds: float) -> BatchResult:
        """Run steps on the replica; on the primary when there is no replica, or none that answers."""
        if self._replica is not None and time.monotonic() >= self._rests_until:
            try:
                return self._ask_replica(self._replica, steps)
            except PASSING as problem:
                self._meters.retries.add("replica", reason_of(problem))
                self._leave_alone()
        return self._ask_primary(steps, seconds)

    def _ask_replica(self, replica: Server, steps: Sequence[Step]) -> BatchResult:
        """Run steps on a replica that has all writes that this process has seen.

        Raises:
            NotYetReplicated: the replica does not catch up in time.
        """
        ends = time.monotonic() + REPLICATION_SECONDS
        while True:
            index, behind = self._progress.newest.index, self._progress.behind
            try:
                result = self._ask(replica, steps, index, REPLICATION_SECONDS)
            except TooSlow:
                if not self._has_reached(replica, index):
                    if not behind:
                        raise
                    self._leave_alone()  # so a retry is answered by the primary
                    raise NotYetReplicated(BEHIND) from None
                result = self._ask(replica, steps, index, self._seconds)  # the replica is current: the work is slow
            reached = _reached(result, -3)
            if reached is None and is_bad_statement(result):  # a replica that was killed starts without the schema
                raise Passing("the replica cannot run it yet")
            if reached is None or self._progress.replica_at(reached):
                return result  # without a count it is an error, which `check` raises
            if time.monotonic() >= ends:
                raise NotYetReplicated(BEHIND)
            time.sleep(POLL_SECONDS)  # the index was of another log, since the primary has restarted

    def _has_reached(self, replica: Server, wanted: int | None) -> bool:
        try:
            whole(replica.run(_PROBE, wanted, PROBE_SECONDS))
        except TooSlow:
            return False
        return True

    def _leave_alone(self) -> None:
        """Use the primary in place of the replica for `REST_SECONDS`."""
        self._rests_until = time.monotonic() + REST_SECONDS
        self._progress.replica_lost()

    def _check_open(self) -> None:
        if self._closed:
            raise StoreUnavailable("the database is closed")


class _Primary(Around):
    """A `RemoteDatabase` whose reads go to the primary."""

    def __init__(self, whole: RemoteDatabase) -> None:
        super().__init__(whole)
        self._whole = whole

    def read(self, statements: Sequence[Statement]) -> list[Rows]:
        return self._whole.read_primary(statements)


def _check_size(statements: Sequence[Statement]) -> None:
    sizes = [len(arg) for statement in statements for arg in statement.args if isinstance(arg, str | bytes)]
    if len(statements) > STATEMENTS_MAX or sum(sizes) > VALUES_MAX or max(sizes, default=0) > VALUE_MAX:
        raise TooLarge(
            f"this takes {len(statements):,} statements with {sum(sizes) / 1e6:,.0f} MB of values; a remote database "
            f"takes {STATEMENTS_MAX:,} statements with {VALUES_MAX / 1e6:,.0f} MB in one transaction, and "
            f"{VALUE_MAX / 1e6:,.0f} MB in one value; nothing was stored: send less at a time"
        )


def _reading(statements: Sequence[Statement]) -> list[Step]:
    """Return steps that read the statements and the count of writes from one snapshot."""
    return transaction(_READ, [Step(statement, rows=True) for statement in (*statements, writes.COUNT)])


def _rows(result: BatchResult, statements: int) -> list[Rows]:
    places = range(1, 1 + statements)
    check(result, places)
    return [rows_of(result.step_results[place]) for place in places]


def _reached(result: BatchResult, count: int | None) -> Reached | None:
    """Return how far the database has come, by the count in step `count`; None without a count."""
    counted = None if count is None or len(result.step_results) < 3 else rows_of(result.step_results[count])
    if not counted:
        return None
    committed = result.step_results[-2] is not None  # else the counted write was rolled back
    return Reached(int(str(counted[0][0])) - (not committed), result.index)
