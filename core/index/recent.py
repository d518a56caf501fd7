"""A cache of the memories that searches have fetched, so that a version in use is read from the store once.

A version never changes. Whether it may be shown is decided elsewhere: by the snapshot, and by the change number of the
space that each search reads.
"""

import sys
import threading
import time
from collections.abc import Iterable, Mapping

from msgspec.json import encode

from muisti.core.model.values import Memory

LIMIT = 16_000_000  # bytes for one space
TURNS = 200  # that are kept with their session and topic
ENTRY = 1_000  # bytes of a memory without its content, metadata and structure, about


class _Half:
    """Memories by version id, and their bytes in all."""

    def __init__(self) -> None:
        self.memories: dict[int, Memory] = {}
        self.nbytes = 0

    def keep(self, version: int, memory: Memory, size: int) -> None:
        if self.memories.setdefault(version, memory) is memory:
            self.nbytes += size


class Recent:
    """Memories by version id, of at most `limit` bytes, and the last known change number of the space with its time.

    It has two halves. When the newer half is full, it takes the place of the older one, whose memories are dropped. So
    a search neither looks for the oldest memory nor moves those that it finds. Thread-safe.
    """

    def __init__(self, limit: int = LIMIT) -> None:
        self._half = limit // 2
        self._lock = threading.Lock()
        self._newer = _Half()
        self._older = _Half()
        self._forgotten = 0
        self._seen: tuple[int, float] = (-1, 0.0)
        self._turns: tuple[int, dict[int, Memory]] = (-1, {})

    @property
    def nbytes(self) -> int:
        return self._newer.nbytes + self._older.nbytes

    @property
    def forgotten(self) -> int:
        """Number of times that all memories were dropped."""
        return self._forgotten

    def of(self, versions: Iterable[int]) -> dict[int, Memory]:
        """Return those of the versions that are in the cache."""
        newer, older = self._newer.memories.get, self._older.memories.get
        return {version: memory for version in versions if (memory := newer(version) or older(version)) is not None}

    def note(self, number: int, found: Mapping[int, Memory], asked_at: float, forgotten: int) -> int:
        """Keep memories, and that the space was at change `number` at `asked_at` (monotonic clock) or later.

        `forgotten` is what the property was before the memories were read. If it has grown, none is kept: some of them
        may be erased. A memory of more than half the limit is not kept either. Return how many bytes the cache has
        grown by, which is below 0 if it has shrunk.
        """
        with self._lock:
            if forgotten != self._forgotten:
                return 0
            before = self.nbytes
            if number > self._seen[0] or asked_at > self._seen[1]:
                self._seen = (number, asked_at)
            for version, memory in found.items():
                if (size := _size(memory)) <= self._half and version not in self._older.memories:
                    if self._newer.nbytes + size > self._half:
                        self._older, self._newer = self._newer, _Half()
                    self._newer.keep(version, memory, size)
            return self.nbytes - before

    def turns_at(self, number: int) -> dict[int, Memory]:
        """Return turns with their session and topic as they are at a change number; callers add what they look up."""
        at, turns = self._turns
        if at != number or len(turns) >= TURNS:
            at, turns = self._turns = number, {}
        return turns

    def forget(self) -> None:
        """Drop all memories and the change number."""
        with self._lock:
            self._newer, self._older = _Half(), _Half()
            self._forgotten += 1
            self._seen = (-1, 0.0)
            self._turns = (-1, {})

    def was_at(self, number: int, max_age: float) -> bool:
        """Return whether the space was at a change at most `max_age` seconds ago."""
        seen, at = self._seen
        return seen == number and time.monotonic() - at <= max_age


def _size(memory: Memory) -> int:
    """Return the bytes of a memory, about."""
    size = ENTRY + sys.getsizeof(memory.content)
    if memory.metadata or memory.structure:
        size += len(encode((memory.metadata, memory.structure)))
    return size
