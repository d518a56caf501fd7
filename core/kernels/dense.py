"""Inner loops over vectors.

A row has two levels of int8 codes, coarse and fine (`embedding.vectors`), and sign bits. The sign bits are stored in
blocks of `LANES` rows, so that a loop over rows reads neighbouring words. Bit d % 64 of
`bits[row // LANES, d // 64, row % LANES]` is set where component d is positive.

A query has int16 codes and `planes` (3, words) of bits. The first has the signs; the others have the binary digits of
each component's weight, 0 to 3.
"""

import numpy as np
import numpy.typing as npt

from muisti.core.kernels.pool import best_memories, kth_largest
from muisti.core.kernels.target import Bytes, Codes, Doubles, Floats, Ints, Longs, compiled, fetch

Shorts = npt.NDArray[np.int16]
Words = npt.NDArray[np.uint64]
Planes = tuple[Bytes, Floats, Bytes, Floats]  # codes and scales of both levels, of all rows by one model
Asked = tuple[Shorts, float, float]  # codes, step and length of a query

LANES = 64
AHEAD = 16  # rows: how far ahead memory is prefetched in scans that jump from row to row
SAMPLED = 32  # blocks: one of so many is sampled
SPARE = 1.4  # times the wanted rows, so that a sample hardly ever gives too small a distance
WEIGHT_STEP = 0.6  # of the root mean square component: recall is flat from .5 to .7
DEVIATIONS = 6.0 / np.sqrt(12.0)  # of the rounding error of codes, uniform in each component: wider than any met

_ONES = np.uint64(0x5555555555555555)
_TWOS = np.uint64(0x3333333333333333)
_FOURS = np.uint64(0x0F0F0F0F0F0F0F0F)
_BYTES = np.uint64(0x0101010101010101)


@compiled
def rotate(values: Doubles, signs: Doubles) -> None:
    """Rotate each row of `values` (n, dimensions) in place: multiply by `signs`, then transform by Walsh-Hadamard.

    The transform works on stretches whose sizes are powers of two.
    """
    rows, dimensions = values.shape
    for row in range(rows):
        for d in range(dimensions):
            values[row, d] *= signs[d]
        start = 0
        while start < dimensions:
            size = 1
            while start + 2 * size <= dimensions:
                size *= 2
            half = 1
            while half < size:
                for base in range(start, start + size, 2 * half):
                    for d in range(base, base + half):
                        left, right = values[row, d], values[row, d + half]
                        values[row, d] = left + right
                        values[row, d + half] = left - right
                half *= 2
            for d in range(start, start + size):
                values[row, d] /= np.sqrt(size)
            start += size


@compiled
def quantise_query(direction: Floats, codes: Shorts, planes: Words) -> float:
    """Fill a query's `codes` and `planes` (signs, ones and twos of the weights) and return the step of the codes.

    The step is 0 for a direction of length 0. The dot product of int8 codes with these codes fits into 32 bits.
    """
    largest, total, squares = 0.0, 0.0, 0.0
    for d in range(direction.size):
        size = abs(np.float64(direction[d]))
        largest, total, squares = max(largest, size), total + size, squares + size * size
    planes[:] = 0
    codes[:] = 0
    step = max(largest / 32767, 127 * total / (2**31 - 1 - 64 * direction.size))
    if step > 0:
        weight = WEIGHT_STEP * np.sqrt(squares / direction.size)
        for d in range(direction.size):
            value = np.float64(direction[d])
            codes[d] = np.int16(np.round(value / step))
            times = np.uint64(min(int(abs(value) / weight + 0.5), 3))
            word, bit = d // 64, np.uint64(d % 64)
            planes[0, word] |= np.uint64(value > 0) << bit
            planes[1, word] |= (times & np.uint64(1)) << bit
            planes[2, word] |= (times >> np.uint64(1)) << bit
    return step


@compiled
def popcount(word: np.uint64) -> np.uint64:
    """Count the bits set in a word. The compiler recognises these lines and emits the processor's instruction."""
    word = word - ((word >> np.uint64(1)) & _ONES)
    word = (word & _TWOS) + ((word >> np.uint64(2)) & _TWOS)
    word = (word + (word >> np.uint64(4))) & _FOURS
    return (word * _BYTES) >> np.uint64(56)


@compiled
def lowest(word: np.uint64) -> np.int64:
    """Return the place of the lowest bit set, which is the number of zeros below it."""
    return np.int64(popcount(~word & (word - np.uint64(1))))


@compiled
def nearest_signs(
    bits: Words, query: Words, allowed: Words, wanted: int, weights: Longs, rows: Ints, distances: Ints, counts: Ints
) -> int:
    """Find the `wanted` allowed rows with the least weight on components of the other sign, ties by row number.

    `allowed` has a bit for each row. The function fills `rows`, ascending, and returns how many there are. Scratch:
    `weights` has LANES places, `rows` and `distances` at least 2 * wanted + LANES, `counts` more than 3 * 64 * words.

    A sample of the rows gives a distance that most of them exceed, so few rows are looked at one by one.
    """
    limit = _sampled(bits, query, allowed, wanted, weights, counts)
    found, few = _nearer(bits, query, allowed, wanted, limit, weights, rows, distances, counts)
    if few and limit < counts.size:
        found, _ = _nearer(bits, query, allowed, wanted, counts.size, weights, rows, distances, counts)
    return found


@compiled
def _sampled(bits: Words, query: Words, allowed: Words, wanted: int, weights: Longs, counts: Ints) -> int:
    """Return a distance below which there are probably `wanted` allowed rows; `counts.size` when too few are sampled.

    Every `SAMPLED`-th block is looked at.
    """
    total, seen = 0, 0
    for block in range(allowed.size):
        total += np.int64(popcount(allowed[block]))
    if total < SAMPLED * SAMPLED * LANES:
        return counts.size
    counts[:] = 0
    for block in range(0, allowed.size, SAMPLED):
        if allowed[block] == 0:
            continue
        weigh(bits[block], query, weights)
        for lane in range(LANES):
            there = np.int64((allowed[block] >> np.uint64(lane)) & np.uint64(1))
            counts[weights[lane]] += there
            seen += there
    needed, limit = SPARE * wanted * seen / total, 0
    while needed > 0 and limit < counts.size:
        needed -= counts[limit]
        limit += 1
    return limit


@compiled
def _nearer(
    bits: Words,
    query: Words,
    allowed: Words,
    wanted: int,
    limit: int,
    weights: Longs,
    rows: Ints,
    distances: Ints,
    counts: Ints,
) -> tuple[int, bool]:
    """Find the rows as `nearest_signs` does among those nearer than `limit`; return how many, and if too few are.

    The scan is a counting selection: `limit` becomes the wanted-th smallest distance so far, which a later row must
    beat. `below` counts the rows nearer than `limit`.
    """
    counts[:] = 0
    found, below, first = 0, 0, limit
    for block in range(allowed.size):
        if allowed[block] == 0:
            continue
        weigh(bits[block], query, weights)
        near = allowed[block] & lighter(weights, limit)
        while near != 0:
            lane = lowest(near)
            near &= near - np.uint64(1)
            distance = weights[lane]
            if distance < limit:
                rows[found], distances[found] = block * LANES + lane, distance
                found += 1
                counts[distance] += 1
                below += 1
                while below >= wanted:
                    limit -= 1
                    below -= counts[limit]
        if found + LANES > rows.size:
            found = drop(rows, distances, found, limit, wanted - below)
    return drop(rows, distances, found, limit, wanted - below), limit == first


@compiled
def weigh(block: Words, query: Words, weights: Longs) -> None:
    """Fill `weights` with the weight of the components whose sign is not the query's, for each row of a block."""
    weights[:] = 0
    for w in range(query.shape[1]):
        signs, ones, twos = query[0, w], query[1, w], query[2, w]
        for lane in range(LANES):
            other = block[w, lane] ^ signs
            weights[lane] += np.int64(popcount(other & ones) + (popcount(other & twos) << np.uint64(1)))


@compiled
def lighter(weights: Longs, limit: int) -> np.uint64:
    """Return a word with a bit set for each lane whose weight is below `limit`."""
    lanes = np.uint64(0)
    for lane in range(LANES):
        lanes |= np.uint64(weights[lane] < limit) << np.uint64(lane)
    return lanes


@compiled
def drop(rows: Ints, distances: Ints, found: int, limit: int, ties: int) -> int:
    """Keep the rows nearer than `limit`, and the first `ties` rows at that distance; return how many were kept."""
    kept = 0
    for i in range(found):
        tie = distances[i] == limit
        if distances[i] < limit or (tie and ties > 0):
            rows[kept], distances[kept] = rows[i], distances[i]
            kept += 1
            ties -= int(tie)
    return kept


@compiled
def listed(allowed: Words, out: Ints | Longs) -> int:
    """Fill `out` with the numbers of the allowed rows, ascending, and return how many; `allowed` has a bit for each."""
    found = 0
    for block in range(allowed.size):
        word = allowed[block]
        while word != 0 and found < out.size:
            out[found] = block * LANES + lowest(word)
            word &= word - np.uint64(1)
            found += 1
    return found


@compiled
def scan(codes: Bytes, scales: Floats, query: Shorts, rows: Ints, out: Floats) -> float:
    """Fill `out` with the cosine of each row divided by the query's step, from coarse codes; -inf without a vector.

    Return the largest scale among these rows.
    """
    largest, width = 0.0, codes.shape[1]
    for i in range(rows.size):
        row = rows[i]
        fetch(codes.ctypes.data + rows[min(i + AHEAD, rows.size - 1)] * width, width)
        total = np.int32(0)
        for d in range(query.size):  # cast at each step: numba would widen to 64 bits, at a quarter more time
            total = np.int32(total + np.int32(np.int32(codes[row, d]) * np.int32(query[d])))
        out[i] = np.float32(total) * scales[row] if scales[row] > 0 else -np.inf
        largest = max(largest, float(scales[row]))
    return largest


@compiled
def above(rows: Ints, scores: Floats, lowest: float, out: Longs) -> int:
    """Fill `out` with the rows that score at least `lowest` and return how many; `out` has one place more than rows."""
    found = 0
    for i in range(rows.size):
        out[found] = rows[i]
        found += int(scores[i] >= lowest)
    return found


@compiled
def rescore(
    codes: Bytes,
    scales: Floats,
    fine: Bytes,
    fine_scales: Floats,
    query: Shorts,
    step: float,
    rows: Longs,
    out: Doubles,
) -> None:
    """Fill `out` with the cosine of each row, from coarse and fine codes; 0 for a row without a vector."""
    width = codes.shape[1]
    for i in range(rows.size):
        row = rows[i]
        ahead = rows[min(i + AHEAD, rows.size - 1)]
        fetch(codes.ctypes.data + ahead * width, width)
        fetch(fine.ctypes.data + ahead * width, width)
        coarse, rest = np.int32(0), np.int32(0)
        for d in range(query.size):
            coarse = np.int32(coarse + np.int32(np.int32(codes[row, d]) * np.int32(query[d])))
            rest = np.int32(rest + np.int32(np.int32(fine[row, d]) * np.int32(query[d])))
        out[i] = step * (np.float64(coarse) * scales[row] + np.float64(rest) * fine_scales[row])


@compiled
def product(codes: Bytes, row: int | np.int64, query: Shorts) -> float:
    """Return the product of a row's codes and a query's."""
    total = np.int32(0)
    for d in range(query.size):  # cast at each step: numba would widen to 64 bits
        total = np.int32(total + np.int32(np.int32(codes[row, d]) * np.int32(query[d])))
    return np.float64(total)


@compiled
def nearest(
    bits: Words,
    codes: Bytes,
    scales: Floats,
    fine: Bytes,
    fine_scales: Floats,
    version: Longs,
    id_high: Codes,
    id_low: Codes,
    number: Ints,
    query: Shorts,
    planes: Words,
    step: float,
    length: float,
    allowed: Words,
    count: int,
    chosen: int,
    k: int,
    wanted: int,
) -> tuple[Longs, Doubles, float]:
    """Return the best row of each of the `wanted` nearest memories, their cosines, and a lower bound.

    The coarse codes score all `count` allowed rows when `chosen` is 0, else the `chosen` rows nearest by sign bits.
    Rows that may be among the best `k` are then scored from both levels. These include each row scored by its codes
    whose cosine reaches the bound.
    """
    if chosen == 0:
        rows = np.empty(count, np.int32)
        rows = rows[: listed(allowed, rows)]
    else:
        rows, distances = np.empty(2 * chosen + LANES, np.int32), np.empty(2 * chosen + LANES, np.int32)
        counts, weights = np.empty(3 * 64 * planes.shape[1] + 1, np.int32), np.empty(LANES, np.int64)
        rows = rows[: nearest_signs(bits, planes, allowed, chosen, weights, rows, distances, counts)]
    scores = np.empty(rows.size, np.float32)
    error = DEVIATIONS * scan(codes, scales, query, rows, scores) * length
    lowest = step * kth_largest(scores, k) - error
    near = np.empty(rows.size + 1, np.int64)
    near = near[: above(rows, scores, (lowest - error) / step, near)]
    cosines, heap, places = np.empty(near.size), np.empty(near.size, np.int64), np.empty(wanted, np.int64)
    rescore(codes, scales, fine, fine_scales, query, step, near, cosines)
    places = places[: best_memories(cosines, near, version, id_high, id_low, number, 0.0, wanted, heap, places)]
    return near[places], cosines[places], lowest


def bake() -> None:
    """Compile for the types that the index uses."""
    popcount(np.uint64(1))
    rotate(np.ones((1, 8)), np.ones(8))
    codes, planes = np.zeros(8, np.int16), np.zeros((3, 1), np.uint64)
    step = quantise_query(np.ones(8, np.float32), codes, planes)
    bits, weights = np.zeros((1, 1, LANES), np.uint64), np.zeros(LANES, np.int64)
    allowed, rows, counts = np.ones(1, np.uint64), np.zeros(LANES + 2, np.int32), np.zeros(200, np.int32)
    nearest_signs(bits, planes, allowed, 1, weights, rows, rows.copy(), counts)
    listed(allowed, rows)
    plane, floats = np.ones((2, 8), np.int8), np.ones(2, np.float32)
    scan(plane, floats, codes, rows[:2], floats.copy())
    above(rows[:2], floats, 0.0, weights)
    rescore(plane, floats, plane, floats, codes, step, weights[:2], np.zeros(2))
    ids, first = np.zeros(2, np.uint64), np.zeros(2, np.int32)
    columns = (bits, plane, floats, plane, floats, weights[:2], ids, ids, first)
    nearest(*columns, codes, planes, step, 1.0, allowed, 1, 0, 1, 1)
