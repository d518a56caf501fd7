"""Inner loops that find rows near the vector of a new memory, count common words, and judge standing instructions."""

import numpy as np
import numpy.typing as npt

from muisti.core.kernels.dense import LANES, Shorts, Words, lighter, lowest, popcount, product
from muisti.core.kernels.target import Bytes, Codes, Doubles, Floats, Longs, Mask, compiled, fetch

COARSE = 0.02  # of a cosine; the error of the coarse codes alone is smaller


@compiled
def alike(
    bits: Words,
    planes: Words,
    most: int,
    heaviest: int,
    allowed: Mask,
    codes: Bytes,
    scales: Floats,
    fine: Bytes,
    fine_scales: Floats,
    query: Shorts,
    step: float,
    least: float,
    rows: Longs,
    cosines: Doubles,
) -> int:
    """Find the allowed rows, ascending, with a cosine of at least `least` among those whose signs are near.

    Near means at most `most` components of another sign, whose weights add up to at most `heaviest`. The function
    returns how many there are. It fills `rows` and `cosines` with as many as they have places.
    """
    found, waiting = 0, 0
    others, near = np.empty(LANES, np.int64), np.empty(2 * LANES, np.int64)
    for block in range(bits.shape[0]):
        _count(bits[block], planes[0], others)
        lanes = lighter(others, most + 1)
        while lanes != 0:
            lane = int(lowest(lanes))
            lanes &= lanes - np.uint64(1)
            row = block * LANES + lane
            if row < allowed.size and allowed[row] and _weight(bits[block], planes, lane) <= heaviest:
                fetch(codes.ctypes.data + row * codes.shape[1], codes.shape[1])
                near[waiting] = row
                waiting += 1
        if waiting >= LANES or block == bits.shape[0] - 1:
            for row in near[:waiting]:
                total = product(codes, row, query) * scales[row]
                if step * total >= least - COARSE:
                    total += product(fine, row, query) * fine_scales[row]
                cosine = step * total
                if cosine >= least:
                    if found < rows.size:
                        rows[found], cosines[found] = row, cosine
                    found += 1
            waiting = 0
    return found


@compiled
def common(one: Codes, other: Codes) -> int:
    """Count the words that two ascending lists have in common, a repeated word as often as both have it."""
    found, i, k = 0, 0, 0
    while i < one.size and k < other.size:
        if one[i] < other[k]:
            i += 1
        elif one[i] > other[k]:
            k += 1
        else:
            found, i, k = found + 1, i + 1, k + 1
    return found


@compiled
def _count(block: Words, signs: Words, others: Longs) -> None:
    """Count the components of another sign for each row of a block."""
    others[:] = 0
    for w in range(signs.size):
        for lane in range(LANES):
            others[lane] += np.int64(popcount(block[w, lane] ^ signs[w]))


@compiled
def _weight(block: Words, planes: Words, lane: int) -> int:
    weight = 0
    for w in range(planes.shape[1]):
        other = block[w, lane] ^ planes[0, w]
        weight += int(popcount(other & planes[1, w]) + (popcount(other & planes[2, w]) << np.uint64(1)))
    return weight


# Inner loop over the standing instructions of a space, each with two vectors: its scope clause and its sentence


@compiled
def applying(
    codes: Bytes,
    scales: Floats,
    fine: Bytes,
    fine_scales: Floats,
    query: Shorts,
    step: float,
    everywhere: Mask,
    rows: Longs,
    visible: Mask,
    least: float,
    places: Longs,
    scores: Doubles,
) -> int:
    """Find the instructions that apply to a question, best first; of equal scores the later one comes first.

    The score of instruction i is the larger cosine of its vectors, which are in rows 2 * i and 2 * i + 1 of `codes`. It
    applies with a score of at least `least`, or if it applies `everywhere`. `rows[i]` is its row, below 0 for none,
    and must be `visible`. Fill `places` and `scores` as far as they have room, and return how many there are.
    """
    found = 0
    for i in range(rows.size - 1, -1, -1):
        coarse = max(product(codes, 2 * i, query) * scales[2 * i], product(codes, 2 * i + 1, query) * scales[2 * i + 1])
        if step * coarse < least - COARSE and not everywhere[i]:
            continue
        if rows[i] < 0 or rows[i] >= visible.size or not visible[rows[i]]:
            continue
        score = -np.inf
        for v in range(2 * i, 2 * i + 2):
            exact = product(codes, v, query) * scales[v] + product(fine, v, query) * fine_scales[v]
            score = max(score, step * exact)
        if score < least and not everywhere[i]:
            continue
        if found < places.size:
            found += 1
        elif score <= scores[found - 1]:
            continue
        at = found - 1
        while at > 0 and scores[at - 1] < score:
            places[at], scores[at] = places[at - 1], scores[at - 1]
            at -= 1
        places[at], scores[at] = i, score
    return found


def bake() -> None:
    """Compile for the types that the index uses."""
    bits, planes, codes = np.zeros((1, 1, LANES), np.uint64), np.zeros((3, 1), np.uint64), np.ones((1, 8), np.int8)
    scales, query = np.ones(1, np.float32), np.ones(8, np.int16)
    rows: npt.NDArray[np.int64] = np.empty(1, np.int64)
    common(bits.ravel(), bits.ravel())
    alike(bits, planes, 1, 1, np.ones(1, np.bool_), codes, scales, codes, scales, query, 1.0, 0.5, rows, np.empty(1))
    plane, floats, flags = np.ones((2, 8), np.int8), np.ones(2, np.float32), np.ones(1, np.bool_)
    vectors = (plane, floats, plane, floats, np.ones(8, np.int16), 1.0)
    applying(*vectors, flags, np.zeros(1, np.int64), flags, 0.1, np.empty(1, np.int64), np.empty(1))
