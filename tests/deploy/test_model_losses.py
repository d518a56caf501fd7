"""Each loss's gradient is the one that finite differences give."""

import numpy as np
import pytest

from deploy.model.losses import contrast, imitate_cosine, imitate_similarity

STEP = 1e-6


def differences(loss, at):
    slope = np.zeros_like(at)
    for index in np.ndindex(at.shape):
        kept = at[index]
        at[index] = kept + STEP
        above = loss()
        at[index] = kept - STEP
        slope[index] = (above - loss()) / (2 * STEP)
        at[index] = kept
    return slope


@pytest.fixture
def matrices():
    chance = np.random.default_rng(3)
    return [chance.normal(size=(5, 4)) / 2 for _ in range(4)]


def test_each_gradient_is_that_of_differences(matrices):
    left, right, *teacher = matrices
    target = teacher[0] @ teacher[1].T
    for of, atol in (
        (lambda: contrast(left, right, 0.5), 1e-6), (lambda: imitate_similarity(left, right, target, 0.5), 1e-4)
    ):  # fmt: skip
        _, *slopes = of()
        for matrix, slope in zip((left, right), slopes, strict=True):
            np.testing.assert_allclose(slope, differences(lambda of=of: of()[0], matrix), atol=atol)
    _, gradient = imitate_cosine(left, right)
    np.testing.assert_allclose(gradient, differences(lambda: imitate_cosine(left, right)[0], left), atol=1e-6)


def test_a_student_that_equals_its_teacher_has_nothing_to_learn(matrices):
    left, right, *_ = matrices
    loss, to_left, _ = imitate_similarity(left, right, left @ right.T, 0.5)
    assert loss == pytest.approx(0)
    np.testing.assert_allclose(to_left, 0, atol=1e-12)
