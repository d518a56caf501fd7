"""Searches by a memory in place of a text: its words and its stored vector are the query."""

import msgspec
import numpy as np
from msgspec.structs import replace

from muisti.core.index.allowed import Allowed
from muisti.core.index.dense import directions
from muisti.core.index.snapshot import RowNumbers, Snapshot
from muisti.core.index.vector_columns import Vectors
from muisti.core.kernels import Floats
from muisti.core.model.ids import id_bytes
from muisti.core.model.values import QUERY_MAX
from muisti.core.query.query import Wanted, parse


class Like(msgspec.Struct, frozen=True):
    """The memory that is the query: its id and its content."""

    id: str
    content: str

    @property
    def text(self) -> str:
        """The words of the query. Quotes in a content are no demand for a phrase."""
        return self.content[:QUERY_MAX].replace('"', " ")


def wanted(like: Like) -> Wanted:
    """Return the words to rank by. The text stays empty: its times and names ask for nothing."""
    return replace(parse(like.text, "any"), text="")


def direction(snapshot: Snapshot, like: Like, vectors: Vectors | None = None) -> Floats | None:
    """Return the mean of the vectors of the memory's passages, in the coordinates of the index; None without any.

    `vectors` are those by the space's model unless given.
    """
    own = directions(snapshot, rows_of(snapshot, like), vectors)
    own = own[own.any(axis=1)]
    return own.mean(axis=0, dtype=np.float32) if len(own) else None


def without(snapshot: Snapshot, allowed: Allowed, like: Like) -> Allowed:
    """Return the allowed rows without those of the memory itself."""
    mask = allowed.mask.copy()
    mask[_versions(snapshot, like)] = False
    return Allowed(mask, int(np.count_nonzero(mask)))


def rows_of(snapshot: Snapshot, like: Like) -> RowNumbers:
    """Return the rows of the version of the memory that was open at the snapshot; empty when it has none."""
    rows, number = _versions(snapshot, like), snapshot.seq.number
    born, died = snapshot.rows.born.view(snapshot.size), snapshot.rows.died.view(snapshot.size)
    return rows[(born[rows] <= number) & (died[rows] > number)]


def _versions(snapshot: Snapshot, like: Like) -> RowNumbers:
    """Return the rows of all versions of the memory."""
    raw = id_bytes(like.id)
    assert raw is not None
    high, low = (np.uint64(int.from_bytes(part, "big")) for part in (raw[:8], raw[8:]))
    c = snapshot.columns
    return np.flatnonzero((c.id_low == low) & (c.id_high == high))
