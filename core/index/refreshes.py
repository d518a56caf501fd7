"""Times at which the memories of a space were last retrieved, for rankings in which a retrieval keeps them fresh.

The first search with recency reads all times; later ones read new times every half minute, since decay takes days.
Between these reads a search needs no query to the database, and the latest retrievals may not count yet.
"""

from time import monotonic
from typing import cast

import numpy as np

from muisti.core.index.snapshot import RowNumbers, Snapshot
from muisti.core.kernels import Codes, Longs
from muisti.core.store.database import Database
from muisti.core.store.sql import telemetry
from muisti.core.store.sql.spaces import SpaceRow
from muisti.core.support.waiting import refuse_long

STALE_SECONDS = 30.0
LATE_US = 600_000_000  # overlap of reads: processes write retrievals some seconds late, and their clocks differ

_Known = tuple[Codes, Codes, Longs]  # halves of the ids, ascending by the low half, and the times


class Refreshes:
    """The last retrievals of the memories of one space. Thread-safe: two threads that renew them get the same."""

    def __init__(self, database: Database, space: SpaceRow) -> None:
        self._database, self._space = database, space
        self._known: _Known = (np.empty(0, np.uint64), np.empty(0, np.uint64), np.empty(0, np.int64))
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
            self._known = _merged(known, (ids[:, 0], ids[:, 1], news))


def _merged(known: _Known, news: _Known) -> _Known:
    """Return the memories of both with the later time of each."""
    high, low = np.append(known[0], news[0]), np.append(known[1], news[1])
    at = np.append(known[2], news[2])
    order = np.lexsort((at, high, low))
    high, low, at = high[order], low[order], at[order]
    newest = np.append((low[1:] != low[:-1]) | (high[1:] != high[:-1]), True)
    return high[newest], low[newest], at[newest]
