"""Diverse hits: maximal marginal relevance over the stored vectors of the candidates.

    value = (1 - diversity) * relevance - diversity * nearest

`relevance` is the score over that of the best candidate. `nearest` is the highest cosine to a hit that was chosen
before, at least 0; it is 0 for the first. Carbonell and Goldstein, "The use of MMR, diversity-based reranking", 1998.
"""

import msgspec
import numpy as np

from muisti.core.kernels import Doubles, Floats, Longs


class Diverse(msgspec.Struct, frozen=True):
    """The chosen candidates in order: the place of each, and the two parts of its value."""

    places: Longs
    relevance: Doubles
    nearest: Doubles


def diverse(scores: Doubles, vectors: Floats, diversity: float, most: int) -> Diverse:
    """Choose at most `most` candidates, which are ordered by falling score; equal values keep that order.

    >>> vectors = np.array([[1, 0], [1, 0], [0, 1]], np.float32)
    >>> diverse(np.array([0.9, 0.8, 0.5]), vectors, 0.5, 2).places.tolist()
    [0, 2]
    """
    relevance = scores / scores[0] if len(scores) and scores[0] > 0 else np.zeros(len(scores))
    nearest, left = np.zeros(len(scores)), np.ones(len(scores), np.bool_)
    chosen: list[int] = []
    reached: list[float] = []
    wide = vectors.astype(np.float64)
    while len(chosen) < min(most, len(scores)):
        value = np.where(left, (1 - diversity) * relevance - diversity * nearest, -np.inf)
        best = int(value.argmax())
        chosen.append(best)
        reached.append(float(nearest[best]))
        left[best] = False
        np.maximum(nearest, wide @ wide[best], out=nearest)
    return Diverse(np.array(chosen, np.int64), relevance[chosen], np.array(reached))
