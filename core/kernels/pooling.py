"""Inner loops of vectors: pooled from the tokens of a text, and quantised in two levels."""

import numpy as np
import numpy.typing as npt

from muisti.core.kernels.target import Bytes, Floats, Longs, compiled

MANY = 64  # tokens that are sorted sooner by their bytes than by comparing them

Table = npt.NDArray[np.int8] | npt.NDArray[np.float32]


@compiled
def pool_tokens(
    table: Table, places: Longs, weights: Floats, tokens: Longs, starts: Longs, damped: bool, out: Floats
) -> None:
    """Fill `out` with the sum of `weights[t] * table[places[t]]` over the tokens of each text, scaled to unit length.

    Text i has `tokens[starts[i]:starts[i + 1]]`; a text without tokens has zeros. With `damped` a token that occurs n
    times counts sqrt(n) times, otherwise n times.
    """
    for i in range(starts.size - 1):
        own = _ascending(tokens[starts[i] : starts[i + 1]])
        total = out[i]
        total[:] = 0
        at = 0
        while at < own.size:
            token = own[at]
            after = at + 1
            while after < own.size and own[after] == token:
                after += 1
            times = np.float32(after - at)
            weight = weights[token] * (np.sqrt(times) if damped else times)
            place = places[token]
            for d in range(total.size):
                total[d] += weight * np.float32(table[place, d])
            at = after
        length = np.float32(0)
        for d in range(total.size):
            length += total[d] * total[d]
        if length > 0:
            total /= np.sqrt(length)


@compiled
def _ascending(tokens: Longs) -> Longs:
    """Return the tokens, which are not negative, in ascending order: many by their bytes, the last byte first."""
    if tokens.size < MANY:
        return np.sort(tokens)
    left, right, most = tokens.copy(), np.empty_like(tokens), tokens.max()
    places = np.empty(257, np.int64)
    shift = 0
    while shift == 0 or most >> shift > 0:
        places[:] = 0
        for token in left:
            places[(token >> shift & 255) + 1] += 1
        for byte in range(256):
            places[byte + 1] += places[byte]
        for token in left:
            byte = token >> shift & 255
            right[places[byte]] = token
            places[byte] += 1
        left, right = right, left
        shift += 8
    return left


# Inner loops of two-level int8 quantisation: from a vector to its codes and back (core/embedding/vectors.py).
#
# A row has the bytes of its scale and fine scale (float32, little-endian), then its codes, then its fine codes.

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
    """Compile for both kinds of tables."""
    tokens, starts = np.zeros(1, np.int64), np.array([0, 1], np.int64)
    weights, out = np.ones(1, np.float32), np.empty((1, 8), np.float32)
    tables: tuple[Table, ...] = (np.ones((1, 8), np.int8), np.ones((1, 8), np.float32))
    for table in tables:
        pool_tokens(table, tokens, weights, tokens, starts, True, out)
    vectors, scales, rows = np.ones((1, 4), np.float32), np.empty((1, 2), np.float32), np.zeros((1, 16), np.int8)
    quantise(vectors, scales, rows)
    restore(rows, scales, vectors)
