"""Inner loops of two-level int8 quantisation: from a vector to its codes and back (core/embedding/vectors.py).

A row has the bytes of its scale and fine scale (float32, little-endian), then its codes, then its fine codes.
"""

import numpy as np

from muisti.core.kernels.target import Bytes, Floats, compiled

HEAD = 8  # bytes of the scales


@compiled
def quantise(vectors: Floats, scales: Floats, rows: Bytes) -> None:
    """Fill the codes of each row and its two `scales`. Halves round to even; all arithmetic is in float32."""
    count, dimensions = vectors.shape
    rest = np.empty(dimensions, np.float32)
    for row in range(count):
        rest[:] = vectors[row]
        for plane in range(2):
            largest = np.float32(0)
            for d in range(dimensions):
                largest = max(largest, abs(rest[d]))
            scale = np.float32(largest / np.float32(127))
            divisor = scale if scale > 0 else np.float32(1)
            first = HEAD + plane * dimensions
            for d in range(dimensions):
                code = np.float32(np.rint(np.float32(rest[d] / divisor)))
                rows[row, first + d] = np.int8(code)
                rest[d] = np.float32(rest[d] - np.float32(code * scale))
            scales[row, plane] = scale


@compiled
def restore(rows: Bytes, scales: Floats, out: Floats) -> None:
    """Fill `out` with the vectors of the rows, whose cosines are exact to about 1e-5."""
    count, dimensions = out.shape
    for row in range(count):
        for d in range(dimensions):
            coarse = np.float32(np.float32(rows[row, HEAD + d]) * scales[row, 0])
            out[row, d] = coarse + np.float32(np.float32(rows[row, HEAD + dimensions + d]) * scales[row, 1])


def bake() -> None:
    """Compile for the types that the store uses."""
    vectors, scales, rows = np.ones((1, 4), np.float32), np.empty((1, 2), np.float32), np.zeros((1, 16), np.int8)
    quantise(vectors, scales, rows)
    restore(rows, scales, vectors)
