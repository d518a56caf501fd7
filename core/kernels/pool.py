"""Inner loops that pick the best."""

import numpy as np

from core.kernels.target import Floats, compiled


@compiled
def threshold(scores: Floats, k: int) -> float:
    """The k-th largest score, or -inf when there are fewer above it."""
    best = np.full(k, -np.inf, np.float32)
    for i in range(scores.size):
        value = scores[i]
        if value > best[k - 1]:
            place = k - 1
            while place > 0 and best[place - 1] < value:
                best[place] = best[place - 1]
                place -= 1
            best[place] = value
    return best[k - 1]


def bake() -> None:
    """Compile for the types that the index uses."""
    threshold(np.ones(2, np.float32), 1)
