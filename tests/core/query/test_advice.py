"""Questions that ask for advice: which they are, and how the nearest cosine counts for them."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from muisti.core.query.evidence import LONGEST, Nearest, Unrelated, advised, asks_for_advice

USUAL = Unrelated(first=0.2, growth=0.06)
strengths = st.floats(0, 3)
cosines = st.floats(-1, 1)
sizes = st.integers(1, 1_000_000)


@pytest.mark.parametrize("text", [
    "Can you recommend a quiet place for dinner?", "any ideas for a birthday present",
    "What’s the best way to learn the cello?", "How do I get better at chess",
    "I'm looking for a tent that two can carry", "SHOULD I take the train?",
])  # fmt: skip
def test_these_ask_for_advice(text: str):
    assert asks_for_advice(text)


@pytest.mark.parametrize("text", [
    "", "who recommended the restaurant?", "when did Anna suggest-read the book",
    "what is the port of the staging server?", "the multiplication of ideals", "tell me about the meeting",
])  # fmt: skip
def test_these_ask_for_a_fact(text: str):
    assert asks_for_advice(text) == ("suggest" in text)  # a suggestion is advice, whoever made it
    assert not asks_for_advice("Can you recommend one? " + "x" * LONGEST)  # a pasted text


@given(strengths, strengths, cosines, cosines, sizes, sizes)
def test_nearness_and_words_raise_the_strength_and_a_larger_space_lowers_it(
    less: float, more: float, far: float, near: float, small: int, large: int
):
    (less, more), (far, near), (small, large) = sorted((less, more)), sorted((far, near)), sorted((small, large))
    best = advised(more, 0.7, Nearest(near, small), USUAL)
    assert best >= advised(more, 0.7, Nearest(far, small), USUAL) >= 0
    assert best >= advised(more, 0.7, Nearest(near, large), USUAL) >= 0
    assert best >= advised(less, 0.7, Nearest(near, small), USUAL) >= 0


@given(st.floats(0.01, 0.9), sizes, st.floats(0.5, 20))
def test_a_model_with_wider_cosines_is_judged_alike(cosine: float, size: int, scale: float):
    wider = Unrelated(first=USUAL.first * scale, growth=USUAL.growth * scale)
    assert advised(0.5, 0.7, Nearest(cosine * scale, size), wider) == pytest.approx(
        advised(0.5, 0.7, Nearest(cosine, size), USUAL)
    )
