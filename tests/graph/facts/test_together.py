"""The association of entities that texts mention together."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from muisti.core.graph.facts.between import association


@st.composite
def _counts(draw: st.DrawFn) -> tuple[int, int, int, int]:
    texts = draw(st.integers(1, 1000))
    one, other = draw(st.integers(0, texts)), draw(st.integers(0, texts))
    return draw(st.integers(0, min(one, other))), one, other, texts


@given(_counts())
def test_it_is_a_share_and_symmetric(counts: tuple[int, int, int, int]):
    both, one, other, texts = counts
    assert 0 <= association(*counts) <= 1
    assert association(both, one, other, texts) == pytest.approx(association(both, other, one, texts))


def test_chance_is_worth_nothing_more_meetings_more_and_impossible_counts_are_refused():
    assert association(10, 100, 100, 1000) == pytest.approx(0)
    assert association(1, 100, 100, 1000) == 0
    assert association(8, 10, 10, 1000) > association(2, 10, 10, 1000) > association(1, 10, 10, 1000) > 0
    for counts in ((5, 3, 9, 10), (-1, 3, 9, 10), (1, 3, 11, 10)):
        with pytest.raises(ValueError, match="impossible"):
            association(*counts)
