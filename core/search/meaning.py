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
    """What the turns around candidate rows add to their cosines (`context`), and what an expanded query adds.

    Turns add to the cosines of the space's own model alone. A second model reads passages well enough without them.
    """

    def __init__(
        self, snapshot: Snapshot, visible: Mask, vectors: QueryVectors, cosines: Cosines, rows: RowNumbers
    ) -> None:
        """Take rows in ascending order, with their `cosines`; only `visible` turns add to others."""
        self._snapshot, self._vectors, self._cosines, self._rows = snapshot, vectors, cosines, rows
        self._own = np.zeros(len(rows))
        self._near: Longs = _NONE
        self._lengths: Doubles = self._own
        before, after = snapshot.links()
        if TURN and len(after) and len(rows):
            self._near, self._lengths = np.empty((len(rows), 2), np.int64), np.empty(len(rows))
            c, v, query = snapshot.columns, snapshot.columns.vectors, vectors.own
            columns = (c.number, c.version, before, after, visible)
            out = (cosines.own, self._near, self._lengths, self._own)
            lend(v.codes, v.scales, query.codes, query.step, rows, *columns, TURN, *out)

    @property
    def context(self) -> Doubles:
        """What the turns around each row add to its cosine."""
        share = self._cosines.share
        return self._own if share is None else (1 - share) * self._own

    def expansion(self, best: int) -> Doubles:
        """Return what expanding the query by the row at a place adds to each cosine with context."""
        query, found = self._vectors, self._cosines
        around = (self._near, self._lengths)
        own = self._expanded(self._snapshot.columns.vectors, query.own, found.own + self._own, best, *around)
        second = self._snapshot.second
        if query.second is None or second is None or found.second is None or found.share is None:
            return own
        other = self._expanded(second, query.second.vector, found.second, best, _NONE, self._lengths)
        return (1 - found.share) * own + found.share * other

    def _expanded(
        self, v: Vectors, query: QueryVector, cosines: Doubles, best: int, near: Longs, lengths: Doubles
    ) -> Doubles:
        changes = np.empty(len(self._rows))
        known = (self._rows, cosines, best, near, lengths, TURN)
        expand(v.codes, v.scales, v.fine, v.fine_scales, query.length, FEEDBACK, *known, changes)
        return changes
