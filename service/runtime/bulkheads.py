"""Bulkheads between requests: what a request belongs to, and how many threads its kind, space and key may take.

A request of a slow kind (large documents, the graph, code, contexts, histories, copies of whole spaces) runs on threads
for these. On every pool a space or a key takes at most a share of the threads. Further calls of it wait without keeping
others from the threads, and are refused when too many wait.
"""

from collections import Counter
from collections.abc import Hashable, Iterable, Iterator
from contextvars import ContextVar
from typing import Generic, NamedTuple, TypeVar

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
