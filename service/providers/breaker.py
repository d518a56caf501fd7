"""A circuit breaker: after some failures in a row, calls are refused for a while, then one may try."""

import threading
from collections.abc import Callable
from time import monotonic

FAILURES = 3  # in a row, after which calls are refused
FIRST_SECONDS = 2.0  # for which calls are refused; doubled with each further failure
LONGEST_SECONDS = 60.0


class Breaker:
    """Counts failures in a row. Thread-safe."""

    def __init__(self, clock: Callable[[], float] = monotonic) -> None:
        self._clock = clock
        self._lock = threading.Lock()
        self._failures = 0
        self._until = 0.0
        self._why = ""

    @property
    def refusing(self) -> str | None:
        """Return the last failure while calls are refused, else None."""
        with self._lock:
            return self._why if self._clock() < self._until else None

    def succeeded(self) -> None:
        """Record that a call succeeded: further calls are let through."""
        with self._lock:
            self._failures, self._until = 0, 0.0

    def failed(self, why: str, wait: float = 0.0) -> None:
        """Record a failed call. `wait` is for how many seconds the other side asks to be left alone."""
        with self._lock:
            self._failures += 1
            self._why = why
            extra = self._failures - FAILURES
            own = min(FIRST_SECONDS * 2.0**extra, LONGEST_SECONDS) if extra >= 0 else 0.0
            self._until = self._clock() + min(max(own, wait), LONGEST_SECONDS)
