"""Lists of words as sorted hashes."""

from hypothesis import given
from hypothesis import strategies as st

from muisti.core.graph.entities.features import Lists, packed


@given(st.dictionaries(st.text(max_size=6), st.integers(1, 255), max_size=50))
def test_each_word_has_its_flags(flags: dict[str, int]):
    lists = Lists(packed(flags))
    for word, own in flags.items():
        assert lists.flags(word) & own == own
    assert lists.flags_of([*flags, "?", ""]) == [lists.flags(word) for word in [*flags, "?", ""]]


def test_few_unknown_words_have_flags():
    lists = Lists(packed({f"word{at}": 1 for at in range(10_000)}))
    assert sum(lists.flags(f"other{at}") > 0 for at in range(10_000)) < 50
    assert Lists(packed({})).flags("word") == 0
