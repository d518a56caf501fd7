"""Read CSV and its kin to rows of a table in Markdown, in bounded memory."""

import csv
import re
from collections.abc import Iterable, Iterator

from muisti.core.model.documents import Piece
from muisti.core.model.unreadable import Broken
from muisti.core.parsing.blocks import row, rule

DELIMITERS = ",;\t|"
SAMPLE = 20  # lines that decide the delimiter
BATCH = 1 << 14  # characters of a piece
_STATED = re.compile(r"sep=([^\w\s\"]|\t)\s*", re.IGNORECASE)  # the first line of files that Excel wrote
_QUOTED = re.compile(r'"(?:[^"]|"")*"')


def delimiter_of(lines: Iterable[str], name: str = "") -> str:
    """Return the delimiter that most lines have equally often, outside quotes; a comma when there is none.

    >>> delimiter_of(["a;b,c;d", "1;2;3,5"]), delimiter_of(["one"])
    (';', ',')
    """
    if name.lower().endswith((".tsv", ".tab")):
        return "\t"
    bare = [_QUOTED.sub("", line) for line in lines if line.strip()]
    best, score = ",", 0.0
    for mark in DELIMITERS:
        counts = [line.count(mark) for line in bare]
        usual = max(set(counts), key=lambda count: (counts.count(count), count), default=0)
        agreed = counts.count(usual) / len(counts) if usual else 0.0
        if agreed + min(usual, 50) / 1000 > score:
            best, score = mark, agreed + min(usual, 50) / 1000
    return best


def table_pieces(lines: Iterator[str], name: str) -> Iterator[Piece]:
    """Yield the rows of a separated file as pieces of one table, whose head is the first row.

    Raises `Broken` where a field never ends.
    """
    first = [line for line, _ in zip(lines, range(SAMPLE), strict=False)]
    stated = _STATED.fullmatch(first[0]) if first else None
    mark = delimiter_of(first, name) if stated is None else stated[1]
    if stated is not None:
        del first[0]
    text, begun = "", False
    try:
        for cells in csv.reader(_chain(first, lines), delimiter=mark, skipinitialspace=True):
            if not any(cell.strip() for cell in cells):
                continue
            text += row(cells) if begun else row(cells) + rule(len(cells))
            begun = True
            if len(text) > BATCH:
                yield Piece(text=text, kind="table")
                text = ""
    except csv.Error as error:
        raise Broken(f"The rows cannot be read: {error}.") from error
    if text:
        yield Piece(text=text, kind="table")


def _chain(first: Iterable[str], rest: Iterable[str]) -> Iterator[str]:
    yield from first
    yield from rest
