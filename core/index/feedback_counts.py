"""Feedback counts of the memories of a space, for its rankings.

A space counts the verdicts that callers gave, and each search reads that number together with its rows. When the number
has grown, the index reads the new verdicts and the search ranks again. A space without feedback pays nothing.
"""

from typing import cast

import msgspec
import numpy as np

from muisti.core.index.snapshot import RowNumbers, Snapshot
from muisti.core.kernels import Codes, Longs
from muisti.core.store.database import Database
from muisti.core.store.sql import feedback
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
        ((number,),), rows = self._database.read(feedback.given_after(self._space, known.number))
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
