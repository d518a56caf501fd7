import pytest
from hypothesis import given
from hypothesis import strategies as st

from muisti.core.text.literals import Literals

ALL = ("pass", "password", "://", "clé", "sk-", "token", "ken", "código")
LITERALS = Literals(ALL)
parts = st.sampled_from([*ALL, "PASS", "CLÉ", "İ", "tok", "en", " ", "é", "\ud800", "s", "K-", "\u212a-"])
texts = st.lists(parts).map("".join) | st.text()


@given(texts)
def test_the_literals_of_a_text_are_those_that_it_has_in_lower_case(text: str):
    wanted = [literal for literal in ALL if literal in text.lower()]
    assert LITERALS.present(text) == LITERALS.mask(wanted)


def test_literals_that_cannot_be_told_apart_are_refused():
    for some in (["ab"], ["abc", "abc"], [f"{number:03}" for number in range(65)]):
        with pytest.raises(ValueError, match="64 different literals"):
            Literals(some)
