"""Read DOC, the documents of Word before 2007: headings, tables, notes, comments, margins and text boxes."""

import re
import struct
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from itertools import accumulate, pairwise
from typing import NamedTuple

from muisti.core.model.unreadable import Broken, Encrypted
from muisti.core.parsing.encodings import text_of
from muisti.core.parsing.formats.compound import Compound
from muisti.core.parsing.formats.word_formats import PLAIN, Paragraph, Paragraphs, deleted, levels_of
from muisti.core.parsing.parsed import About, Options, Outline, block, heading, table
from muisti.core.parsing.pieces import Piece

ROWS = 1_000  # of a table that are given as one
_WORD_97, _WORD_6 = 0xA5EC, 0xA5DC  # marks of versions
_LOCKED, _SECOND_TABLE, _IN_PIECES = 0x0100, 0x0200, 0x0004  # flags
_COMPRESSED = 1 << 30  # a mark of a place whose letters have one byte each
_MARKS = re.compile("[\x13-\x15]")
_PARAGRAPH = re.compile("[^\r\x07\x0c]*+[\r\x07\x0c]?")
_LETTERS = str.maketrans(
    {"\x0b": "\n", "\x0e": "\n", "\x1e": "-", "\xa0": " "} | dict.fromkeys(map(chr, (*range(9), *range(19, 22), 31)))
)
_SEPARATORS, _MARGINS = 6, ("Header", "Header", "Footer", "Footer", "Header", "Footer")
_COMMENTS = 4  # the place of comments among the parts of the text


class _Piece(NamedTuple):
    """A stretch of the text: where it begins in the text and in the file, and the bytes of a letter."""

    start: int
    place: int
    width: int


class _File:
    """The streams of a document and the places in its header."""

    def __init__(self, data: bytes | bytearray, about: About) -> None:
        self.container = Compound(data, about.note)
        self.main = self.container.stream("worddocument")
        self._mark, self._flags = self.number(0, "H"), self.number(10, "H")
        if self._mark not in (_WORD_97, _WORD_6):
            raise Broken("The header of the document is damaged.")
        if self._flags & _LOCKED:
            raise Encrypted("The document is encrypted; it needs a password.")
        self.is_old = self._mark == _WORD_6
        self.in_pieces = bool(self._flags & _IN_PIECES) or not self.is_old
        named = "1table" if self._flags & _SECOND_TABLE else "0table"
        self._table = self.main if self.is_old else self.container.stream(named)

    def number(self, at: int, form: str = "I") -> int:
        """Return a number of the header."""
        found: int = struct.unpack_from(f"<{form}", self.main, at)[0] if at + 4 <= len(self.main) else 0
        return found

    def part(self, at: int) -> bytes:
        """Return a part of the table, whose place and size are in the header."""
        start, size = self.number(at), self.number(at + 4)
        return self._table[start : start + size]


def read(data: bytes | bytearray, options: Options, about: About) -> Iterator[Piece]:
    """Yield the text of a document. Raises `Broken` and `Encrypted`."""
    file = _File(data, about)
    about.title = file.container.title()
    pieces = _pieces(file.part(0x160 if file.is_old else 0x1A2)) if file.in_pieces else []
    if file.is_old:
        text, parts = _old_text(file, pieces, options, about)
        formats = Paragraphs(b"", b"", {})
    else:
        text = "".join(_texts(file, pieces, about))
        parts = [file.number(at) for at in range(0x4C, 0x6C, 4)]
        formats = Paragraphs(file.main, file.part(0x102), levels_of(file.part(0xA2)))
    about.images = "\x01" in text or "\x08" in text
    if objects := sum(1 for _ in file.container.below("objectpool")):
        about.note(f"Objects embedded in the document were not read: {objects}.")
    text = _blanked(text, _instructions(text))
    body, *others = (text[start:stop] for start, stop in pairwise(accumulate(parts, initial=0)))
    yield from _Reading(pieces, formats).pieces(body)
    margins = [*struct.unpack_from(f"<{len(file.part(0xF2)) // 4}I", file.part(0xF2))] if not file.is_old else []
    yield from _besides(others, margins)


def _pieces(table: bytes) -> list[_Piece]:
    """Return the stretches of the text, of the table that lists them behind other formats."""
    at = 0
    while at + 3 <= len(table) and table[at] == 1:
        at += 3 + struct.unpack_from("<H", table, at + 1)[0]
    if at + 5 > len(table) or table[at] != 2:
        raise Broken("The table of the text's pieces is damaged.")
    data = table[at + 5 : at + 5 + struct.unpack_from("<I", table, at + 1)[0]]
    count = max(len(data) - 4, 0) // 12
    starts = [*struct.unpack_from(f"<{count + 1}I", data)] if count else []
    found: list[_Piece] = []
    for number, start in enumerate(starts[:-1]):
        (place,) = struct.unpack_from("<I", data, 4 * (count + 1) + 8 * number + 2)
        if place & _COMPRESSED:
            found.append(_Piece(start, (place & (_COMPRESSED - 1)) // 2, 1))
        else:
            found.append(_Piece(start, place, 2))
    return [*found, _Piece(starts[-1], 0, 0)] if found else []


def _texts(file: _File, pieces: Sequence[_Piece], about: About) -> Iterator[str]:
    """Yield the text of each piece, with NUL for letters that are marked as deleted, so that all keep their places."""
    gone = sorted(deleted(file.main, file.part(0xFA)))
    words = 0
    for (start, place, width), (stop, _, _) in pairwise(pieces):
        length = min(max(stop - start, 0), len(file.main))
        end = place + length * width
        data = file.main[place:end]
        text = data.decode("cp1252" if width == 1 else "utf-16-le", "replace")
        ranges = [
            (max(first - place, 0) // width, (min(last, end) - place) // width)
            for first, last in gone[max(bisect_right(gone, (place, 0)) - 1, 0) : bisect_right(gone, (end, 0))]
            if last > place
        ]
        words += sum(len(text[first:last].split()) for first, last in ranges)
        yield _blanked(text, ranges).ljust(length if data else 0, "\0")
    about.leave_out("Deleted text of tracked changes", words)


def _old_text(file: _File, pieces: Sequence[_Piece], options: Options, about: About) -> tuple[str, Sequence[int]]:
    """Return the text of a document of Word 6 or 95, and the lengths of its parts."""
    sizes = [file.number(at) for at in range(0x34, 0x50, 4)]
    start = file.number(0x18)
    data = file.main[start : start + sum(sizes)]
    if pieces:
        data = b"".join(
            file.main[one.place : one.place + max(after.start - one.start, 0)] for one, after in pairwise(pieces)
        )
    text = text_of(data, options.encoding or file.container.codec(), about.note)
    return text, sizes if len(text) == len(data) else [len(text)]


def _instructions(text: str) -> Iterator[tuple[int, int]]:
    """Yield the places of the instructions of fields, whose results are shown."""
    waiting: list[int | None] = []
    for found in _MARKS.finditer(text):
        if found[0] == "\x13":
            waiting.append(found.start())
        elif waiting:
            start = waiting.pop()
            if start is not None:
                yield start, found.end()
            if found[0] == "\x14":
                waiting.append(None)


def _blanked(text: str, ranges: Iterable[tuple[int, int]]) -> str:
    """Return a text with NUL for the letters in these ranges."""
    out: list[str] = []
    at = 0
    for start, stop in sorted(ranges):
        if stop > at:
            out += [text[at:start], "\0" * (min(stop, len(text)) - max(start, at))]
            at = max(stop, at)
    return "".join([*out, text[at:]])


def _besides(parts: Sequence[str], margins: Sequence[int]) -> Iterator[Piece]:
    """Yield footnotes, margins, comments, endnotes and text boxes."""
    outline, shown = Outline(), dict[str, None]()
    for number, text in enumerate(parts, 1):
        if number == 2 and margins:
            for place, (start, stop) in enumerate(pairwise(margins)):
                if place >= _SEPARATORS and (said := " ".join(_clean(text[start:stop]).split())):
                    shown[f"{_MARGINS[place % 6]}: {said}"] = None
        else:
            mark = "Comment: " if number == _COMMENTS else ""
            lines = (_clean(found[0]) for found in _PARAGRAPH.finditer(text))
            shown.update((f"{mark}{line}", None) for line in lines if line)
    for text in shown:
        yield block(outline, text, "note")


def _clean(text: str) -> str:
    return text.rstrip("\r\x07\x0c").replace("\r", "\n").replace("\x07", "\n").translate(_LETTERS).strip()


class _Reading:
    """The reading of the body of a document."""

    def __init__(self, pieces: Sequence[_Piece], formats: Paragraphs) -> None:
        self._pieces, self._formats = pieces, formats
        self._starts = [piece.start for piece in pieces]
        self._outline = Outline()
        self._cell: list[str] = []
        self._cells: list[str] = []
        self._rows: list[list[str]] = []

    def pieces(self, body: str) -> Iterator[Piece]:
        """Yield the paragraphs and tables."""
        for found in _PARAGRAPH.finditer(body):
            text, form = _clean(found[0]), self._format(max(found.end() - 1, 0))
            if found[0].endswith("\x07"):
                yield from self._cell_ended(text, form)
            elif form.in_table:
                self._cell.append(text)
            else:
                yield from self._tabled()
                yield from self._shown(text, form)
        yield from self._tabled()

    def _format(self, at: int) -> Paragraph:
        number = bisect_right(self._starts, at) - 1
        if not self._formats or number < 0:
            return PLAIN
        piece = self._pieces[number]
        return self._formats.at(piece.place + (at - piece.start) * piece.width)

    def _cell_ended(self, text: str, form: Paragraph) -> Iterator[Piece]:
        """End a cell, or a row, which has a mark of its own. Without formats an empty cell is taken for that mark."""
        if form.row_end or not (self._formats or text or self._cell):
            if any(self._cells):
                self._rows.append(self._cells)
            self._cells = []
            if len(self._rows) >= ROWS:
                yield from self._tabled()
            return
        self._cells.append("\n".join(line for line in [*self._cell, text] if line))
        self._cell = []

    def _tabled(self) -> Iterator[Piece]:
        cells = [*self._cells, *(["\n".join(self._cell)] if self._cell else [])]
        rows = [*self._rows, *([cells] if any(cells) else [])]
        self._rows, self._cells, self._cell = [], [], []
        if text := table(rows):
            yield block(self._outline, text.rstrip("\n"), "table")

    def _shown(self, text: str, form: Paragraph) -> Iterator[Piece]:
        if not text:
            return
        if form.level:
            yield heading(self._outline, form.level, text)
        elif form.in_list:
            yield block(self._outline, f"- {text}", "list")
        else:
            yield block(self._outline, text)
