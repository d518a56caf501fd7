"""Fusion weighs rankings by name: bounds, the formula for two, and no dependence on the order of the mapping."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from muisti.core.model.choices import Fusion
from muisti.core.search.fusion import (
    ALPHAS,
    RRF_K,
    SCALES,
    absolute,
    alpha_of,
    reciprocal_rank,
    scaled,
    summed,
    weights_of,
)

METHODS: list[Fusion] = sorted(SCALES)
pairs = st.lists(st.tuples(st.floats(0, 1), st.floats(-1, 1)), min_size=1, max_size=20)
ranked = st.lists(st.tuples(st.integers(0, 60), st.integers(0, 60)), min_size=1, max_size=20)
alphas = st.floats(0, 1)


def fuse(method: Fusion, weights: Any, scores: Any) -> Any:
    return summed(scaled(method, weights, scores))


def named(values: list[Any]) -> dict[Any, Any]:
    lexical, dense = zip(*values, strict=True)
    return {"lexical": np.array(lexical), "dense": np.array(dense)}


@given(pairs, alphas, st.sampled_from(METHODS))
def test_a_fused_score_is_the_weighted_sum_of_the_scaled_scores(values: Any, alpha: float, method: Fusion):
    scores, scale = named(values), SCALES[method]
    found = fuse(method, weights_of(alpha), scores)
    assert ((found >= 0) & (found <= 1)).all()
    wanted = np.clip((1 - alpha) * scale(scores["lexical"]) + alpha * scale(scores["dense"]), 0, 1)
    assert found.tolist() == wanted.tolist()


@given(ranked, alphas)
def test_reciprocal_ranks_are_at_most_one_and_it_is_the_first_in_every_ranking_that_has_one(values: Any, alpha: float):
    ranks = named([*values, (1, 1), (0, 0)])
    found = summed(reciprocal_rank(weights_of(alpha), ranks))
    assert ((found >= 0) & (found <= 1 + 1e-12)).all()
    assert found[-2] == pytest.approx(1) and found[-1] == 0
    lexical, dense = (np.where(one > 0, 1 / (RRF_K + one), 0.0) for one in ranks.values())
    wanted = (RRF_K + 1) * ((1 - alpha) * lexical + alpha * dense)
    assert found.tolist() == pytest.approx(np.clip(wanted, 0, 1).tolist())


@given(pairs, ranked, alphas, st.sampled_from(METHODS))
def test_the_order_of_the_rankings_does_not_matter(values: Any, places: Any, alpha: float, method: Fusion):
    scores, ranks, weights = named(values), named(places), weights_of(alpha)
    swapped = (dict(reversed(one.items())) for one in (scores, ranks))
    assert fuse(method, weights, next(swapped)).tolist() == fuse(method, weights, scores).tolist()
    assert summed(reciprocal_rank(weights, next(swapped))).tolist() == summed(reciprocal_rank(weights, ranks)).tolist()


def test_the_weight_asked_for_comes_before_the_default_and_absolute_scores_are_no_less_than_zero():
    for method, default in ALPHAS.items():
        assert (alpha_of(method, None), alpha_of(method, 0.0)) == (default, 0.0)
    assert absolute(np.array([-0.5, 0.0, 0.25])).tolist() == [0.0, 0.0, 0.25]
