"""Inner loops over vectors."""

import numpy as np

from core.kernels.target import Bytes, Floats, Longs, Mask, compiled


@compiled
def scan(codes: Bytes, scales: Floats, query: Bytes, allowed: Mask, out: Floats) -> None:
    """Integer dot product of every allowed row times its scale; -inf for the others and for rows without vector."""
    for row in range(out.size):
        if allowed[row] and scales[row] > 0:
            total = np.int32(0)
            for d in range(query.size):  # cast at each step: numba would widen to 64 bits, at a quarter more time
                total = np.int32(total + np.int32(np.int32(codes[row, d]) * np.int32(query[d])))
            out[row] = np.float32(total) * scales[row]
        else:
            out[row] = -np.inf


@compiled
def rescore(
    codes: Bytes, scales: Floats, fine: Bytes, fine_scales: Floats, query: Floats, rows: Longs, out: Floats
) -> None:
    """Cosine of the given rows, from both planes; 0 for a row without vector."""
    for i in range(rows.size):
        row = rows[i]
        coarse = np.float32(0)
        rest = np.float32(0)
        for d in range(query.size):
            coarse += np.float32(codes[row, d]) * query[d]
            rest += np.float32(fine[row, d]) * query[d]
        out[i] = coarse * scales[row] + rest * fine_scales[row]


def bake() -> None:
    """Compile for the types that the index uses."""
    floats, planes = np.ones(2, np.float32), np.ones((2, 8), np.int8)
    scan(planes, floats, planes[0], np.ones(2, np.bool_), floats.copy())
    rescore(planes, floats, planes, floats, np.ones(8, np.float32), np.zeros(1, np.int64), floats.copy())
