"""The best rows of a ranking, one a memory, equal scores in the order of ids whatever the order of rows."""

import numpy as np
import numpy.typing as npt

from core.index.snapshot import RowNumbers, Snapshot


def in_order(snapshot: Snapshot, rows: RowNumbers, scores: npt.NDArray[np.floating]) -> RowNumbers:
    """Places of `rows` by falling score, then memory id, then passage."""
    columns = snapshot.rows
    keys = (columns.number.view()[rows], columns.id_low.view()[rows], columns.id_high.view()[rows], -scores)
    return np.lexsort(keys)


def one_a_memory(snapshot: Snapshot, rows: RowNumbers) -> RowNumbers:
    """Places of the first row of each memory, in the order given."""
    _, first = np.unique(snapshot.rows.version.view()[rows], return_index=True)
    return np.sort(first)
