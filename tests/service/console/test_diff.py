"""The difference of two texts: without what was added it is the old one, without what was taken away the new one."""

from hypothesis import given
from hypothesis import strategies as st

from muisti.service.console.versions import Piece, around, diff

WORDS = st.lists(st.sampled_from(["a", "bee", " ", "\n", ".", "ä", "**"]), max_size=30).map("".join)


def without(pieces: list[Piece], change: str) -> str:
    return "".join(one.text for one in pieces if one.change != change)


@given(WORDS, WORDS)
def test_both_texts_can_be_read_from_it(old: str, new: str):
    found = diff(old, new)
    assert without(found, "ins") == old
    assert without(found, "del") == new


@given(st.text(max_size=80), st.text(max_size=80))
def test_any_signs_can_be_read_from_it(old: str, new: str):
    found = diff(old, new)
    assert (without(found, "ins"), without(found, "del")) == (old, new)


@given(WORDS, WORDS)
def test_no_piece_is_empty_and_none_follows_its_like(old: str, new: str):
    found = diff(old, new)
    assert all(one.text for one in found)
    assert all(one.change != other.change for one, other in zip(found, found[1:], strict=False))


def test_equal_texts_do_not_differ():
    assert diff("tea", "tea") == [Piece("same", "tea")]
    assert diff("", "") == []


def test_words_that_change_together_are_one_change():
    found = diff("Ask Ann Lindqvist today.", "Ask Ben Olsen today.")
    assert found == [
        Piece("same", "Ask "), Piece("del", "Ann Lindqvist"), Piece("ins", "Ben Olsen"), Piece("same", " today."),
    ]  # fmt: skip


def test_texts_too_long_to_compare_are_one_change_between_their_common_ends():
    old = "begin " + "a " * 1_500 + "end"
    new = "begin " + "b " * 1_500 + "end"
    found = diff(old, new)
    assert [one.change for one in found] == ["same", "del", "ins", "same"]
    assert (without(found, "ins"), without(found, "del")) == (old, new)


def test_a_long_text_with_few_changes_is_compared_word_by_word():
    old = "The crane lifts forty tonnes. " * 3_000
    new = old.replace("crane", "winch", 40)
    found = diff(old, new)
    assert [one.text for one in found if one.change == "ins"] == ["winch"] * 40
    assert (without(found, "ins"), without(found, "del")) == (old, new)


def test_around_keeps_changes_and_cuts_what_did_not_change():
    found = around(diff("x " * 500 + "old" + " y" * 500, "x " * 500 + "new" + " y" * 500))
    assert [one.text for one in found if one.change != "same"] == ["old", "new"]
    assert sum(len(one.text) for one in found) < 400
