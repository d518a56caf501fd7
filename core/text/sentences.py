"""Find where sentences end, and cut a text into pieces that can be shown alone: sentences, lines, and code blocks."""

import re
from collections.abc import Iterator

from msgspec import Struct

_FENCES = re.compile(r"^[ \t]*```.*?(?:^[ \t]*```[ \t]*$|\Z)", re.MULTILINE | re.DOTALL)
_ENDS = re.compile(
    r"""(?<![.!?…])[.!?…]++["'”’»)\]]*+(?P<gap>\s++)"""  # Stop. Stop!) "Stop?"
    r"""|[。！？｡]++[」』）】”’]*+\s*+"""
    r"""|\n\s*+"""
)
_BEGINNING = re.compile(r"""["'“‘«(\[]?[^\W_a-z]""")  # of a sentence: "Stop." Then …, not of "e.g. this"


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
