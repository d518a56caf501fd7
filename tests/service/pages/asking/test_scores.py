"""Bars of scores: the pieces add up to the score, nothing lies outside, and what takes away ends at the score."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from muisti.service.pages.asking.scores import PARTS, WIDE, bar, legend, reach

parts = st.dictionaries(
    st.sampled_from([*PARTS, "another_part"]), st.floats(-0.5, 1.0).filter(lambda value: abs(value) > 1e-6), max_size=8
).filter(lambda found: sum(found.values()) >= 0)


@given(parts, st.floats(1, 3))
def test_a_bar_adds_up_to_its_score(found: dict[str, float], wider: float):
    score = sum(found.values())
    longest = reach(found) * wider
    made = bar(found, score, longest)
    assert made.total == pytest.approx(score) and len(made.pieces) == len(found)
    assert made.score == f"{score:.3f}" and all(piece.label in made.told for piece in made.pieces)
    adds = [piece for piece in made.pieces if not piece.takes]
    ends = [float(piece.x) + float(piece.width) for piece in made.pieces]
    assert all(end <= WIDE + 0.2 for end in ends)
    assert sum(float(piece.width) for piece in adds) == pytest.approx(WIDE * reach(found) / (longest or 1), abs=1)
    takes = [piece for piece in made.pieces if piece.takes]
    if takes:
        assert float(takes[-1].x) == pytest.approx(float(made.mark), abs=0.2)


@given(st.lists(parts, max_size=4))
def test_a_legend_names_each_colour_once(found: list[dict[str, float]]):
    bars = [bar(one, sum(one.values()), 1.0) for one in found]
    told = legend(bars)
    assert {(piece.name, piece.takes) for piece in told} == {(p.name, p.takes) for one in bars for p in one.pieces}
    assert len({(piece.name, piece.takes) for piece in told}) == len(told)
