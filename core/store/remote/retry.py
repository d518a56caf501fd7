"""Retries: how often a failed call is repeated, and for how long."""

import random
import threading
import time
from collections.abc import Mapping

import msgspec

from muisti.core.model.errors import StoreUnavailable
from muisti.core.store.remote.hrana import Passing, Unsure
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
