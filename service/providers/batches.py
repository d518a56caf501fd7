"""Texts in batches that an endpoint takes: at most so many texts, and about so many tokens."""

from collections.abc import Iterator, Sequence

from muisti.core.text.terms import count_tokens

LETTERS = 3  # characters that make a token, at the least that is usual


def tokens_of(text: str) -> int:
    """Return about how many tokens a model counts in a text: rather too many than too few.

    >>> tokens_of("hello world"), tokens_of("東京都")
    (4, 3)
    """
    return max(count_tokens(text), -(-len(text) // LETTERS), 1)


def batches(texts: Sequence[str], items: int, tokens: int) -> Iterator[Sequence[str]]:
    """Yield the texts in order, in batches of at most `items` texts and `tokens` tokens; one text may have more.

    >>> [len(batch) for batch in batches(["a b c", "d e f", "g"], items=2, tokens=100)]
    [2, 1]
    """
    start, held = 0, 0
    for place, text in enumerate(texts):
        cost = tokens_of(text)
        if place > start and (place - start == items or held + cost > tokens):
            yield texts[start:place]
            start, held = place, 0
        held += cost
    if start < len(texts):
        yield texts[start:]
