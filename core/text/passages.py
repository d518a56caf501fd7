"""Cut long content into passages, the stretches that are embedded and shown."""

import re
from bisect import bisect_left

from muisti.core.model.values import Passage
from muisti.core.text.terms import token_starts

MAX_TOKENS = 256
OVERLAP = 32  # tokens that a passage may share with the one before
MIN_TOKENS = MAX_TOKENS // 2  # a cut is not made earlier, however good the border

# How good it is to cut before a token.
_ANYWHERE, _WORD, _SENTENCE, _PARAGRAPH = range(4)

_BLANK_LINES = re.compile(r"\n[^\S\n]*+\n\s*+")
_SENTENCE_ENDS = re.compile(
    r"""(?<![.!?…])[.!?…]++["'”’»)\]]*+\s++"""  # Stop. Stop!) "Stop?"
    r"""|[。！？｡]++[」』）】”’]*+\s*+"""
    r"""|\n\s*+"""
)


def split(content: str, tokens: int | None = None) -> list[Passage]:
    """Cover `content` with passages of at most `MAX_TOKENS`, in order; short content is one passage.

    A passage ends at the last paragraph border of its second half, else the last sentence border, else between
    words, else anywhere. The next one starts up to `OVERLAP` tokens earlier, at a sentence or else a word. Every
    character is in a passage, and starts and stops increase. `tokens` is how many there are, when that is known.

    >>> split("Short.")
    [Passage(number=0, start=0, stop=6)]
    """
    if tokens is not None and tokens <= MAX_TOKENS:
        return [Passage(0, 0, len(content))]
    starts = token_starts(content)
    if len(starts) <= MAX_TOKENS:
        return [Passage(0, 0, len(content))]
    borders = _borders(content, starts)
    passages: list[Passage] = []
    first = 0
    while len(starts) - first > MAX_TOKENS:
        cut = _last_best(borders, first + MIN_TOKENS, first + MAX_TOKENS)
        passages.append(Passage(len(passages), starts[first] if first else 0, starts[cut]))
        first = _first_best(borders, cut - OVERLAP, cut)
    passages.append(Passage(len(passages), starts[first], len(content)))
    return passages


def _borders(content: str, starts: list[int]) -> list[int]:
    """For each token, how good it is to cut before it."""
    borders = [_WORD if start and content[start - 1].isspace() else _ANYWHERE for start in starts]
    for pattern, rank in ((_SENTENCE_ENDS, _SENTENCE), (_BLANK_LINES, _PARAGRAPH)):
        for border in pattern.finditer(content):
            token = bisect_left(starts, border.end())
            if token < len(starts):
                borders[token] = rank
    return borders


def _last_best(borders: list[int], low: int, high: int) -> int:
    """The last of the best places in `[low, high]`."""
    return max(range(low, high + 1), key=lambda token: (borders[token], token))


def _first_best(borders: list[int], low: int, high: int) -> int:
    """The first sentence in `[low, high)`, else the first word, else `low`."""
    return max(range(low, high), key=lambda token: (min(borders[token], _SENTENCE), -token))
