"""Keys of names."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from muisti.core.entities.names import CAPITALS, initials, keys, norm

TEXTS = st.text(st.sampled_from("aAß İé09 '’\"“”.,-/&@#()the "), max_size=20)


@given(TEXTS)
def test_a_key_is_its_own_key_and_only_capitals_count(text: str):
    key = norm(text)
    assert norm(key) == key
    assert norm(key.casefold()) == key.casefold()
    assert key in (key.casefold(), key.upper())
    assert keys(text)[0] == key
    assert {one.casefold() for one in keys(text)} == {key.casefold()}


@pytest.mark.parametrize(
    ("text", "key"),
    [
        ("EVA", "EVA"),
        ("Eva", "eva"),
        ("the US's", "US"),
        ("NASA’S", "NASA"),
        ("CAROLINE", "caroline"),
        ("ABC-1", "abc-1"),
        ("U.S.", "u.s"),
        ("RED CHINA", "red china"),
        ("X", "x"),
        ("A Villa", "a villa"),
        ("MAX_SIZE", "MAX_SIZE"),
        ("max_size", "max_size"),
        ("@An_Lee", "@an_lee"),
        ("The Hague", "hague"),
    ],
)
def test_case_counts_in_one_word_of_a_few_capitals_and_in_symbols_alone(text: str, key: str):
    assert norm(text) == key


def test_a_name_is_found_whatever_its_case():
    assert set(keys("nasa")) == set(keys("Nasa")) == set(keys("NASA")) == {"nasa", "NASA"}
    assert keys("the White House") == ("white house",)
    assert keys("A" * (CAPITALS + 1)) == ("a" * (CAPITALS + 1),)


@given(st.text("0123456789/.-", min_size=1, max_size=8), st.text("0123456789/.-", min_size=1, max_size=8))
def test_digits_are_never_lost(first: str, second: str):
    digits = ["".join(filter(str.isdigit, one)) for one in (first, second)]
    assert "".join(filter(str.isdigit, norm(first))) == digits[0]
    if digits[0] != digits[1]:
        assert norm(first) != norm(second)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Melanie's", "melanie"),
        ("the White House", "White  House"),
        ("“Dune”", "Dune"),
        ("U.S.", "u.s"),
        ("James’", "James"),
    ],
)
def test_forms_of_a_name_have_one_key(one: str, other: str):
    assert norm(one) == norm(other)


@pytest.mark.parametrize(("one", "other"), [("3/4", "3/9"), ("C", "C++"), ("Flask", "Flask-Talisman"), ("The", "A")])
def test_different_names_have_different_keys(one: str, other: str):
    assert norm(one) != norm(other)


@given(st.lists(st.text("abcXYZ", min_size=1, max_size=5), max_size=6))
def test_initials_are_one_letter_for_each_word_that_counts(words: list[str]):
    found = initials(words)
    assert len(found) in (0, sum(word.casefold() not in ("a",) for word in words))
    assert found == norm(found.upper())
