"""Admission control: a request that would wait too long is refused immediately, before any work is done for it.

Requests wait for four things: the event loop, a thread that searches, a thread that asks the database, and the disk.
Each is a queue that measures how fast it moves, and so estimates how long the next request would wait. The server
refuses requests that would wait too long when it reads them from the network (`service.app.protocol`).
"""

import asyncio
import logging
import time
from collections import deque
from collections.abc import Callable, Sequence

SMOOTHING = 1 / 16  # weight of the newest gap
ROOM = 0.75  # share of a queue that new requests may fill; the rest is for admitted requests that have yet to enter it
STALLED = 10  # times the wait that is allowed; a queue whose oldest request has waited longer does not move
EXEMPT = frozenset({"/healthz", "/readyz", "/metrics"})  # monitoring must work when the server is overloaded

LOG_SECONDS = 10.0  # between two lines in the log

Clock = Callable[[], float]


class Line:
    """A queue of requests that wait for the same thing, first in, first out.

    By Little's law the next request waits for as long as those before it take to leave, one gap after another. Any
    thread may call `leave`; a race between two threads changes the mean gap by too little to matter.
    """

    def __init__(self, clock: Clock = time.monotonic) -> None:
        self._clock = clock
        self._entered: deque[float] = deque()
        self.coming = 0  # admitted requests that will enter, and wait for the event loop until then
        self._left = 0.0
        self._gap = 0.0  # mean seconds between two that leave while somebody waits

    def __len__(self) -> int:
        return len(self._entered)

    def enter(self) -> None:
        self._entered.append(self._clock())

    def leave(self) -> None:
        """Remove the first request: it has what it waited for."""
        now = self._clock()
        since = max(self._left, self._entered.popleft())
        self._gap += SMOOTHING * (now - since - self._gap)
        self._left = now

    def give_up(self) -> None:
        """Remove a request that no longer waits. Which one is not known, so the last one is removed."""
        self._entered.pop()

    def wait(self, places: int, since: float) -> float:
        """Estimate the seconds that a new request waits, behind those that wait and those that are coming.

        It waits for ever where they take all places, and where the first has waited since before `since`.
        """
        before = len(self._entered) + self.coming
        try:
            is_stalled = bool(self._entered) and self._entered[0] < since
        except IndexError:  # the last has just left, on another thread
            is_stalled = False
        return float("inf") if before >= places or is_stalled else before * self._gap


class Turns:
    """Begins at most one request in each turn of the event loop; requests under way continue in every turn.

    So an overloaded event loop finishes the requests it has begun, and the others wait in a queue.
    """

    def __init__(self, line: Line) -> None:
        self._line = line
        self._waiting: deque[tuple[Callable[[], None], Sequence[Line]]] = deque()
        self._begun = False  # one, in this turn

    def begin(self, call: Callable[[], None], needed: Sequence[Line] = ()) -> None:
        """Call `call` now, or in a later turn when this one has begun a request already. It enters `needed` then."""
        self._line.enter()
        for line in needed:
            line.coming += 1
        self._waiting.append((call, needed))
        if not self._begun:
            self._turn()

    def _turn(self) -> None:
        self._begun = bool(self._waiting)
        if self._begun:
            asyncio.get_running_loop().call_soon(self._turn)
            self._line.leave()
            call, needed = self._waiting.popleft()
            for line in needed:
                line.coming -= 1
            call()


class Admission:
    """The queues of a process. `patience`: seconds that a request may have to wait; `places`: the size of a queue.

    `refusing` is called with the method of each request that is refused.
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
        self._patience, self._places = patience, max(1, round(ROOM * places))
        self._stalled = STALLED * patience
        self._clock = clock
        self._logged_at, self._logged = float("-inf"), 0

    def admits(self, method: str, path: str) -> bool:
        """Tell whether to admit a request that comes now."""
        if path in EXEMPT:
            return True
        begins, moving, longest = self.loop.wait(self._places, float("-inf")), self._clock() - self._stalled, 0.0
        for line in self._needed(method, path):
            longest = max(longest, line.wait(self._places, moving))
        return begins + longest <= self._patience

    def begin(self, method: str, path: str, call: Callable[[], None]) -> None:
        """Begin an admitted request when its turn comes."""
        self.turns.begin(call, self._needed(method, path))

    def refuse(self, method: str) -> None:
        """Count a refused request, and log the number of refusals every `LOG_SECONDS`."""
        self.refused += 1
        self._refusing(method)
        now = self._clock()
        if now - self._logged_at >= LOG_SECONDS:
            refused, self._logged_at, self._logged = self.refused - self._logged, now, self.refused
            logging.getLogger("muisti.admission").warning("overloaded", extra={"refused": refused})

    def _needed(self, method: str, path: str) -> tuple[Line, ...]:
        """Return the queues that a request may enter. For MCP these are all: the tool is named in the unread body."""
        if path.endswith("/search"):
            return (self.search,)
        if path == "/mcp":
            return (self.search, self.store, self.disk)
        if method in ("GET", "HEAD"):
            return (self.store,)
        return (self.store, self.disk)
