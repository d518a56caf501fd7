"""The best rows of a ranking, one for each memory. Ties are ordered by memory id, whatever the order of rows."""

import numpy as np
import numpy.typing as npt

from muisti.core.index.snapshot import RowNumbers, Snapshot
from muisti.core.kernels import Doubles
from muisti.core.kernels.pool import best_memories


def best_places(snapshot: Snapshot, rows: RowNumbers, scores: Doubles, wanted: int) -> RowNumbers:
    """Return the places of the best row of each of the `wanted` best memories, by falling score, then memory id."""
    c, heap, places = snapshot.columns, np.empty(len(rows), np.int64), np.empty(wanted, np.int64)
    return places[: best_memories(scores, rows, c.version, c.id_high, c.id_low, c.number, -1.0, wanted, heap, places)]


def in_order(snapshot: Snapshot, rows: RowNumbers, scores: npt.NDArray[np.floating]) -> RowNumbers:
    """Return the places of `rows` by falling score, then memory id, then passage."""
    c = snapshot.columns
    keys = (c.number[rows], c.id_low[rows], c.id_high[rows], -scores)
    return np.lexsort(keys)


def one_a_memory(snapshot: Snapshot, rows: RowNumbers) -> RowNumbers:
    """Return the places in `rows` of the first row of each memory, in the order given."""
    _, first = np.unique(snapshot.columns.version[rows], return_index=True)
    return np.sort(first)
