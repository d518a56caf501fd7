"""Units of text, the smallest parts of chunks: sentences, lines, and parts of long ones."""

from collections.abc import Sequence
from itertools import pairwise
from typing import NamedTuple

from muisti.core.model.documents import Piece
from muisti.core.text.terms import WORD_MAX, count_tokens, count_tokens_between

# How good a border before a unit is. A section's rank falls with its depth, and is at least SECTION.
GLUED, ANYWHERE, WORD, LINE, SENTENCE, PARAGRAPH, BLOCK, SECTION = range(8)
DEEPEST = 12  # levels of sections that have different ranks
TOP = SECTION + DEEPEST


class Unit(NamedTuple):
    """A part of a document that is not cut further.

    `weight` is its size in tokens, see `weigh`. `rank` tells how good a chunk's border before it is. `piece` is the
    parsed piece in which it begins. `whole` is the weight of the block that begins here, to be kept in one chunk.
    `begins` has the definitions that begin with it.
    """

    text: str
    weight: int
    rank: int
    piece: Piece
    symbol: str | None = None
    whole: int = 0
    begins: tuple[str, ...] = ()


def weigh(text: str) -> int:
    """Return the tokens of a text; white space counts as well where there is more of it than of words.

    The weight is at least the number of tokens, and no text has more than 24 characters for each unit of weight.

    >>> weigh("Two words."), weigh(" "), weigh(" " * 240)
    (3, 1, 10)
    """
    return max(1, count_tokens(text), -(-len(text) // WORD_MAX))


def weigh_between(text: str, borders: Sequence[int]) -> list[int]:
    """Return the `weigh` of each stretch between two neighbouring borders, in ascending order.

    >>> weigh_between("Two words. Three", [0, 11, 16])
    [3, 1]
    """
    found = zip(count_tokens_between(text, borders), pairwise(borders), strict=True)
    return [max(1, tokens, -(-(stop - start) // WORD_MAX)) for tokens, (start, stop) in found]


def section_rank(depth: int) -> int:
    """Return the rank of a border before a section or definition, `depth` levels below the outermost.

    >>> section_rank(0) > section_rank(1) > section_rank(99) == SECTION
    True
    """
    return max(SECTION, TOP - depth)
