"""A memo never grows beyond its size, and always gives what its function gives."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from muisti.core.support.memo import Memo

pytestmark = pytest.mark.one_store


@given(st.lists(st.text(st.sampled_from("ab"), max_size=5)))
def test_it_gives_what_the_function_gives_and_stays_small(words: list[str]):
    asked: list[str] = []
    memo = Memo[int](lambda word: (asked.append(word), len(word))[1], most=3, longest=4)
    for word in words:
        assert memo[word] == len(word) and len(memo) <= 3
        assert all(len(one) <= 4 for one in memo)
    assert len(asked) >= len(set(words))
    asked.clear()
    once = Memo[None](asked.append, most=2, longest=4)
    once["a"], once["a"], once["longer"], once["longer"]
    assert asked == ["a", "longer", "longer"]
