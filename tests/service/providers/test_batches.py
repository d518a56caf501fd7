"""Batches hold every text once, in order, within both limits."""

from hypothesis import given
from hypothesis import strategies as st

from muisti.service.providers.posting import batches, tokens_of


@given(st.lists(st.text(max_size=40)), st.integers(1, 9), st.integers(1, 60))
def test_batches_are_the_texts_in_order_and_within_the_limits(texts: list[str], items: int, tokens: int):
    found = list(batches(texts, items, tokens))
    assert [text for batch in found for text in batch] == texts
    for batch in found:
        assert 1 <= len(batch) <= items
        assert len(batch) == 1 or sum(map(tokens_of, batch)) <= tokens
    for batch, after in zip(found, found[1:], strict=False):  # none is smaller than it must be
        assert len(batch) == items or sum(map(tokens_of, [*batch, after[0]])) > tokens
