"""Memories as searches use them: fetched ones, verdicts on them, and when they were last retrieved."""

import sys
import threading
import time
from collections.abc import Iterable, Mapping
from time import monotonic
from typing import cast

import msgspec
import numpy as np
from msgspec.json import encode

from muisti.core.index.snapshot import RowNumbers, Snapshot
from muisti.core.kernels import Codes, Longs
from muisti.core.model.values import Memory
from muisti.core.store.database import Database, Rows
from muisti.core.store.sql import telemetry
from muisti.core.store.sql.spaces import SpaceRow
from muisti.core.support.waiting import refuse_long


class _Known(msgspec.Struct, frozen=True):
    """Values of memories: halves of their ids, ascending by the low half, and a row of values for each."""

    high: Codes
    low: Codes
    values: Longs

    @classmethod
    def none(cls, width: int) -> "_Known":
        return cls(np.empty(0, np.uint64), np.empty(0, np.uint64), np.empty((0, width), np.int64))

    @property
    def nbytes(self) -> int:
        return self.high.nbytes + self.low.nbytes + self.values.nbytes

    def of(self, snapshot: Snapshot, rows: RowNumbers) -> Longs | None:
        """Return the values of the memory of each row, 0 where it has none; None when no memory has any."""
        if not len(self.low):
            return None
        high, low = snapshot.columns.id_high[rows], snapshot.columns.id_low[rows]
        places = np.minimum(np.searchsorted(self.low, low), len(self.low) - 1)
        known = (self.low[places] == low) & (self.high[places] == high)
        return np.where(known[:, None], self.values[places], 0)

    def renewed(self, found: Rows) -> "_Known":
        """Return these values with those of rows (memory id, values), which replace older ones."""
        ids = np.frombuffer(b"".join(cast(bytes, row[0]) for row in found), ">u8").reshape(-1, 2).astype(np.uint64)
        news = np.array([cast(tuple[int, ...], row[1:]) for row in found], np.int64)
        high, low = np.append(ids[:, 0], self.high), np.append(ids[:, 1], self.low)
        order = np.lexsort((high, low))  # stable: of two rows of a memory the new one comes first
        high, low = high[order], low[order]
        first = np.append(True, (low[1:] != low[:-1]) | (high[1:] != high[:-1]))
        return _Known(high[first], low[first], np.concatenate([news, self.values])[order][first])


class FeedbackCounts:
    """The feedback counts of one space. Thread-safe: two threads that renew them get the same."""

    def __init__(self, database: Database, space: SpaceRow) -> None:
        self._database, self._space = database, space
        self._read = (0, _Known.none(2))  # the number of verdicts, and the counts by them

    @property
    def nbytes(self) -> int:
        return self._read[1].nbytes

    @property
    def number(self) -> int:
        """Number of verdicts of the space that have been read."""
        return self._read[0]

    def of(self, snapshot: Snapshot, rows: RowNumbers) -> tuple[Longs, Longs] | None:
        """Return how many callers found the memory of each row useful, and how many did not; None without feedback."""
        counts = self._read[1].of(snapshot, rows)
        return None if counts is None else (counts[:, 0], counts[:, 1])

    def renew(self) -> None:
        """Read the verdicts given since the last call.

        Raises:
            WouldWait: this is the first read, which may take long, and the thread must not wait.
        """
        before, known = self._read
        if not before:
            refuse_long()
        ((number,),), rows = self._database.read(telemetry.verdicts_after(self._space, before))
        self._read = cast(int, number), known.renewed(rows) if rows else known  # the memories may be erased


STALE_SECONDS = 30.0  # between reads of retrievals, since decay takes days; the latest ones may not count yet
LATE_US = 600_000_000  # overlap of reads: processes write retrievals some seconds late, and their clocks differ


class Refreshes:
    """The last retrievals of the memories of one space, which keep them fresh in rankings by age.

    Thread-safe: two threads that renew them get the same.
    """

    def __init__(self, database: Database, space: SpaceRow) -> None:
        self._database, self._space = database, space
        self._known = _Known.none(1)
        self._read_at = -np.inf

    @property
    def nbytes(self) -> int:
        return self._known.nbytes

    def last(self, snapshot: Snapshot, rows: RowNumbers) -> Longs:
        """Return when the memory of each row was last retrieved, in microseconds; 0 for never.

        Raises:
            WouldWait: new times must be read, and this thread may not wait.
        """
        if monotonic() - self._read_at > STALE_SECONDS:
            refuse_long()
            self._read_at, known = monotonic(), self._known
            after = int(known.values.max(initial=LATE_US)) - LATE_US
            (found,) = self._database.read([telemetry.retrieved_after(self._space, after)])
            self._known = known.renewed(found) if found else known
        times = self._known.of(snapshot, rows)
        return np.zeros(len(rows), np.int64) if times is None else times[:, 0]


# A cache of the memories that searches have fetched, so that a version in use is read from the store once.
#
# A version never changes. Whether it may be shown is decided elsewhere: by the snapshot, and by the change number of
# the space that each search reads.

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
        self.forgotten = 0  # times that all memories were dropped
        self._seen: tuple[int, float] = (-1, 0.0)
        self._turns: tuple[int, dict[int, Memory]] = (-1, {})

    @property
    def nbytes(self) -> int:
        return self._newer.nbytes + self._older.nbytes

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
            if forgotten != self.forgotten:
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
            self.forgotten += 1
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
