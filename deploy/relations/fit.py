"""Logistic regression on hashed features, in numpy: Adam on the whole set, with a penalty on the squared weights."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

STEPS = 400
RATE = 0.05


@dataclass(frozen=True, slots=True)
class Rows:
    """Features of all pairs, one after the other; `row` has the pair of each, `labels` whether its relation is true."""

    row: npt.NDArray[np.int64]
    column: npt.NDArray[np.int64]
    labels: npt.NDArray[np.float64]


def stacked(features: Sequence[Sequence[int]], labels: Sequence[bool]) -> Rows:
    """Return the features of pairs as arrays."""
    return Rows(
        np.repeat(np.arange(len(features)), [len(one) for one in features]),
        np.array([bucket for one in features for bucket in one], dtype=np.int64),
        np.array(labels, dtype=np.float64),
    )


def fit(rows: Rows, buckets: int, penalty: float) -> npt.NDArray[np.float64]:
    """Return a weight for each bucket that fits the labels, with a penalty on the squared weights."""
    weights, mean, square = np.zeros(buckets), np.zeros(buckets), np.zeros(buckets)
    for step in range(1, STEPS + 1):
        error = 1 / (1 + np.exp(-logits(rows, weights))) - rows.labels
        gradient = np.bincount(rows.column, error[rows.row], buckets) + penalty * weights
        mean = 0.9 * mean + 0.1 * gradient
        square = 0.999 * square + 0.001 * gradient**2
        rate = RATE * min(1.0, 2 * (1 - step / STEPS))
        weights -= rate * (mean / (1 - 0.9**step)) / (np.sqrt(square / (1 - 0.999**step)) + 1e-8)
    return weights


def logits(rows: Rows, weights: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    """Return the sum of the weights of each pair."""
    return np.bincount(rows.row, weights[rows.column], len(rows.labels))


def rounded(weights: npt.NDArray[np.float64]) -> tuple[npt.NDArray[np.int8], float]:
    """Return the weights as int8, and the number that they are multiplied with."""
    scale = float(np.abs(weights).max()) / 127
    return np.rint(weights / scale).astype(np.int8), scale
