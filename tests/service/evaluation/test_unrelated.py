"""Test cosines of unrelated questions: fitted on cosines that are made up, where the law is known."""

import math

import numpy as np
import pytest

from muisti.service.evaluation.unrelated import Cosines, fit_unrelated


def made(first: float, growth: float, passages: int, place: int = 10, noise: float = 0.0) -> Cosines:
    draw = np.random.default_rng(0)
    nearest = first + growth * math.log10(passages) + noise * draw.standard_normal(500)
    return Cosines(nearest, nearest - growth * math.log10(place), place, passages)


def test_the_law_that_made_the_cosines_is_found():
    found = fit_unrelated([made(0.15, 0.07, size) for size in (30, 400, 9_000)])
    assert found is not None
    assert (found.first, found.growth) == pytest.approx((0.15, 0.07), abs=0.001)


def test_one_question_in_ten_finds_more():
    cosines = made(0.15, 0.07, 1_000, noise=0.05)
    found = fit_unrelated([cosines])
    assert found is not None
    assert np.mean(cosines.nearest > found.cosine(1_000)) == pytest.approx(0.1, abs=0.02)


@pytest.mark.parametrize("cosines", [[], [made(0.1, 0.07, 1, place=1)], [made(0.1, 0.0, 100)]])
def test_without_a_slope_there_is_nothing_to_fit(cosines: list[Cosines]):
    assert fit_unrelated(cosines) is None
