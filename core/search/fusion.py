"""Fusion of rankings: one score in [0, 1] for each row, from its scores or ranks in several rankings.

Scores and ranks are mappings by the name of the ranking, with one value for each row of the union of all rankings.
Ranks count from 1; 0 means that a ranking did not find the row. The weights of the rankings add up to 1.
"""

from collections.abc import Callable, Mapping
from functools import reduce

import numpy as np
import numpy.typing as npt

from muisti.core.model.hits import Fusion
from muisti.core.search.rankers import Name

Scores = npt.NDArray[np.float64]
Ranks = npt.NDArray[np.int64]
Shares = Mapping[Name, Scores]  # of each ranking in the fused score

RRF_K = 60
ALPHAS: dict[Fusion, float] = {"absolute": 3 / 7, "convex": 0.5, "rrf": 0.5, "dbsf": 0.5}


def alpha_of(method: Fusion, alpha: float | None) -> float:
    """Return the weight of the dense ranking: the one asked for, or the default of the method."""
    return ALPHAS[method] if alpha is None else alpha


def weights_of(alpha: float) -> Mapping[Name, float]:
    """Return the weight of each ranking.

    >>> weights_of(0.25)
    {'lexical': 0.75, 'dense': 0.25}
    """
    return {"lexical": 1 - alpha, "dense": alpha}


def summed(shares: Shares) -> Scores:
    """Return the fused score: the sum of the shares of all rankings."""
    return np.clip(reduce(np.add, shares.values()), 0.0, 1.0)


def scaled(method: Fusion, weights: Mapping[Name, float], scores: Mapping[Name, Scores]) -> Shares:
    """Return the weighted scores, each scaled to [0, 1] by the method; `reciprocal_rank` does `rrf`.

    >>> weights = {"lexical": 0.25, "dense": 0.75}
    >>> shares = scaled("convex", weights, {"lexical": np.array([2.0, 4.0]), "dense": np.array([0.9, 0.1])})
    >>> {name: share.tolist() for name, share in shares.items()}
    {'lexical': [0.0, 0.25], 'dense': [0.75, 0.0]}
    >>> summed(shares).tolist()
    [0.75, 0.25]
    """
    scale = SCALES[method]
    return {name: weights[name] * scale(one) for name, one in scores.items()}


def absolute(scores: Scores) -> Scores:
    """Return the score itself, or 0 where it is below zero: no other row changes it, so weak answers stay weak."""
    return np.maximum(scores, 0.0)


def min_max(scores: Scores) -> Scores:
    """Scale scores linearly: 0 for the lowest of the union, 1 for the highest; 1 for all when they are equal.

    >>> min_max(np.array([2.0, 4.0, 3.0])).tolist()
    [0.0, 1.0, 0.5]
    """
    low, high = scores.min(initial=np.inf), scores.max(initial=-np.inf)
    return (scores - low) / (high - low) if high > low else np.ones_like(scores)


def three_sigma(scores: Scores) -> Scores:
    """Scale scores so that three standard deviations below the mean are 0, and three above are 1.

    This is distribution-based score fusion.
    """
    spread = scores.std() if len(scores) else 0.0
    if spread == 0:
        return np.ones_like(scores)
    return np.clip((scores - (scores.mean() - 3 * spread)) / (6 * spread), 0.0, 1.0)


def reciprocal_rank(weights: Mapping[Name, float], ranks: Mapping[Name, Ranks], *, k: int = RRF_K) -> Shares:
    """Return the weighted values of 1 / (k + rank), times k + 1 so that the first in every ranking has 1 in sum.

    Cormack, Clarke and Buettcher, "Reciprocal rank fusion outperforms Condorcet", 2009.

    >>> ranks = {"lexical": np.array([1, 0]), "dense": np.array([1, 2])}
    >>> summed(reciprocal_rank(weights_of(0.5), ranks, k=1)).round(3).tolist()
    [1.0, 0.333]
    """
    return {name: weights[name] * (k + 1) * np.where(one > 0, 1.0 / (k + one), 0.0) for name, one in ranks.items()}


SCALES: dict[Fusion, Callable[[Scores], Scores]] = {"convex": min_max, "dbsf": three_sigma}
