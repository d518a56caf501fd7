"""Cut running text into the stretches that are tagged on their own, and those into words, as the training sets do."""

import re
from collections.abc import Iterator

from msgspec import Struct

from muisti.core.text.sentences import pieces

LONGEST = 400  # words of a stretch; a longer one is cut

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
_ABBREVIATED = re.compile(r"(?<!\w)(?:Mr|Mrs|Ms|Dr|Prof|Sen|Rep|Gov|Gen|Col|Sgt|St|No|vs|[A-Z])\.$")
_NUMBER = re.compile(r"\d{1,3}\.")
_MARKER = re.compile(r"(?:[-*+•>]|#{1,6}|\d{1,3}[.)])\s+")


class Stretch(Struct, frozen=True):
    """A sentence, a line or a cell of a table. `words` has the start and stop of each word in the text.

    `plain` is False in headings and tables, where capital letters say little.
    """

    words: list[tuple[int, int]]
    plain: bool


def stretches(text: str) -> Iterator[Stretch]:
    """Yield the sentences of a text with their words; without code blocks, and without the marks of lists.

    >>> text = "Ann's here.\\n- Bob left U.S. soil."
    >>> [[text[a:b] for a, b in one.words] for one in stretches(text)]
    [['Ann', "'s", 'here', '.'], ['Bob', 'left', 'U.S.', 'soil', '.']]
    """
    for start, stop in _joined(text):
        marker = _MARKER.match(text, start, stop)
        table = text[start] == "|" or text.count("|", start, stop) > 1
        heading = marker is not None and text[start] == "#"
        yield from _cut(text, marker.end() if marker else start, stop, plain=not (table or heading), cells=table)


def _joined(text: str) -> Iterator[tuple[int, int]]:
    """Yield the start and stop of sentences and lines that are no code; an abbreviation ends no sentence."""
    start, stop = 0, 0
    for piece in pieces(text):
        if piece.code:
            continue
        if stop > start and "\n" not in text[stop : piece.start] and _goes_on(text, start, stop):
            stop = piece.stop
            continue
        if stop > start:
            yield start, stop
        start, stop = piece.start, piece.stop
    if stop > start:
        yield start, stop


def _goes_on(text: str, start: int, stop: int) -> bool:
    """Return whether a sentence that ends here is none: its full stop is of an abbreviation, or of a list's number."""
    number = _NUMBER.fullmatch(text, start, stop)
    return number is not None or _ABBREVIATED.search(text, max(start, stop - 8), stop) is not None


def _cut(text: str, start: int, stop: int, *, plain: bool, cells: bool) -> Iterator[Stretch]:
    own: list[tuple[int, int]] = []
    for match in _WORD.finditer(text, start, stop):
        border = cells and match.group() == "|"
        if own and (border or len(own) == LONGEST):
            yield Stretch(own, plain)
            own = []
        if not border:
            own.append(match.span())
    if own:
        yield Stretch(own, plain)
