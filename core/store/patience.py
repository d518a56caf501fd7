"""How often, and for how long, what failed is tried again."""

import random
import time

from core.errors import StoreUnavailable
from core.store.hrana_errors import Passing, Unsure
from core.store.server import Declined, NoAnswer, NotSent

FIRST_PAUSE = 0.02  # seconds; each is twice the one before
LONGEST_PAUSE = 0.5
SHORTEST_TRY = 0.1

PASSING = (NotSent, Declined, NoAnswer, Passing, Unsure)  # what another try may mend


class Patience:
    """Time for a call and its repetitions."""

    def __init__(self, seconds: float) -> None:
        self._ends = time.monotonic() + seconds
        self._pause = FIRST_PAUSE

    @property
    def left(self) -> float:
        """Seconds that one try may take."""
        return max(self._ends - time.monotonic(), SHORTEST_TRY)

    def wait(self, problem: Exception) -> None:
        """Pause before the next try, at random so that those who failed together do not come back together.

        Raises:
            StoreUnavailable: there is no time for another.
        """
        pause = self._pause * random.uniform(0.5, 1.0)
        if time.monotonic() + pause >= self._ends:
            raise StoreUnavailable(f"the database cannot be used now: {problem}") from problem
        time.sleep(pause)
        self._pause = min(2 * self._pause, LONGEST_PAUSE)
