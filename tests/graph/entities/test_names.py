"""Keys of names."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from muisti.core.graph.entities.name_keys import CAPITALS, folded, initials, is_capitalised, lookups, norm

TEXTS = st.text(st.sampled_from("aAß İé09 '’\"“”.,-/&@#()the "), max_size=20)


@given(TEXTS)
def test_a_key_is_its_own_key_and_folds_as_its_text(text: str):
    key = norm(text)
    assert norm(key) == key
    assert folded(key) == folded(text)
    assert folded(folded(text)) == folded(text)
    assert lookups(text)[0] == folded(text)
    assert {one.casefold() for one in lookups(text)} == {folded(text).casefold()}


@pytest.mark.parametrize(("text", "key"), [
    ("Dave", "Dave"), ("dave", "dave"), ("DAVE’s", "DAVE"), ("White House", "White House"),
    ("the White House", "White House"), ("The White House", "The White House"), ("the US", "the US"), ("K.", "K."),
    ("U.S.", "U.S"), ("--config", "--config"), ("-- Ann", "Ann"), ("Melanie's", "Melanie"),
    ("White  House", "White House"), ("“Dune”", "Dune"), ("James’", "James"),
])  # fmt: skip
def test_a_key_has_the_case_of_its_name(text: str, key: str):
    assert norm(text) == key


@pytest.mark.parametrize(("text", "key"), [
    ("EVA", "EVA"), ("Eva", "eva"), ("the US's", "US"), ("NASA’S", "NASA"), ("CAROLINE", "caroline"),
    ("ABC-1", "abc-1"), ("U.S.", "u.s"), ("RED CHINA", "red china"), ("X", "x"), ("A Villa", "a villa"),
    ("MAX_SIZE", "MAX_SIZE"), ("max_size", "max_size"), ("@An_Lee", "@an_lee"), ("The Hague", "hague"),
])  # fmt: skip
def test_names_fold_but_for_one_word_of_a_few_capitals_and_symbols(text: str, key: str):
    assert folded(text) == key


def test_a_name_is_found_whatever_its_case():
    assert set(lookups("nasa")) == set(lookups("Nasa")) == set(lookups("NASA")) == {"nasa", "NASA"}
    assert lookups("the White House") == ("white house",)
    assert lookups("A" * (CAPITALS + 1)) == ("a" * (CAPITALS + 1),)
    assert is_capitalised("Ludwig van Beethoven") and is_capitalised("3 Doors Down")
    assert not is_capitalised("Leishmania mexicana")


@given(st.text("0123456789/.-", min_size=1, max_size=8), st.text("0123456789/.-", min_size=1, max_size=8))
def test_digits_are_never_lost(first: str, second: str):
    digits = ["".join(filter(str.isdigit, one)) for one in (first, second)]
    assert "".join(filter(str.isdigit, norm(first))) == digits[0]
    if digits[0] != digits[1]:
        assert norm(first) != norm(second)


@pytest.mark.parametrize(("one", "other"), [("3/4", "3/9"), ("C", "C++"), ("Flask", "Flask-Talisman"), ("The", "A")])
def test_different_names_have_different_keys(one: str, other: str):
    assert norm(one) != norm(other)


@given(st.lists(st.text("abcXYZ", min_size=1, max_size=5), max_size=6))
def test_initials_are_one_letter_for_each_word_that_counts(words: list[str]):
    found = initials(words)
    assert len(found) in (0, sum(word.casefold() not in ("a",) for word in words))
    assert found == found.upper()
