"""Expansion of a query by the vector of a row: cosines with the sum of both (Rocchio, 1971)."""

import numpy as np

from muisti.core.kernels.dense import rescore
from muisti.core.kernels.target import Bytes, Doubles, Floats, Longs, compiled


@compiled
def expand(
    codes: Bytes,
    scales: Floats,
    fine: Bytes,
    fine_scales: Floats,
    length: float,
    weight: float,
    rows: Longs,
    cosines: Doubles,
    best: int,
    out: Doubles,
) -> None:
    """Fill `out` with the change of each row's cosine when the query is expanded by a row, and the query's length kept.

    `best` is the place of that row in `rows`. Rows without a vector have 0. `cosines` are those with the query as it
    is, of `length`.
    """
    row, size, largest, total = rows[best], codes.shape[1], 0.0, 0.0
    vector, short = np.empty(size), np.empty(size, np.int16)
    for d in range(size):
        vector[d] = np.float64(codes[row, d]) * scales[row] + np.float64(fine[row, d]) * fine_scales[row]
        largest, total = max(largest, abs(vector[d])), total + abs(vector[d])
    step = max(largest / 32767, 127 * total / (2**31 - 1 - 64 * size))
    if step == 0:
        out[:] = 0
        return
    for d in range(size):
        short[d] = np.int16(np.round(vector[d] / step))
    rescore(codes, scales, fine, fine_scales, short, step, rows, out)
    near = length / np.sqrt(length * length + 2 * weight * cosines[best] + weight * weight)
    for i in range(rows.size):
        if scales[rows[i]] > 0:
            out[i] = near * (cosines[i] + weight * out[i]) - cosines[i]


def bake() -> None:
    """Compile for the types that the index uses."""
    plane, floats, longs = np.ones((2, 8), np.int8), np.ones(2, np.float32), np.zeros(1, np.int64)
    expand(plane, floats, plane, floats, 1.0, 0.3, longs, np.ones(1), 0, np.ones(1))
