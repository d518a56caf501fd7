"""The meaning of candidate rows beside a query: their cosines, with the turns around them, and for an expanded query.

In a dialogue a turn takes part of its meaning from those before and after. Their vectors are added to that of the
passage with a weight of `TURN`: the visible neighbours that also lend it words (core/index/context.py).

An expanded query is the query's vector plus `FEEDBACK` times that of the best row (Rocchio, "Relevance feedback in
information retrieval", 1971). It finds what is like the best answer.
"""

import numpy as np

from muisti.core.index.dense import QueryVector
from muisti.core.index.snapshot import RowNumbers, Snapshot
from muisti.core.index.vector_columns import Vectors
from muisti.core.kernels import Doubles, Longs, Mask
from muisti.core.kernels.meaning import expand, lend
from muisti.core.search.two_models import Cosines, QueryVectors

TURN = 0.2  # weight of the turn before and of the turn after, beside 1 of the passage itself
FEEDBACK = 0.3  # weight of the best row, beside 1 of the query itself

_NONE = np.empty((0, 2), np.int64)


class Meaning:
    """Changes of the cosines of `rows`: `context` comes from the turns around each.

    Turns add to the cosines of the model of the space alone.
    """

    def __init__(
        self, snapshot: Snapshot, visible: Mask, query: QueryVectors, found: Cosines, rows: RowNumbers
    ) -> None:
        """Take rows in ascending order with their cosines; only `visible` turns add to others."""
        self._snapshot, self._query, self._found, self._rows = snapshot, query, found, rows
        self._around = np.zeros(len(rows))
        self._near: Longs = _NONE
        self._lengths: Doubles = self._around
        before, after = snapshot.links()
        if TURN and len(after) and len(rows):
            self._near, self._lengths = np.empty((len(rows), 2), np.int64), np.empty(len(rows))
            c, v = snapshot.columns, snapshot.columns.vectors
            columns = (c.number, c.version, before, after, visible)
            own = (found.own, self._near, self._lengths, self._around)
            lend(v.codes, v.scales, query.own.codes, query.own.step, rows, *columns, TURN, *own)
        self.context = self._around if found.share is None else (1 - found.share) * self._around

    def expansion(self, best: int) -> Doubles:
        """Return what expanding the query by the row at a place adds to each cosine with context."""
        near, second = self._found, self._query.second
        known = (near.own + self._around, best, self._near, self._lengths)
        own = self._changes(self._snapshot.columns.vectors, self._query.own, *known)
        if second is None or self._snapshot.second is None or near.second is None or near.share is None:
            return own
        other = self._changes(self._snapshot.second, second.vector, near.second, best, _NONE, np.zeros(len(own)))
        return (1 - near.share) * own + near.share * other

    def _changes(
        self, v: Vectors, query: QueryVector, cosines: Doubles, best: int, near: Longs, lengths: Doubles
    ) -> Doubles:
        changes = np.empty(len(self._rows))
        planes = (v.codes, v.scales, v.fine, v.fine_scales)
        expand(*planes, query.length, FEEDBACK, self._rows, cosines, best, near, lengths, TURN, changes)
        return changes
