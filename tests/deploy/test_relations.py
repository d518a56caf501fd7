"""The training of the model of relations."""

import numpy as np

from deploy.relations.__main__ import NEVER, _lowest
from deploy.relations.fit import fit, logits, rounded, stacked


def test_a_feature_that_decides_gets_a_weight_of_its_sign():
    rows = stacked([[0, 1], [0, 2], [0, 1], [0, 2]] * 5, [True, False, True, False] * 5)
    weights = fit(rows, 4, 0.1)
    assert weights[1] > 0.5 > -0.5 > weights[2]
    assert weights[3] == 0
    assert ((logits(rows, weights) > 0) == (rows.labels > 0)).all()


def test_rounding_keeps_weights_within_half_a_step():
    weights = np.random.default_rng(0).normal(size=1000)
    whole, scale = rounded(weights)
    assert np.abs(whole * scale - weights).max() <= scale / 2 + 1e-12


def test_a_threshold_is_the_lowest_above_which_enough_is_right():
    found = np.linspace(1, 0, 101)
    labels = (found > 0.9).astype(float)
    assert 0.85 <= _lowest(found, labels) <= 0.9
    assert _lowest(found, np.zeros(101)) == NEVER
