"""Stretches of a text and their words."""

from hypothesis import given
from hypothesis import strategies as st

from muisti.core.graph.entities.spans import LONGEST, stretches

PARTS = [
    "Ann Lee's dog. ",
    "U.S. soil ",
    "a_b ",
    "```\nCode Here\n```\n",
    "| A | B |\n",
    "# Head Line\n",
    "- don't\n",
    "版本 ",
]
TEXTS = st.lists(st.sampled_from(PARTS) | st.text(max_size=6), max_size=20).map("".join)


def words(text: str) -> list[list[str]]:
    return [[text[start:stop] for start, stop in one.words] for one in stretches(text)]


@given(TEXTS)
def test_words_ascend_hold_no_space_and_none_is_lost(text: str):
    last, seen = 0, set[int]()
    for one in stretches(text):
        assert 0 < len(one.words) <= LONGEST
        for start, stop in one.words:
            assert last <= start < stop <= len(text)
            assert not any(map(str.isspace, text[start:stop]))
            seen.update(range(start, stop))
            last = stop
    if "```" not in text and "|" not in text:
        lost = {text[at] for at in range(len(text)) if at not in seen and text[at].isalpha()}
        assert not lost


def test_words_are_those_of_the_training_sets_without_code_marks_and_bars():
    assert words("Mel's AT&T phone isn't in the U.S., Mr. Spider-Man!") == [
        ["Mel", "'s", "AT&T", "phone", "isn", "'t", "in", "the", "U.S.", ",", "Mr.", "Spider-Man", "!"]
    ]
    assert words("1. Buy milk\n```\nFoo Bar\n```\n> Quote") == [["Buy", "milk"], ["Quote"]]
    assert words("| Name | Ann Lee |") == [["Name"], ["Ann", "Lee"]]
    assert not any(one.plain for one in stretches("| Name | Ann Lee |"))
    assert [len(one) for one in words("word " * (LONGEST + 1))] == [LONGEST, 1]
