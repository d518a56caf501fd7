"""Cut long content into passages, the stretches that are embedded and shown."""

import re
from bisect import bisect_left

import numpy as np

from muisti.core.kernels import Bytes
from muisti.core.kernels import ascii as loops
from muisti.core.model.errors import InvalidInput
from muisti.core.model.values import Passage
from muisti.core.text.sentences import ends as sentence_ends
from muisti.core.text.terms import WORD_MAX, token_starts
from muisti.core.text.word_table import ascii_bytes

MAX_TOKENS = 256
OVERLAP = 32  # tokens that a passage may share with the one before
MIN_TOKENS = MAX_TOKENS // 2  # of every passage but the last, however good an earlier border

# How good a cut before a token is.
_ANYWHERE, _WORD, _SENTENCE, _PARAGRAPH = range(4)

_BLANK_LINES = re.compile(r"\n[^\S\n]*+\n\s*+")


def split(content: str, tokens: int | None = None, *, most: int = MAX_TOKENS, overlap: int = OVERLAP) -> list[Passage]:
    """Cover `content` with passages of at most `most` tokens, in order. Short content is one passage.

    A passage ends at the last paragraph border of its second half, else at the last sentence border, else between
    words, else anywhere. The next one starts up to `overlap` tokens earlier, at a sentence or else a word. Every
    character is in a passage, and starts and stops increase. `tokens` is the number of tokens, if known.

    Raises:
        InvalidInput: `most` is less than 2, or `overlap` is not between 0 and half of it.

    >>> split("Short.")
    [Passage(number=0, start=0, stop=6)]
    """
    if most < 2:
        raise InvalidInput.at("$.most", f"is {most:,}; a passage has at least 2 tokens")
    if not 0 <= overlap < most // 2:
        raise InvalidInput.at("$.overlap", f"is {overlap:,}, not 0 to less than half of {most:,} tokens")
    if tokens is not None and tokens <= most:
        return [Passage(0, 0, len(content))]
    data = ascii_bytes(content)
    return _cut(content, most, overlap) if data is None else _cut_ascii(data, most, overlap)


def _cut_ascii(data: Bytes, most: int, overlap: int) -> list[Passage]:
    """Return the passages of a text in ASCII, in a fraction of the time."""
    starts, ranks = np.empty(len(data), np.int64), np.empty(len(data), np.int8)
    count = loops.tokens(data, WORD_MAX, starts, ranks)
    out = np.empty(2 * (2 + count // (most // 2 - overlap)), np.int64)
    found = loops.passages(starts[:count], ranks, len(data), most, overlap, out)
    edges = out[: 2 * found].tolist()
    return [Passage(number, *edges[2 * number : 2 * number + 2]) for number in range(found)]


def _cut(content: str, most: int, overlap: int) -> list[Passage]:
    starts = token_starts(content)
    if len(starts) <= most:
        return [Passage(0, 0, len(content))]
    borders = _borders(content, starts)
    passages: list[Passage] = []
    first = 0
    while len(starts) - first > most:
        cut = _last_best(borders, first + most // 2, first + most)
        passages.append(Passage(len(passages), starts[first] if first else 0, starts[cut]))
        first = _first_best(borders, cut - overlap, cut) if overlap else cut
    passages.append(Passage(len(passages), starts[first], len(content)))
    return passages


def _borders(content: str, starts: list[int]) -> list[int]:
    """Return for each token how good a cut before it is."""
    borders = [_WORD if start and content[start - 1].isspace() else _ANYWHERE for start in starts]
    paragraphs = (end.end() for end in _BLANK_LINES.finditer(content))
    for ends, rank in ((sentence_ends(content), _SENTENCE), (paragraphs, _PARAGRAPH)):
        for end in ends:
            token = bisect_left(starts, end)
            if token < len(starts):
                borders[token] = rank
    return borders


def _last_best(borders: list[int], low: int, high: int) -> int:
    """Return the last of the best places in `[low, high]`."""
    return max(range(low, high + 1), key=lambda token: (borders[token], token))


def _first_best(borders: list[int], low: int, high: int) -> int:
    """Return the first sentence in `[low, high)`, else the first word, else `low`."""
    return max(range(low, high), key=lambda token: (min(borders[token], _SENTENCE), -token))
