"""Find where sentences end, and cut a text: into sentences, lines and code blocks, or into passages."""

import re
from bisect import bisect_left
from collections.abc import Iterator, Sequence

import numpy as np
from msgspec import Struct

from muisti.core.kernels import Bytes
from muisti.core.kernels import ascii as loops
from muisti.core.model.errors import InvalidInput
from muisti.core.model.values import Passage
from muisti.core.support.regex import regex
from muisti.core.text.forms import ascii_bytes
from muisti.core.text.terms import WORD_MAX, token_starts

_FENCES = regex(r"^[ \t]*```.*?(?:^[ \t]*```[ \t]*$|\Z)", re.MULTILINE | re.DOTALL)
_ENDS = regex(
    r"""(?<![.!?…])[.!?…]++["'”’»)\]]*+(?P<gap>\s++)"""  # Stop. Stop!) "Stop?"
    r"""|[。！？｡]++[」』）】”’]*+\s*+"""
    r"""|\n\s*+"""
)
_BEGINNING = regex(r"""["'“‘«(\[]?[^\W_a-z]""")  # of a sentence: "Stop." Then …, not of "e.g. this"


class Piece(Struct, frozen=True):
    """A stretch of a text, in characters; `code` says that it is a fenced code block."""

    start: int
    stop: int
    code: bool = False


def ends(text: str) -> Iterator[int]:
    """Yield the places after sentences and lines, white space included; after abbreviations as well.

    >>> list(ends("It rained, e.g. here. We left!"))
    [16, 22]
    """
    return (end.end() for end in _ENDS.finditer(text))


def pieces(text: str) -> list[Piece]:
    r"""Return the sentences and lines of a text, in order; a fenced code block is one piece.

    Pieces have no white space around them, and only white space is between them.

    >>> text = "It rained. We left!\n```\nx = 1\n```"
    >>> [text[piece.start : piece.stop] for piece in pieces(text)]
    ['It rained.', 'We left!', '```\nx = 1\n```']
    """
    found: list[Piece] = []
    at = 0
    if "```" in text:
        for fence in _FENCES.finditer(text):
            found += _sentences(text, at, fence.start())
            found += _stripped(text, fence.start(), fence.end(), code=True)
            at = fence.end()
    found += _sentences(text, at, len(text))
    return found


def _sentences(text: str, start: int, stop: int) -> Iterator[Piece]:
    at = start
    for end in _ENDS.finditer(text, start, stop):
        gap = end["gap"]
        if gap is None or "\n" in gap or _BEGINNING.match(text, end.end(), stop):
            yield from _stripped(text, at, end.end())
            at = end.end()
    yield from _stripped(text, at, stop)


def _stripped(text: str, start: int, stop: int, *, code: bool = False) -> Iterator[Piece]:
    """Yield the stretch without the white space around it; nothing when it has nothing else."""
    bare = text[start:stop]
    first = start + len(bare) - len(bare.lstrip())
    last = start + len(bare.rstrip())
    if first < last:
        yield Piece(first, last, code)


WORDS_MIN = 3  # that must be left of a sentence when its frame is taken off; shorter ones are compared as they are

# English only: a frame in another language leaves the sentence a new one, which is stored without a flag.
_WORDS = """
a about according ago again all also an and are as aware be been before bit btw by can confirm confirmed context did
don't earlier fact facts far find for forget found from fyi furthermore given going good got had has have he hello
here here's hey hi his i i'll i'm i've important in info information is it it's its just keep key know known knows
last learned like me memo memories memory mentioned mind my need note noted notes now of ok okay on once our out please
point point's previous previously ps quick recall recalled recalls recap record recorded reference remember remembered
reminder remembers result results retrieved said save saved say says search self she should showed shows so sources
state stated states store stored summary takeaway tells that that's the their them there they this time to told too
unchanged up use useful user user's users want was we we've well were what which will with worth yes you you're your
"""
_FRAME = frozenset(_WORDS.split())


def unframed(words: Sequence[str]) -> Sequence[str]:
    """Return a sentence without the words that frame it; empty when it is nothing but a frame.

    >>> unframed("note to self ann keeps the keys in the drawer".split())
    ['ann', 'keeps', 'the', 'keys', 'in', 'the', 'drawer']
    >>> unframed("here is what i remember".split())
    []
    """
    start, stop = 0, len(words)
    while start < stop and words[start] in _FRAME:
        start += 1
    while stop > start and words[stop - 1] in _FRAME:
        stop -= 1
    return words[start:stop]


MAX_TOKENS = 256
OVERLAP = 32  # tokens that a passage may share with the one before
MIN_TOKENS = MAX_TOKENS // 2  # of every passage but the last, however good an earlier border

# How good a cut before a token is.
_ANYWHERE, _WORD, _SENTENCE, _PARAGRAPH = range(4)

_BLANK_LINES = regex(r"\n[^\S\n]*+\n\s*+")


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
        cut = max(range(first + most // 2, first + most + 1), key=lambda token: (borders[token], token))
        passages.append(Passage(len(passages), starts[first] if first else 0, starts[cut]))
        first = _first_best(borders, cut - overlap, cut) if overlap else cut
    passages.append(Passage(len(passages), starts[first], len(content)))
    return passages


def _borders(content: str, starts: list[int]) -> list[int]:
    """Return for each token how good a cut before it is."""
    borders = [_WORD if start and content[start - 1].isspace() else _ANYWHERE for start in starts]
    paragraphs = (end.end() for end in _BLANK_LINES.finditer(content))
    for places, rank in ((ends(content), _SENTENCE), (paragraphs, _PARAGRAPH)):
        for end in places:
            token = bisect_left(starts, end)
            if token < len(starts):
                borders[token] = rank
    return borders


def _first_best(borders: list[int], low: int, high: int) -> int:
    """Return the first sentence in `[low, high)`, else the first word, else `low`."""
    return max(range(low, high), key=lambda token: (min(borders[token], _SENTENCE), -token))
