"""Questions that ask for advice: which they are, and how the nearest cosine counts for them."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from muisti.core.query.evidence import LONGEST, Nearest, Unrelated, advised, asks_for_advice

USUAL = Unrelated(first=0.2, growth=0.06)
strengths = st.floats(0, 3)
cosines = st.floats(-1, 1)
sizes = st.integers(1, 1_000_000)


@pytest.mark.parametrize(
    "text",
    [
        "Can you recommend a quiet place for dinner?",
        "any ideas for a birthday present",
        "What’s the best way to learn the cello?",
        "How do I get better at chess",
        "I'm looking for a tent that two can carry",
        "SHOULD I take the train?",
    ],
)
def test_these_ask_for_advice(text: str):
    assert asks_for_advice(text)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "who recommended the restaurant?",
        "when did Anna suggest-read the book",
        "what is the port of the staging server?",
        "the multiplication of ideals",
        "tell me about the meeting",
    ],
)
def test_these_ask_for_a_fact(text: str):
    assert asks_for_advice(text) == ("suggest" in text)  # a suggestion is advice, whoever made it


def test_a_pasted_text_asks_for_nothing():
    assert not asks_for_advice("Can you recommend one? " + "x" * LONGEST)


@given(strengths, cosines, cosines, sizes)
def test_a_nearer_passage_never_lowers_the_strength(strength: float, one: float, other: float, size: int):
    near, far = max(one, other), min(one, other)
    assert advised(strength, 0.7, Nearest(near, size), USUAL) >= advised(strength, 0.7, Nearest(far, size), USUAL)


@given(strengths, cosines, sizes, sizes)
def test_the_same_cosine_says_less_in_a_larger_space(strength: float, cosine: float, one: int, other: int):
    small, large = min(one, other), max(one, other)
    assert advised(strength, 0.7, Nearest(cosine, small), USUAL) >= advised(
        strength, 0.7, Nearest(cosine, large), USUAL
    )


@given(strengths, strengths, cosines, sizes)
def test_words_still_count(one: float, other: float, cosine: float, size: int):
    more, less = max(one, other), min(one, other)
    nearest = Nearest(cosine, size)
    assert advised(more, 0.7, nearest, USUAL) >= advised(less, 0.7, nearest, USUAL) >= 0


@given(st.floats(0.01, 0.9), sizes, st.floats(0.5, 20))
def test_a_model_with_wider_cosines_is_judged_alike(cosine: float, size: int, scale: float):
    wider = Unrelated(first=USUAL.first * scale, growth=USUAL.growth * scale)
    assert advised(0.5, 0.7, Nearest(cosine * scale, size), wider) == pytest.approx(
        advised(0.5, 0.7, Nearest(cosine, size), USUAL)
    )
