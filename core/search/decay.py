"""Factors of a score by age, importance, trust and feedback. Their bounds keep fresh but irrelevant memories low."""

import numpy as np
import numpy.typing as npt

from muisti.core.model.hits import Recency
from muisti.core.model.spaces import Policy
from muisti.core.model.terms import HALF_LIFE_DAYS, Mode
from muisti.core.model.times import DAY_US

Factors = npt.NDArray[np.float64]

IMPORTANCE_WEIGHT = 0.1
FEEDBACK_WEIGHT = 0.1  # bound of the change by any number of callers; the first caller causes half of it
IMPORTANCE_VALUE = np.array([0.0, 0.5, 0.75, 1.0])  # low, medium, high, critical
REFRESH_MAX = 30.0  # days that a retrieval may make a memory younger
AGING = np.array([2.0, 1.0, 0.5, 0.0])  # how much of the age counts, by importance: critical memories stay fresh


def in_effect(asked: Recency | None, mode: Mode, policy: Policy, default: Policy) -> Recency | None:
    """Return the recency of a search: the one that it names, else that of its space, else that of the server.

    A weight of 0 turns recency off. The mode `recent` sorts by age alone, so it has no default.

    >>> in_effect(None, "hybrid", Policy(recency_weight=0.2), Policy(recency_half_life_days=7)).stated()
    {'weight': 0.2, 'function': 'half_life', 'half_life_days': 7, 'grace_days': 0.0}
    >>> in_effect(Recency(weight=0), "hybrid", Policy(recency_weight=0.2), Policy())
    """
    if mode == "recent":
        return asked
    if asked is not None:
        return asked if asked.weight else None
    weight = default.recency_weight if policy.recency_weight is None else policy.recency_weight
    if not weight:
        return None
    half_life = policy.recency_half_life_days or default.recency_half_life_days or HALF_LIFE_DAYS
    return Recency(weight=weight, half_life_days=half_life)


def ages_in_days(at: npt.NDArray[np.int64], now: int) -> Factors:
    """Return the days between `at` and `now`, both in microseconds; 0 for times in the future."""
    return np.maximum(now - at, 0) / DAY_US


def refreshed_in_days(at: npt.NDArray[np.int64], retrieved: npt.NDArray[np.int64], now: int) -> Factors:
    """Return the days that a retrieval takes off the age of a memory: the days before it, at most `REFRESH_MAX`.

    The later the retrieval, the younger the memory counts, but never younger than the time since the retrieval.

    >>> day = DAY_US
    >>> refreshed_in_days(np.array([0, 0, 0]), np.array([0, 10 * day, 90 * day]), 100 * day).tolist()
    [0.0, 10.0, 30.0]
    """
    days = (np.minimum(retrieved, now) - at) / DAY_US
    return np.minimum(np.maximum(days, 0.0), REFRESH_MAX)  # what `clip` does, 1 to 2 µs faster


def decayed(recency: Recency, ages: Factors, importance: npt.NDArray[np.int8]) -> Factors:
    """Return the decay of memories by age, in [0, 1]: 1 at age 0, falling with age.

    >>> decayed(Recency(), np.array([0.0, 30.0]), np.array([1, 1])).tolist()
    [1.0, 0.5]
    """
    counted = np.maximum(ages - recency.grace_days, 0.0) * AGING[importance]
    if recency.function == "linear":
        return np.clip(1.0 - recency.rate * counted, 0.0, 1.0)
    if recency.function == "exponential":
        return np.exp(-recency.rate * counted)
    return np.exp2(-counted / recency.half_life_days)


def recency_factor(recency: Recency, ages: Factors, importance: npt.NDArray[np.int8]) -> Factors:
    """Return the factor of age, in [1 - weight, 1]."""
    return _bounded(recency.weight, decayed(recency, ages, importance))


def importance_factor(importance: npt.NDArray[np.int8]) -> Factors:
    return IMPORTANCE_FACTOR[importance]


def trust_factor(weight: float, trust: npt.NDArray[np.int64]) -> Factors:
    """Return the factor of trust, in [1 - weight, 1]; `trust` is in percent.

    >>> trust_factor(0.5, np.array([100, 20])).tolist()
    [1.0, 0.6]
    """
    return _bounded(weight, trust / 100)


def feedback_factor(useful: npt.NDArray[np.int64], not_useful: npt.NDArray[np.int64]) -> Factors:
    """Return the factor of feedback, within `FEEDBACK_WEIGHT` of 1; 1 for memories without feedback.

    >>> feedback_factor(np.array([0, 1, 9, 0]), np.array([0, 0, 0, 1])).round(3).tolist()
    [1.0, 1.05, 1.09, 0.95]
    """
    return 1.0 + FEEDBACK_WEIGHT * (useful - not_useful) / (useful + not_useful + 1)


def _bounded(weight: float, value: Factors) -> Factors:
    """Return the factor in [1 - weight, 1] for a value in [0, 1]."""
    return 1.0 - weight * (1.0 - value)


IMPORTANCE_FACTOR = _bounded(IMPORTANCE_WEIGHT, IMPORTANCE_VALUE)
