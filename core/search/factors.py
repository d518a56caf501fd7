"""Factors of a score: age, importance, trust, feedback and signals.

The bounds of the first four keep fresh but irrelevant memories low.
"""

from collections.abc import Callable, Mapping, Sequence
from itertools import pairwise

import msgspec
import numpy as np
import numpy.typing as npt
from msgspec.structs import replace

from muisti.core.index.columns import Lists
from muisti.core.index.snapshot import RowNumbers, Snapshot, one_a_memory
from muisti.core.kernels import Doubles
from muisti.core.model.choices import HALF_LIFE_DAYS, Mode, Signal, TagRule
from muisti.core.model.hits import Recency
from muisti.core.model.spaces import Policy
from muisti.core.model.times import DAY_US
from muisti.core.query.query import PRESETS, Options, Query, Wanted
from muisti.core.search.rankers import Asked, Extra
from muisti.core.text.terms import fold, tokenize

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


def with_defaults(query: Query, policy: Policy, default: Policy) -> Query:
    """Return the query with the recency and the time zone of its space where it states none."""
    recency, zone = in_effect(query.recency, query.mode, policy, default), query.time_zone or policy.time_zone
    if recency is query.recency and zone is query.time_zone:
        return query
    return replace(query, recency=recency, time_zone=zone)


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
    return 1.0 - weight * (1.0 - value)


IMPORTANCE_FACTOR = _bounded(IMPORTANCE_WEIGHT, IMPORTANCE_VALUE)


# Signals beside the rankings: tags, the place of a passage in its text, and Hazina's additive composite.
#
# A signal has a score in [0, 1]. Weighed one by one, each multiplies the score of a memory by a factor in
# [1 - weight, 1] and so cannot lift what is irrelevant. A preset adds the weighted scores up, as Hazina does, and can.
#
# - `tag`: the scores of the memory's tags, of which `tag_rule` makes one. A tag scores the share of its words that the
# query has, or what `boost_tags` says. 0.5 for a memory without tags, and for all when no tag of a candidate scores.
# - `position`: 1 for the first passage of a memory, 0 for the last; 1 for the only one.
# - `recency`: the decay by age. Weighed alone it is the recency of the search.
# - `similarity`: the fused score, which in the mode `semantic` is the cosine.

MOST = 50  # memories that a composite adds by their tags
EDGES = ".,;:?!()'\""  # around words
NEUTRAL = 0.5  # score of what cannot be judged
RULES: Mapping[TagRule, Callable[[Sequence[float]], float]] = {
    "max": max,
    "average": lambda scores: sum(scores) / len(scores),
    "sum": lambda scores: min(1.0, sum(scores)),
}


class Signalled(msgspec.Struct, frozen=True, kw_only=True):
    """The scores of the signals for each candidate, by name, with their weights.

    `composite` has the sum of weighted scores, None when the signals are factors.
    """

    scores: Mapping[Signal, Doubles]
    weights: Mapping[Signal, float]
    composite: Doubles | None

    def contribution(self, name: Signal) -> Doubles:
        """Return the summand of a signal in the composite, or its factor of the score."""
        weight, scores = self.weights[name], self.scores[name]
        return weight * scores if self.composite is not None else 1.0 - weight * (1.0 - scores)

    def weigh(self, score: Doubles) -> Doubles:
        """Return the score times the factors of the signals; a composite is in the score already."""
        if self.composite is None:
            for name in self.weights:
                score = score * self.contribution(name)
        return score


def signalled(asked: Asked, extra: Extra, rows: RowNumbers, similarity: Doubles) -> Signalled:
    """Score the candidate `rows`, which have a `similarity` in [0, 1] each."""
    snapshot, options = asked.snapshot, extra.options
    weights = PRESETS[options.preset] if options.preset else _factors(options)
    scores: dict[Signal, Doubles] = {}
    for name in weights:
        if name == "similarity":
            scores[name] = np.clip(similarity, 0.0, 1.0)
        elif name == "recency":
            ages = ages_in_days(snapshot.columns.at[rows], asked.now)
            scores[name] = decayed(extra.recency, ages, np.ones(len(ages), np.int8))
        elif name == "position":
            scores[name] = positions(snapshot, rows)
        else:
            scores[name] = tag_scores(asked, options, rows)
    composite = np.zeros(len(rows)) if options.preset else None
    if composite is not None:
        for name, weight in weights.items():
            composite += weight * scores[name]
    return Signalled(scores=scores, weights=weights, composite=composite)


def _factors(options: Options) -> Mapping[Signal, float]:
    """Return the weights of the signals that are factors here; that of age is the recency of the search."""
    return {name: weight for name, weight in options.signals.items() if weight and name != "recency"}


def tagged(asked: Asked, options: Options) -> RowNumbers | None:
    """Return rows that a composite scores by their tags alone: the first of each of the newest `MOST` memories.

    They have a tag of `boost_tags`, or one that is a word or two words of the query. None unless tags are added up.
    """
    if options.preset is None or not PRESETS[options.preset].get("tag"):
        return None
    snapshot, column = asked.snapshot, _tags(asked)
    words = [word.strip(EDGES) for word in fold(asked.wanted.text).split()]
    sought = [*map(fold, options.boost_tags), *words, *map(" ".join, pairwise(words))]
    codes = [code for tag in sought if (code := column.dictionary.code(tag)) is not None]
    chosen = np.zeros(len(column.dictionary.values), np.bool_)
    chosen[codes] = True
    rows = np.flatnonzero(asked.allowed.mask & column.select(chosen, snapshot.size))
    rows = rows[one_a_memory(snapshot, rows)]
    return rows[np.argsort(-snapshot.columns.at[rows], kind="stable")[:MOST]]


def positions(snapshot: Snapshot, rows: RowNumbers) -> Doubles:
    """Return the score of the place of each row in its memory."""
    versions = snapshot.columns.version
    own = versions[rows]
    passages = np.searchsorted(versions, own, side="right") - np.searchsorted(versions, own)
    return 1.0 - snapshot.columns.number[rows] / np.maximum(passages - 1, 1)


def _tags(asked: Asked) -> Lists:
    column = asked.index.column(asked.snapshot, "tags")
    assert isinstance(column, Lists)
    return column


def tag_scores(asked: Asked, options: Options, rows: RowNumbers) -> Doubles:
    """Return the score of the tags of each row's memory."""
    column = _tags(asked)
    tagged, codes = column.view(asked.snapshot.size)
    starts, stops = np.searchsorted(tagged, rows), np.searchsorted(tagged, rows, side="right")
    folded = {fold(tag): score for tag, score in options.boost_tags.items()}
    spans: list[tuple[int, int]] = list(zip(starts.tolist(), stops.tolist(), strict=True))
    distinct: set[int] = {code for start, stop in spans for code in codes[start:stop].tolist()}
    known = {code: _tag_score(str(column.dictionary.values[code]), asked.wanted, folded) for code in distinct}
    out = np.full(len(rows), NEUTRAL)
    if not any(known.values()):
        return out
    for place, (start, stop) in enumerate(spans):
        held: list[int] = codes[start:stop].tolist()
        own = [known[code] for code in held]
        if own:
            out[place] = RULES[options.tag_rule](own)
    return out


def _tag_score(tag: str, wanted: Wanted, boosts: Mapping[str, float]) -> float:
    words = set(tokenize(tag))
    share = len(words & wanted.terms.keys()) / len(words) if words else 0.0
    return boosts.get(tag, share)
