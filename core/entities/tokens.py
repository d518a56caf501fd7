"""Cut running text into the stretches that are tagged on their own, and those into words, as the training sets do."""

import re
from collections.abc import Iterator

from msgspec import Struct

from muisti.core.text.sentences import pieces

LONGEST = 400  # words of a stretch that are tagged at once

_SUFFIXES = r"(?:s|re|ve|ll|d|m|t)\b"
_WORD = re.compile(
    rf"""https?://[^\s<>"]+|www\.[^\s<>"]+|[@#]\w+
    |(?:[A-Za-z]\.){{2,}}(?:[A-Z][a-z]+)?
    |(?:Mr|Mrs|Ms|Dr|Prof|Sen|Rep|Gov|Gen|Col|Sgt|St|Jr|Sr|Inc|Corp|Co|Ltd|No)\.
    |['’]{_SUFFIXES}
    |\w+(?:(?:[-&]|['’.](?!{_SUFFIXES}(?!\w))|(?<=[A-Z0-9]):(?=[A-Z0-9]))\w+)*
    |[^\w\s]""",
    re.VERBOSE,
)
_MARKER = re.compile(r"(?:[-*+•>]|#{1,6}|\d{1,3}[.)])\s+")


class Stretch(Struct, frozen=True):
    """A sentence, a line or a cell of a table. `words` has the start and stop of each word in the text.

    `plain` is False in headings and tables, where capital letters say little.
    """

    words: list[tuple[int, int]]
    plain: bool


def stretches(text: str) -> Iterator[Stretch]:
    """Yield the sentences of a text with their words; without code blocks, and without the marks of lists.

    >>> [[text[a:b] for a, b in one.words] for text in ["Ann's here. - Bob left U.S. soil."] for one in stretches(text)]
    [['Ann', "'s", 'here', '.'], ['Bob', 'left', 'U.S.', 'soil', '.']]
    """
    for piece in pieces(text):
        if piece.code:
            continue
        marker = _MARKER.match(text, piece.start, piece.stop)
        start = marker.end() if marker else piece.start
        table = text[piece.start] == "|" or text.count("|", piece.start, piece.stop) > 1
        heading = marker is not None and text[piece.start] == "#"
        yield from _cut(text, start, piece.stop, plain=not (table or heading), cells=table)


def _cut(text: str, start: int, stop: int, *, plain: bool, cells: bool) -> Iterator[Stretch]:
    words = [match.span() for match in _WORD.finditer(text, start, stop)]
    while words:
        most = next((i for i, (at, _) in enumerate(words) if text[at] == "|"), len(words)) if cells else len(words)
        most = min(most, LONGEST)
        if most:
            yield Stretch(words[:most], plain)
        words = words[most + (cells and most < len(words) and text[words[most][0]] == "|") :]
