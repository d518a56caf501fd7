"""The best rows of a ranking, one a memory, equal scores in the order of ids whatever the order of rows."""

import numpy as np
import numpy.typing as npt

from core.index.snapshot import RowNumbers, Snapshot
from core.kernels import Floats
from core.kernels.pool import threshold

INSERTION = 1_024  # up to here a sorted list of the best is faster than a partition


def in_order(snapshot: Snapshot, rows: RowNumbers, scores: npt.NDArray[np.floating]) -> RowNumbers:
    """Places of `rows` by falling score, then memory id, then passage."""
    columns = snapshot.rows
    keys = (columns.number.view()[rows], columns.id_low.view()[rows], columns.id_high.view()[rows], -scores)
    return np.lexsort(keys)


def one_a_memory(snapshot: Snapshot, rows: RowNumbers) -> RowNumbers:
    """Places of the first row of each memory, in the order given."""
    _, first = np.unique(snapshot.rows.version.view()[rows], return_index=True)
    return np.sort(first)


def best_rows(snapshot: Snapshot, scores: Floats, wanted: int, *, above: float = -np.inf) -> RowNumbers:
    """The best row of each of the `wanted` best memories, best first, among the rows that score above `above`."""
    k = wanted
    while True:
        lowest = max(_kth_largest(scores, k), above)
        rows = np.flatnonzero((scores >= lowest) & (scores > above))
        rows = rows[in_order(snapshot, rows, scores[rows])]
        rows = rows[one_a_memory(snapshot, rows)]
        if len(rows) >= wanted or lowest <= above:
            return rows[:wanted]
        k *= 4  # long memories have many passages among the best


def _kth_largest(scores: Floats, k: int) -> float:
    if k > len(scores):
        return -np.inf
    return threshold(scores, k) if k <= INSERTION else float(np.partition(scores, -k)[-k])
