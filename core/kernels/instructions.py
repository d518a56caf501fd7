"""Inner loop over the standing instructions of a space, each with two vectors: its scope clause and its sentence."""

import numpy as np

from muisti.core.kernels.dense import Shorts, product
from muisti.core.kernels.likeness import COARSE
from muisti.core.kernels.target import Bytes, Doubles, Floats, Longs, Mask, compiled


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
    plane, floats, flags = np.ones((2, 8), np.int8), np.ones(2, np.float32), np.ones(1, np.bool_)
    vectors = (plane, floats, plane, floats, np.ones(8, np.int16), 1.0)
    applying(*vectors, flags, np.zeros(1, np.int64), flags, 0.1, np.empty(1, np.int64), np.empty(1))
