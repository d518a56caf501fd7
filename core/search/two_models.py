"""Cosines of rows by the model of a space and by its second model, in one number.

    both = (1 - share) * own + share * second

`share` is `SHARE`, or `MAPPED_SHARE` for a query's vector that was mapped, because that is less exact. It is 0 for a
row without a second vector: such a row keeps its own cosine.
"""

from typing import NamedTuple

import numpy as np

from muisti.core.index import dense
from muisti.core.index.allowed import Allowed
from muisti.core.index.dense import QueryVector
from muisti.core.index.pool import best_places
from muisti.core.index.snapshot import RowNumbers, Snapshot
from muisti.core.kernels import Doubles

SHARE = 0.75
MAPPED_SHARE = 0.6


class Second(NamedTuple):
    """The vector of a query for the second model, and whether it was mapped from that of the first."""

    vector: QueryVector
    mapped: bool

    @property
    def share(self) -> float:
        return MAPPED_SHARE if self.mapped else SHARE


class QueryVectors(NamedTuple):
    """The vectors of a query by the model of a space and by its second model, None without one."""

    own: QueryVector
    second: Second | None = None


class Cosines(NamedTuple):
    """The parts of the cosine of each row, as in the formula above; without a second model the first alone."""

    both: Doubles
    own: Doubles
    second: Doubles | None = None
    share: Doubles | None = None


class Nearest(NamedTuple):
    """The rows that the model of a space proposes, those of both models, and the best memories among the latter.

    `own` and `best` have one row a memory, best first.
    """

    own: RowNumbers
    every: RowNumbers
    best: RowNumbers


def cosines(snapshot: Snapshot, query: QueryVectors, rows: RowNumbers) -> Cosines:
    """Return the cosines of rows."""
    own = dense.cosines(snapshot, query.own, rows)
    if query.second is None or snapshot.second is None:
        return Cosines(own, own)
    second = dense.cosines(snapshot, query.second.vector, rows, snapshot.second)
    share = np.where(snapshot.second.scales[rows] > 0, query.second.share, 0.0)
    return Cosines((1 - share) * own + share * second, own, second, share)


def nearest(snapshot: Snapshot, query: QueryVectors, allowed: Allowed, wanted: int) -> Nearest:
    """Return the rows that the models propose, `wanted` memories each."""
    own = dense.nearest(snapshot, query.own, allowed, wanted).rows
    if query.second is None or snapshot.second is None:
        return Nearest(own, own, own)
    second = dense.nearest(snapshot, query.second.vector, allowed, wanted, snapshot.second).rows
    rows = np.union1d(own, second)
    best = rows[best_places(snapshot, rows, cosines(snapshot, query, rows).both, wanted)]
    return Nearest(own, rows, best)


def nearest_by_own(snapshot: Snapshot, query: QueryVectors, allowed: Allowed, wanted: int) -> RowNumbers:
    """Return the rows that the model of the space alone proposes, in the order of the cosine of both models."""
    rows = dense.nearest(snapshot, query.own, allowed, wanted).rows
    if query.second is None:
        return rows
    return rows[np.argsort(-cosines(snapshot, query, rows).both, kind="stable")]
