"""One score in [0, 1] from a lexical and a dense one.

All take the rows of the union of both rankings: `lexical` is BM25 over its largest possible value, in [0, 1), `dense`
the cosine, in [-1, 1]; ranks count from 1, 0 where a ranking did not find the row. `alpha` is the dense side's weight.
"""

from collections.abc import Callable

import numpy as np
import numpy.typing as npt

from core.hits import Fusion

Scores = npt.NDArray[np.float64]
Ranks = npt.NDArray[np.int64]

RRF_K = 60
ALPHA: dict[Fusion, float] = {"absolute": 3 / 7, "convex": 0.5, "rrf": 0.5, "dbsf": 0.5}


def fuse(
    method: Fusion, alpha: float, lexical: Scores, dense: Scores, lexical_ranks: Ranks, dense_ranks: Ranks
) -> Scores:
    """Scores in [0, 1], higher is better."""
    if method == "rrf":
        return reciprocal_rank(alpha, lexical_ranks, dense_ranks)
    scale = SCALES[method]
    return np.clip((1 - alpha) * scale(lexical) + alpha * scale(dense), 0.0, 1.0)


def absolute(scores: Scores) -> Scores:
    """The score itself, less what is below zero: no other row changes it, so weak answers stay weak."""
    return np.maximum(scores, 0.0)


def min_max(scores: Scores) -> Scores:
    """0 for the lowest of the union, 1 for the highest; 1 for all when they are equal.

    >>> min_max(np.array([2.0, 4.0, 3.0])).tolist()
    [0.0, 1.0, 0.5]
    """
    low, high = scores.min(initial=np.inf), scores.max(initial=-np.inf)
    return (scores - low) / (high - low) if high > low else np.ones_like(scores)


def three_sigma(scores: Scores) -> Scores:
    """0 at three standard deviations under the mean, 1 at three above (distribution-based score fusion)."""
    spread = scores.std() if len(scores) else 0.0
    if spread == 0:
        return np.ones_like(scores)
    return np.clip((scores - (scores.mean() - 3 * spread)) / (6 * spread), 0.0, 1.0)


def reciprocal_rank(alpha: float, lexical_ranks: Ranks, dense_ranks: Ranks, *, k: int = RRF_K) -> Scores:
    """Weighted 1 / (k + rank), times k + 1 so that the first in both rankings has 1.

    Cormack, Clarke and Buettcher, "Reciprocal rank fusion outperforms Condorcet", 2009.

    >>> reciprocal_rank(0.5, np.array([1, 0]), np.array([1, 2]), k=1).round(3).tolist()
    [1.0, 0.333]
    """
    sides = [np.where(ranks > 0, 1.0 / (k + ranks), 0.0) for ranks in (lexical_ranks, dense_ranks)]
    return (k + 1) * ((1 - alpha) * sides[0] + alpha * sides[1])


SCALES: dict[Fusion, Callable[[Scores], Scores]] = {"absolute": absolute, "convex": min_max, "dbsf": three_sigma}
