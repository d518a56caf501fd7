"""The meaning of candidate rows beside a query: their cosines, with the turns around them, and for an expanded query.

In a dialogue a turn takes part of its meaning from those before and after. Their vectors are added to that of the
passage with a weight of `TURN`: the visible neighbours that also lend it words (core/index/context.py).

An expanded query is the query's vector plus `FEEDBACK` times that of the best row (Rocchio, "Relevance feedback in
information retrieval", 1971). It finds what is like the best answer.
"""

import numpy as np

from muisti.core.index.dense import QueryVector, cosines
from muisti.core.index.snapshot import RowNumbers, Snapshot
from muisti.core.kernels import Doubles, Longs, Mask
from muisti.core.kernels.meaning import expand, lend

TURN = 0.2  # weight of the turn before and of the turn after, beside 1 of the passage itself
FEEDBACK = 0.3  # weight of the best row, beside 1 of the query itself

_NONE = np.empty((0, 2), np.int64)


class Meaning:
    """The cosines of `rows`: `cosine` of each passage alone, and `context`, what the turns around it add to that."""

    def __init__(self, snapshot: Snapshot, visible: Mask, vector: QueryVector, rows: RowNumbers) -> None:
        """Take rows in ascending order; only `visible` turns add to others."""
        self._columns, self._vector, self._rows = snapshot.columns, vector, rows
        self.cosine = cosines(snapshot, vector, rows)
        self.context = np.zeros(len(rows))
        self._near: Longs = _NONE
        self._lengths: Doubles = self.context
        before, after = snapshot.links()
        if TURN and len(after) and len(rows):
            self._near, self._lengths = np.empty((len(rows), 2), np.int64), np.empty(len(rows))
            c = snapshot.columns
            columns = (c.number, c.version, before, after, visible)
            own = (self.cosine, self._near, self._lengths, self.context)
            lend(c.codes, c.scales, vector.codes, vector.step, rows, *columns, TURN, *own)

    def expansion(self, best: int) -> Doubles:
        """Return what expanding the query by the row at a place adds to each cosine with context."""
        c, changes = self._columns, np.empty(len(self._rows))
        planes = (c.codes, c.scales, c.fine, c.fine_scales)
        known = (self._rows, self.cosine + self.context, best, self._near, self._lengths, TURN)
        expand(*planes, self._vector.length, FEEDBACK, *known, changes)
        return changes
