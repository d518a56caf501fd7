"""Admission control: who would wait too long is turned away at once, before any work is done for him.

Requests wait for four things: for the event loop, for a thread that searches, for one that asks the database, and for
the disk. Each is a line that knows how fast it moves, and so how long the next would wait. What would wait longer than
it may is refused by whoever reads requests from the network (`service.app.admitting`).
"""

import asyncio
import logging
import time
from collections import deque
from collections.abc import Callable

SMOOTHING = 1 / 16  # weight of the newest gap
ROOM = 0.75  # of a line that those may take who come now; the rest is for those who were let in and are on their way
STALLED = 10  # times the wait that is allowed; a line whose oldest has waited longer does not move
EXEMPT = frozenset({"/healthz", "/readyz", "/metrics"})  # those who watch over an overloaded server must hear from it

TOLD_SECONDS = 10.0  # between two lines in the log

Clock = Callable[[], float]


class Line:
    """Requests that wait for the same thing, first come, first served.

    By Little's law the next one waits for as long as those before him take to leave, one gap after another. `leave`
    may be called by any thread; what two threads do to the mean at the same moment is lost in the noise.
    """

    def __init__(self, clock: Clock = time.monotonic) -> None:
        self._clock = clock
        self._entered: deque[float] = deque()
        self._left = 0.0
        self._gap = 0.0  # mean seconds between two that leave while somebody waits

    def __len__(self) -> int:
        return len(self._entered)

    def enter(self) -> None:
        self._entered.append(self._clock())

    def leave(self) -> None:
        """The first has what it waited for."""
        now = self._clock()
        since = max(self._left, self._entered.popleft())
        self._gap += SMOOTHING * (now - since - self._gap)
        self._left = now

    def give_up(self) -> None:
        """One of them waits no longer. As nobody knows which, the last one is taken to be it."""
        self._entered.pop()

    def wait(self, coming: int = 0) -> float:
        """Seconds that whoever comes now has to wait, when some are on their way who come before."""
        return (len(self._entered) + coming) * self._gap

    def oldest(self) -> float:
        """Seconds that the first has waited; 0 when nobody waits."""
        try:
            return self._clock() - self._entered[0]
        except IndexError:  # the last has just left, on another thread
            return 0.0


class Turns:
    """Begins one request in each turn of the event loop, and what is under way goes on in all of them.

    So an event loop that has too much to do finishes what it has begun, and what it has not waits in a line.
    """

    def __init__(self, line: Line) -> None:
        self._line = line
        self._waiting: deque[Callable[[], None]] = deque()
        self._begun = False  # one, in this turn

    def begin(self, call: Callable[[], None]) -> None:
        """Call it now, or when it is its turn."""
        self._line.enter()
        self._waiting.append(call)
        if not self._begun:
            self._turn()

    def _turn(self) -> None:
        self._begun = bool(self._waiting)
        if self._begun:
            asyncio.get_running_loop().call_soon(self._turn)
            self._line.leave()
            self._waiting.popleft()()


class Admission:
    """The lines of a process. `patience`: seconds that a request may have to wait; `places`: those in a line.

    `refusing` hears of the method of each request that was not let in.
    """

    def __init__(
        self,
        patience: float,
        places: int,
        clock: Clock = time.monotonic,
        *,
        refusing: Callable[[str], None] = lambda _: None,
    ) -> None:
        self._refusing = refusing
        self.loop, self.search, self.store, self.disk = (Line(clock) for _ in range(4))
        self.turns = Turns(self.loop)
        self.refused = 0  # requests, so far
        self.crowded = False  # the last one that asked was not let in
        self._patience, self._places = patience, max(1, round(ROOM * places))
        self._clock = clock
        self._told_at, self._told = float("-inf"), 0

    def admits(self, method: str, path: str) -> bool:
        """Whether a request that comes now should be let in."""
        if path in EXEMPT:
            return True
        coming, begins = len(self.loop), self.loop.wait()
        self.crowded = False
        for line in self._needed(method, path):
            if (
                len(line) + coming >= self._places
                or begins + line.wait(coming) > self._patience
                or line.oldest() > STALLED * self._patience
            ):
                self.crowded = True
        return not self.crowded

    def refuse(self, method: str) -> None:
        """Count a request that was not let in, and tell the log now and then how many there were."""
        self.refused += 1
        self._refusing(method)
        now = self._clock()
        if now - self._told_at >= TOLD_SECONDS:
            refused, self._told_at, self._told = self.refused - self._told, now, self.refused
            logging.getLogger("muisti.admission").warning("overloaded", extra={"refused": refused})

    def _needed(self, method: str, path: str) -> tuple[Line, ...]:
        """What a request may need. What a call of a tool needs stands in its body, which nobody has read yet."""
        if path.endswith("/search"):
            return (self.search,)
        if path == "/mcp":
            return (self.search, self.store, self.disk)
        if method in ("GET", "HEAD"):
            return (self.store,)
        return (self.store, self.disk)
