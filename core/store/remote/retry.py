"""Retries: how often a failed call is repeated, and for how long."""

import random
import time
from collections.abc import Mapping

from muisti.core.model.errors import StoreUnavailable
from muisti.core.store.remote.hrana_errors import Passing, Unsure
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
