"""Cosines beyond that of a passage and a query: with the turns around the passage, and of an expanded query.

A turn is a passage between two others, whose vectors are added to its own with a weight. `near` (rows, 2) has the rows
before and after each row, below 0 for none; without dialogues it is empty. Their small part of a sum is computed from
coarse codes alone.
"""

import numpy as np

from muisti.core.kernels.context import windows
from muisti.core.kernels.dense import Shorts, product, rescore
from muisti.core.kernels.target import Bytes, Doubles, Floats, Ints, Longs, Mask, compiled


@compiled
def lend(
    codes: Bytes,
    scales: Floats,
    query: Shorts,
    step: float,
    rows: Longs,
    numbers: Ints,
    versions: Longs,
    before: Ints,
    after: Ints,
    visible: Mask,
    weight: float,
    cosines: Doubles,
    near: Longs,
    lengths: Doubles,
    out: Doubles,
) -> None:
    """Fill `out` with the change of each row's cosine when the vectors of visible turns around it are added to its own.

    Also fill `near`, and `lengths` with the length of each sum. Rows without a vector have a change of 0.
    """
    windows(rows, numbers, versions, before, after, visible, 1, near)
    for i in range(rows.size):
        row, one, other = rows[i], near[i, 0], near[i, 1]
        out[i], lengths[i] = 0.0, 1.0
        if scales[row] == 0 or (one < 0 and other < 0):
            continue
        squares = 1 + weight * weight * (_there(scales, one) + _there(scales, other))
        squares += 2 * weight * (_product(codes, scales, row, one) + _product(codes, scales, row, other))
        squares += 2 * weight * weight * _product(codes, scales, one, other)
        lengths[i] = np.sqrt(squares)
        lent = _coarse(codes, scales, query, step, one) + _coarse(codes, scales, query, step, other)
        out[i] = (cosines[i] + weight * lent) / lengths[i] - cosines[i]


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
    near: Longs,
    lengths: Doubles,
    turn: float,
    out: Doubles,
) -> None:
    """Fill `out` with the change of each row's cosine when the vector of a row is added to the query's.

    `best` is the place of that row in `rows`. `cosines` are those with the query as it is, of `length`, and with the
    turns around, of weight `turn`, added as `lend` does. Rows without a vector have a change of 0.
    """
    vector = np.zeros(codes.shape[1])
    _add(codes, scales, fine, fine_scales, rows[best], 1.0, vector)
    if near.size > 0 and scales[rows[best]] > 0:
        _add(codes, scales, fine, fine_scales, near[best, 0], turn, vector)
        _add(codes, scales, fine, fine_scales, near[best, 1], turn, vector)
    largest, total, squares = 0.0, 0.0, 0.0
    for d in range(vector.size):
        largest, total = max(largest, abs(vector[d])), total + abs(vector[d])
        squares += vector[d] * vector[d]
    out[:] = 0
    if squares == 0:
        return
    unit = np.sqrt(squares)
    step = max(largest / 32767, 127 * total / (2**31 - 1 - 64 * vector.size))
    short = np.empty(vector.size, np.int16)
    for d in range(vector.size):
        value = np.float64(vector[d])
        short[d] = np.int16(np.round(value / step))
    rescore(codes, scales, fine, fine_scales, short, step / unit, rows, out)
    shrunk = length / np.sqrt(length * length + 2 * weight * cosines[best] + weight * weight)
    for i in range(rows.size):
        if near.size > 0 and (near[i, 0] >= 0 or near[i, 1] >= 0):
            lent = _coarse(codes, scales, short, step / unit, near[i, 0])
            lent += _coarse(codes, scales, short, step / unit, near[i, 1])
            out[i] = (out[i] + turn * lent) / lengths[i]
        out[i] = shrunk * (cosines[i] + weight * out[i]) - cosines[i] if scales[rows[i]] > 0 else 0.0


@compiled
def _there(scales: Floats, row: np.int64) -> float:
    """Return 1 for a row with a vector, else 0."""
    return 1.0 if row >= 0 and scales[row] > 0 else 0.0


@compiled
def _product(codes: Bytes, scales: Floats, one: np.int64, other: np.int64) -> float:
    """Return the cosine of two rows from their coarse codes; 0 where one is missing."""
    if one < 0 or other < 0:
        return 0.0
    total = np.int32(0)
    for d in range(codes.shape[1]):
        total = np.int32(total + np.int32(np.int32(codes[one, d]) * np.int32(codes[other, d])))
    return np.float64(total) * scales[one] * scales[other]


@compiled
def _coarse(codes: Bytes, scales: Floats, query: Shorts, step: float, row: np.int64) -> float:
    """Return the cosine of a query and a row from its coarse codes; 0 for a missing row."""
    return step * product(codes, row, query) * scales[row] if row >= 0 else 0.0


@compiled
def _add(
    codes: Bytes, scales: Floats, fine: Bytes, fine_scales: Floats, row: np.int64, weight: float, vector: Doubles
) -> None:
    """Add the vector of a row to `vector`; nothing for a missing row."""
    if row >= 0:
        for d in range(vector.size):
            vector[d] += weight * (
                np.float64(codes[row, d]) * scales[row] + np.float64(fine[row, d]) * fine_scales[row]
            )


def bake() -> None:
    """Compile for the types that the index uses."""
    plane, floats = np.ones((2, 8), np.int8), np.ones(2, np.float32)
    longs, ints = np.zeros(1, np.int64), np.zeros(1, np.int32)
    near, one, shorts = np.empty((1, 2), np.int64), np.ones(1), np.zeros(8, np.int16)
    links = (ints, longs, ints - 1, ints - 1, np.ones(1, np.bool_))
    lend(plane, floats, shorts, 1.0, longs, *links, 0.2, one, near, one.copy(), one.copy())
    expand(plane, floats, plane, floats, 1.0, 0.3, longs, one, 0, near, one.copy(), 0.2, one.copy())
