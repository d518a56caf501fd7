"""Cosine over a snapshot: an int8 scan of the allowed rows, then the exact cosine of the best."""

import numpy as np
import numpy.typing as npt

from core.index.snapshot import RowNumbers, Snapshot
from core.kernels import Floats, Mask
from core.kernels.dense import rescore, scan
from core.vectors import quantise, rotate

EXACT_ROWS = 512  # as few as this are scored exactly at once


def rough_cosines(snapshot: Snapshot, query: Floats, allowed: Mask) -> Floats:
    """Cosine of every allowed row to within about 0.01, exact when they are few.

    -inf for the other rows and for rows without a vector. `query` is a unit vector, `rotated`.
    """
    rows = snapshot.rows
    few = np.flatnonzero(allowed) if np.count_nonzero(allowed) <= EXACT_ROWS else None
    if few is not None:
        exact = np.full(snapshot.size, -np.inf, np.float32)
        exact[few] = np.where(rows.scales.view()[few] > 0, cosines(snapshot, query, few), -np.inf)
        return exact
    planes = quantise(query[None, :])
    out = np.empty(snapshot.size, np.float32)
    scan(rows.codes.view(snapshot.size), rows.scales.view(snapshot.size), planes.codes[0], allowed, out)
    return out * planes.scales[0]


def cosines(snapshot: Snapshot, query: Floats, chosen: RowNumbers) -> npt.NDArray[np.float64]:
    """Cosine of the chosen rows to about 1e-5; 0 for a row without a vector."""
    rows = snapshot.rows
    out = np.empty(len(chosen), np.float32)
    rescore(rows.codes.view(), rows.scales.view(), rows.fine.view(), rows.fine_scales.view(), query, chosen, out)
    return out.astype(np.float64)


def rotated(vector: Floats) -> Floats:
    """A query's vector in the coordinates of the index."""
    return rotate(vector[None, :])[0]
