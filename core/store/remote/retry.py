"""Retries of failed calls, ids of writes that make these safe, and the position that a replica must reach."""

import random
import secrets
import threading
import time
from collections.abc import Mapping, Sequence

import msgspec

from muisti.core.model.errors import StoreUnavailable
from muisti.core.store.database import BadStatement, Rows, Statement
from muisti.core.store.remote.hrana import Passing, Step, Unsure
from muisti.core.store.remote.http_client import Declined, NoAnswer, NotSent, TooSlow
from muisti.core.support.meters import Counter

FIRST_PAUSE = 0.02  # seconds; each pause is twice the one before
LONGEST_PAUSE = 0.5
SHORTEST_TRY = 0.1

PASSING = (NotSent, Declined, NoAnswer, Passing, Unsure)  # errors that a retry may mend
REASONS: Mapping[type[Exception], str] = {
    NotSent: "not_sent",
    Declined: "declined",
    TooSlow: "too_slow",
    NoAnswer: "no_answer",
    Passing: "passing",
    Unsure: "unsure",
}


def tally() -> Counter:
    """Return a counter of retries by server and reason, which starts at 0."""
    return Counter(*((server, reason) for server in ("primary", "replica") for reason in REASONS.values()))


def reason_of(problem: Exception) -> str:
    """Return the label of the reason for a retry."""
    return REASONS[type(problem)]


class Retry:
    """Time limit of a call with its retries, which are counted."""

    def __init__(self, seconds: float, retries: Counter) -> None:
        self._retries = retries
        self._ends = time.monotonic() + seconds
        self._pause = FIRST_PAUSE

    @property
    def left(self) -> float:
        """Seconds that one attempt may take."""
        return max(self._ends - time.monotonic(), SHORTEST_TRY)

    def wait(self, problem: Exception) -> None:
        """Pause before the next attempt, for a random time, so that calls that failed together do not retry together.

        Raises:
            StoreUnavailable: there is no time for another attempt.
        """
        pause = self._pause * random.uniform(0.5, 1.0)
        if time.monotonic() + pause >= self._ends:
            raise StoreUnavailable(f"the database cannot be used now: {problem}") from problem
        time.sleep(pause)
        self._retries.add("primary", reason_of(problem))
        self._pause = min(2 * self._pause, LONGEST_PAUSE)


# Position that a database had reached when it last answered, which a replica must reach before it may answer.
#
# Two numbers measure it. The count of writes is Muisti's own, in the database itself, and survives restarts of servers.
# The replication index is the server's, and lets a replica wait by itself; but a primary that was killed restarts it.


class Reached(msgspec.Struct, frozen=True):
    """Position of a database: its count of writes, and the replication index, None when the server sent none."""

    count: int = 0
    index: int | None = None


class Progress:
    """The newest positions seen of a primary and its replica. Thread-safe."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._newest = Reached()
        self._replica = Reached()
        self._shown = 0  # the count in the last answer of the replica, wherever it is now

    @property
    def newest(self) -> Reached:
        """The position that a replica must reach."""
        return self._newest

    @property
    def behind(self) -> bool:
        """Tell whether the replica may have to wait before it can answer."""
        return self._replica != self._newest

    @property
    def lag(self) -> int:
        """Writes that this process knows of and the replica has not yet shown."""
        return max(0, self._newest.count - self._shown)

    def primary_at(self, reached: Reached, before: Reached) -> None:
        """Record an answer of the primary; `before` is the value of `newest` when the request was sent.

        The count of a primary never falls. A lower count means another database, restored from an older copy.
        """
        with self._lock:
            if reached.count >= self._newest.count or (reached.count < before.count and self._newest == before):
                self._newest = reached

    def replica_at(self, reached: Reached) -> bool:
        """Record an answer of the replica; return whether it may be used, since later answers must not be older."""
        with self._lock:
            self._shown = reached.count
            if reached.count < self._newest.count:
                return False
            self._newest = self._replica = Reached(reached.count, self._newest.index)
            return True

    def replica_lost(self) -> None:
        """Record that the replica does not answer; it may return with fewer writes than it had."""
        with self._lock:
            self._replica = Reached(-1)


# Ids of writes, stored with the rows that they wrote, which show after a lost reply whether a write was committed.
#
# The write inserts a row with its id. A client that lost the reply inserts the same row to void the write; the primary
# key lets one of them win. Beside it, the table keeps the values that the batch selected for the reply.

KEEP_SECONDS = 3_600  # far longer than any client waits for an answer
SWEEP_EVERY = 256  # writes, on average
SWEPT_MAX = 5_000  # rows in one sweep: more than `SWEEP_EVERY` writes leave, and few enough not to delay a write

FATE = -1  # place of the row that says whether the write is committed; values are at their statement's place
COMMITTED, VOID = 1, 0

TABLE = "muisti_writes"
MAKE = (
    Statement(
        "CREATE TABLE IF NOT EXISTS muisti_writes (id BLOB NOT NULL, place INTEGER NOT NULL, answer ANY, "
        "at INTEGER NOT NULL, PRIMARY KEY (id, place)) STRICT, WITHOUT ROWID"
    ),
    Statement("CREATE INDEX IF NOT EXISTS muisti_writes_by_time ON muisti_writes (at)"),
    Statement("INSERT OR IGNORE INTO muisti_writes VALUES (x'', 0, 0, 9223372036854775807)"),
)
# The row with an empty id counts all writes; its time is never reached.
COUNT = Statement("SELECT answer FROM muisti_writes WHERE id = x'' AND place = 0")
_COUNT_ON = Statement("UPDATE muisti_writes SET answer = answer + 1 WHERE id = x'' AND place = 0 RETURNING answer")
COUNTED = 1  # the step of a write, inside its transaction, that gives the count
_SWEEP = Statement(
    "DELETE FROM muisti_writes WHERE (id, place) IN "
    "(SELECT id, place FROM muisti_writes WHERE at < unixepoch() - ? LIMIT ?)",
    (KEEP_SECONDS, SWEPT_MAX),
)
_NOTE = "INSERT INTO muisti_writes VALUES (?, ?, ?, unixepoch())"


class Outcome(msgspec.Struct, frozen=True):
    """Outcome of a write: committed with these values, by place; or void, for ever."""

    committed: bool
    values: dict[int, Rows]

    def rows(self, statements: int) -> list[Rows]:
        """Return the rows that the lost reply had."""
        return [self.values.get(place, []) for place in range(statements)]


def new_id() -> bytes:
    return secrets.token_bytes(16)


def steps(write: bytes, statements: Sequence[Statement]) -> tuple[list[Step], list[int]]:
    """Return the steps of a write inside its transaction, and the position of each statement among them.

    Raises:
        BadStatement: a statement gives rows that could not be read again.
    """
    made = [Step(Statement(_NOTE, (write, FATE, COMMITTED))), Step(_COUNT_ON, rows=True)]
    places: list[int] = []
    for place, statement in enumerate(statements):
        places.append(len(made))
        if "RETURNING" in statement.sql:
            raise BadStatement("RETURNING could not be answered again; select in a statement of its own")
        selects = statement.sql.startswith("SELECT")
        made.append(Step(statement, rows=selects))
        if selects:
            note = _NOTE.replace("?, ?, ?", f"?, ?, ({statement.sql})")
            made.append(Step(Statement(note, (write, place, *statement.args))))
    if secrets.randbelow(SWEEP_EVERY) == 0:
        made.append(Step(_SWEEP))
    return made, places


def settle(write: bytes) -> list[Statement]:
    """Return statements that void a write unless it is committed; the last two select its rows and the count of writes.

    They may be repeated.
    """
    return [
        Statement(_NOTE.replace("INSERT", "INSERT OR IGNORE"), (write, FATE, VOID)),
        Statement("SELECT place, answer FROM muisti_writes WHERE id = ? ORDER BY place", (write,)),
        COUNT,
    ]


def outcome(rows: Rows) -> Outcome:
    """Read the rows that the second statement of `settle` selected."""
    (_, fate), *values = rows
    return Outcome(fate == COMMITTED, {int(str(place)): [(answer,)] for place, answer in values})
