"""Admission control: a request that would wait too long is refused immediately, before any work is done for it.

Requests wait for four things: the event loop, a thread that searches, a thread that asks the database, and the disk.
Each is a queue that measures how fast it moves, and so estimates how long the next request would wait. The server
refuses requests that would wait too long when it reads them from the network (`service.app.protocol`).
"""

import asyncio
import logging
import time
from collections import Counter, deque
from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from contextvars import ContextVar
from typing import Generic, NamedTuple, TypeVar

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


# Bulkheads between requests: what a request belongs to, and how many threads its kind, space and key may take


Job = TypeVar("Job", bound=Hashable)

SLOW_TAGS = frozenset({"graph", "code", "documents", "moving", "checkpoints", "erasure", "generations", "probes"})
SLOW_TOOLS = frozenset({
    "get_context", "memory_history", "documents", "add_document", "code", "graph", "state_graph", "import_memories",
    "purge", "clear_all", "prune_memory", "overview",
})  # fmt: skip
QUICK_OPERATIONS = frozenset({"listDocuments", "getDocument", "listChunks"})  # although their tags are slow
BY_SIZE = frozenset({"addDocuments", "putDocument", "add_document"})  # slow when much is sent
SMALL = 16_000  # bytes that are read and stored quickly
SLOW_OPERATIONS = frozenset({
    "getContext", "getHistory", "getEntryHistory", "suggestPreferences", "adoptConversations", "optimizeText",
    "summariseConversation", "summariseSession", "summariseSpace", "summariseExchange", "lintSpace", "compareSpaces",
    "mergeSpaces", "forkSpace", "clearSpace", "replayReceipt", "listCommunities",
    "warmSpace",
})  # fmt: skip


class Lane(NamedTuple):
    """Kind, space and key of a request. `space` and `key` are None where it names none, or the server has no keys."""

    slow: bool = False
    space: str | None = None
    key: str | None = None

    @property
    def labels(self) -> tuple[tuple[str, str], ...]:
        """The space and the key, as far as they are known."""
        return tuple((kind, name) for kind, name in (("space", self.space), ("key", self.key)) if name)


NO_LANE = Lane()
LANE: ContextVar[Lane] = ContextVar("lane", default=NO_LANE)
"""Set where a request is recognised; everything that it awaits sees it."""


def is_slow(operation: str, tags: Iterable[str], size: int | None) -> bool:
    """Return whether a request of an operation, with a body of `size` bytes if that is known, is of a slow kind."""
    if operation in QUICK_OPERATIONS or (operation in BY_SIZE and size is not None and size <= SMALL):
        return False
    return operation in SLOW_OPERATIONS or not SLOW_TAGS.isdisjoint(tags)


def is_slow_tool(name: str, size: int) -> bool:
    """Return whether a call of a tool with arguments of `size` bytes is of a slow kind."""
    return name in SLOW_TOOLS and (name not in BY_SIZE or size > SMALL)


class Shares(Generic[Job]):
    """Counts the calls of each space and each key on a pool, and holds back those beyond their share.

    All methods are called from the event loop. `most` calls of a space or a key may be in work at a time, and `waiting`
    more of them are held.
    """

    def __init__(self, most: int, waiting: int) -> None:
        self._most, self._waiting = most, waiting
        self._working, self._held_of = Counter[tuple[str, str]](), Counter[tuple[str, str]]()
        self._held: dict[Job, Lane] = {}  # in the order of their arrival

    def is_full(self, lane: Lane) -> bool:
        """Return whether so many calls of the space or the key are held that another one is refused."""
        return bool(self._held) and any(self._held_of[label] >= self._waiting for label in lane.labels)

    def admits(self, job: Job, lane: Lane) -> bool:
        """Return whether a call may be done now; else it is held, and `release` yields it later."""
        if self._fits(lane):
            self._working.update(lane.labels)
            return True
        self._held[job] = lane
        self._held_of.update(lane.labels)
        return False

    def release(self, job: Job, lane: Lane) -> Iterator[Job]:
        """Note that a call has ended or was given up. Yield the held calls that may be done now."""
        if self._held.pop(job, None) is not None:
            _subtract(self._held_of, lane)
            return
        _subtract(self._working, lane)
        if not self._held or not lane.labels:
            return
        for other, its in [*self._held.items()]:
            if self._fits(its):
                del self._held[other]
                _subtract(self._held_of, its)
                self._working.update(its.labels)
                yield other

    def _fits(self, lane: Lane) -> bool:
        return all(self._working[label] < self._most for label in lane.labels)


def _subtract(counted: Counter[tuple[str, str]], lane: Lane) -> None:
    for label in lane.labels:
        counted[label] -= 1
        if not counted[label]:
            del counted[label]
