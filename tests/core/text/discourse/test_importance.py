import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from muisti.core.text.discourse.importance import BASE, WEIGHTS, importance, novelty
from muisti.core.text.discourse.signals import signals

numbers = st.floats(allow_nan=False)


@given(st.text(), numbers, numbers)
def test_importance_is_explained_and_never_zero(text: str, new: float, mass: float) -> None:
    found = importance(signals(text), novelty=new, mass=mass)
    assert BASE <= found.value <= 1
    assert math.fsum(found.parts.values()) == pytest.approx(found.value, abs=1e-3)
    assert found.parts.keys() <= {"base", *WEIGHTS}


def test_weights_are_shares() -> None:
    assert math.fsum(WEIGHTS.values()) == pytest.approx(1)


def test_what_is_new_and_personal_counts_more() -> None:
    moved = importance(signals("I moved to Turku on 3 May 2026."), novelty=0.9, mass=20)
    assert moved.value > 2 * importance(signals("ok"), novelty=0.1, mass=1).value
    assert {"first_person", "times", "numbers"} <= moved.parts.keys()


def test_novelty_is_the_distance_to_the_nearest_turn_before() -> None:
    east, north = np.eye(2, dtype=np.float32)
    assert novelty(east, np.zeros((0, 2), np.float32)) == 1
    assert novelty(east, np.stack([north, east])) == pytest.approx(0)
    assert novelty(east, np.stack([north, -east])) == 1
