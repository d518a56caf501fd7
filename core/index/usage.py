"""Usage of the memories of a space, for its rankings: verdicts on them, and when they were last retrieved."""

from time import monotonic
from typing import cast

import msgspec
import numpy as np

from muisti.core.index.snapshot import RowNumbers, Snapshot
from muisti.core.kernels import Codes, Longs
from muisti.core.store.database import Database
from muisti.core.store.sql import telemetry
from muisti.core.store.sql.spaces import SpaceRow
from muisti.core.support.waiting import refuse_long


class _Known(msgspec.Struct, frozen=True):
    """The verdicts up to `number`: halves of the memories' ids, ascending by the low half, and counts."""

    number: int
    high: Codes
    low: Codes
    useful: Longs
    not_useful: Longs


class FeedbackCounts:
    """The feedback counts of one space. Thread-safe: two threads that renew them get the same."""

    def __init__(self, database: Database, space: SpaceRow) -> None:
        self._database, self._space = database, space
        none = np.empty(0, np.uint64), np.empty(0, np.int64)
        self._known = _Known(0, none[0], none[0], none[1], none[1])

    @property
    def nbytes(self) -> int:
        known = self._known
        return sum(array.nbytes for array in (known.high, known.low, known.useful, known.not_useful))

    @property
    def number(self) -> int:
        """Number of verdicts of the space that have been read."""
        return self._known.number

    def of(self, snapshot: Snapshot, rows: RowNumbers) -> tuple[Longs, Longs] | None:
        """Return how many callers found the memory of each row useful, and how many did not; None without feedback."""
        known = self._known
        if not len(known.low):
            return None
        high, low = snapshot.columns.id_high[rows], snapshot.columns.id_low[rows]
        places = np.minimum(np.searchsorted(known.low, low), len(known.low) - 1)
        matches = (known.low[places] == low) & (known.high[places] == high)
        return np.where(matches, known.useful[places], 0), np.where(matches, known.not_useful[places], 0)

    def renew(self) -> None:
        """Read the verdicts given since the last call.

        Raises:
            WouldWait: this is the first read, which may take long, and the thread must not wait.
        """
        known = self._known
        if not known.number:
            refuse_long()
        ((number,),), rows = self._database.read(telemetry.verdicts_after(self._space, known.number))
        if not rows:  # the memories of the verdicts were erased
            self._known = msgspec.structs.replace(known, number=cast(int, number))
            return
        ids = np.frombuffer(b"".join(cast(bytes, row[0]) for row in rows), ">u8").reshape(-1, 2).astype(np.uint64)
        counts = np.array([cast(tuple[int, int], row[1:]) for row in rows], np.int64)
        high, low = np.append(ids[:, 0], known.high), np.append(ids[:, 1], known.low)
        useful, not_useful = np.append(counts[:, 0], known.useful), np.append(counts[:, 1], known.not_useful)
        order = np.lexsort((high, low))  # stable: of two counts of a memory the new one comes first
        high, low = high[order], low[order]
        first = np.append(True, (low[1:] != low[:-1]) | (high[1:] != high[:-1]))
        self._known = _Known(cast(int, number), high[first], low[first], useful[order][first], not_useful[order][first])


# Times at which the memories of a space were last retrieved, for rankings in which a retrieval keeps them fresh.
#
# The first search with recency reads all times; later ones read new times every half minute, since decay takes days.
# Between these reads a search needs no query to the database, and the latest retrievals may not count yet.

STALE_SECONDS = 30.0
LATE_US = 600_000_000  # overlap of reads: processes write retrievals some seconds late, and their clocks differ

_Times = tuple[Codes, Codes, Longs]  # halves of the ids, ascending by the low half, and the times


class Refreshes:
    """The last retrievals of the memories of one space. Thread-safe: two threads that renew them get the same."""

    def __init__(self, database: Database, space: SpaceRow) -> None:
        self._database, self._space = database, space
        self._known: _Times = (np.empty(0, np.uint64), np.empty(0, np.uint64), np.empty(0, np.int64))
        self._read_at = -np.inf

    @property
    def nbytes(self) -> int:
        return sum(array.nbytes for array in self._known)

    def last(self, snapshot: Snapshot, rows: RowNumbers) -> Longs:
        """Return when the memory of each row was last retrieved, in microseconds; 0 for never.

        Raises:
            WouldWait: new times must be read, and this thread may not wait.
        """
        if monotonic() - self._read_at > STALE_SECONDS:
            refuse_long()
            self._renew()
        high, low, at = self._known
        if not len(at):
            return np.zeros(len(rows), np.int64)
        own_high, own_low = snapshot.columns.id_high[rows], snapshot.columns.id_low[rows]
        places = np.minimum(np.searchsorted(low, own_low), len(low) - 1)
        return np.where((low[places] == own_low) & (high[places] == own_high), at[places], 0)

    def _renew(self) -> None:
        self._read_at = monotonic()
        known = self._known
        after = int(known[2].max(initial=LATE_US)) - LATE_US
        (rows,) = self._database.read([telemetry.retrieved_after(self._space, after)])
        if rows:
            ids = np.frombuffer(b"".join(cast(bytes, row[0]) for row in rows), ">u8").reshape(-1, 2).astype(np.uint64)
            news = np.array([cast(int, row[1]) for row in rows], np.int64)
            self._known = _merged_times(known, (ids[:, 0], ids[:, 1], news))


def _merged_times(known: _Times, news: _Times) -> _Times:
    """Return the memories of both with the later time of each."""
    high, low = np.append(known[0], news[0]), np.append(known[1], news[1])
    at = np.append(known[2], news[2])
    order = np.lexsort((at, high, low))
    high, low, at = high[order], low[order], at[order]
    newest = np.append((low[1:] != low[:-1]) | (high[1:] != high[:-1]), True)
    return high[newest], low[newest], at[newest]
