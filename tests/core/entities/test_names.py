"""Keys of names."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from muisti.core.entities.names import initials, norm

TEXTS = st.text(st.sampled_from("aAß İé09 '’\"“”.,-/&@#()the "), max_size=20)


@given(TEXTS)
def test_a_key_is_its_own_key_in_capitals_too(text: str):
    assert norm(norm(text)) == norm(text)
    assert norm(norm(text).upper().casefold()) == norm(text)


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
    assert found == found.casefold()
