"""Read XLS, the workbooks of Excel before 2007: cells as they are shown, comments, text boxes, titles of charts."""

import datetime
import struct
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import NamedTuple

from muisti.core.model.unreadable import Broken, Encrypted
from muisti.core.parsing.encodings import codec_of, decode
from muisti.core.parsing.formats.compound import Compound
from muisti.core.parsing.formats.numbers import SINCE_1900, Form, form_of
from muisti.core.parsing.formats.xlsx import SINCE_1904, Cells, column_of, margin, placed, sheet_pieces
from muisti.core.parsing.parsed import About, Options, Outline, block
from muisti.core.parsing.pieces import Piece

_UNICODE = 0x600  # version of the records whose texts are Unicode
_BEGIN, _END, _CONTINUE, _LOCKED, _PICTURES = 0x809, 0x0A, 0x3C, 0x2F, 0xEB
_PAGE, _SINCE, _FORMAT, _STYLE, _SHEET, _STRINGS = 0x42, 0x22, 0x41E, 0xE0, 0x85, 0xFC
_SHARED, _NUMBER, _SHORT, _SHORTS, _FORMULA, _RESULT, _TRUTH = 0xFD, 0x203, 0x27E, 0xBD, 0x06, 0x207, 0x205
_LABELS = (0x204, 0xD6)
_OBJECT, _BOX, _NOTE, _CHART_TEXT = 0x5D, 0x1B6, 0x1C, 0x100D
_MARGINS = {0x14: "Header", 0x15: "Footer"}
_ERRORS = {0: "#NULL!", 7: "#DIV/0!", 15: "#VALUE!", 23: "#REF!", 29: "#NAME?", 36: "#NUM!", 42: "#N/A"}
_NAMED = 20  # sheets that a note lists


class _Record(NamedTuple):
    """A record and what continues it."""

    kind: int
    parts: list[bytes]

    def number(self, at: int, form: str = "H") -> int:
        """Return a number of the first part; 0 behind its end."""
        data = self.parts[0]
        found: int = struct.unpack_from(f"<{form}", data, at)[0] if at + struct.calcsize(form) <= len(data) else 0
        return found


class _Sheet(NamedTuple):
    name: str
    start: int  # place in the stream
    hidden: bool


def read(data: bytes | bytearray, options: Options, about: About) -> Iterator[Piece]:
    """Yield the text of a workbook. Raises `Broken`, `Encrypted`, and `FileTooLarge` by its cells."""
    container = Compound(data, about.note)
    stream = container.stream("workbook") or container.stream("book")
    book = _Book()
    for record in _records(stream, 0):
        book.take(record)
        about.images = about.images or record.kind == _PICTURES
    book.shown = [form_of(number, book.formats.get(number)) for number in book.styles]
    if not book.sheets:
        raise Broken("The list of the workbook's sheets is damaged.")
    about.pages = len(book.sheets)
    if hidden := [sheet.name for sheet in book.sheets if sheet.hidden]:
        about.note(f"Sheets that are hidden were read: {', '.join(hidden[:_NAMED])}.")
    if embedded := sum(path.startswith("mbd") and "/" not in path for path in container.paths):
        about.note(f"Objects embedded in the document were not read: {embedded}.")
    cells = Cells(options.max_cells)
    for number, sheet in enumerate(book.sheets, 1):
        reading = _Reading(book, cells)
        for record in _records(stream, sheet.start):
            reading.take(record)
        if not reading.whole:
            about.note(f"The sheet {sheet.name} is damaged; what is behind the damage was not read.")
        yield from sheet_pieces(sheet.name, number, reading.rows(), reading.besides())


def _records(stream: bytes, at: int) -> Iterator[_Record]:
    """Yield the records from a place up to the end of what begins there, with those of what is inside it."""
    depth, record = 0, None
    while at + 4 <= len(stream):
        kind, size = struct.unpack_from("<HH", stream, at)
        body = stream[at + 4 : at + 4 + size]
        at += 4 + size
        if record is not None:
            if kind == _CONTINUE:
                record.parts.append(body)
                continue
            yield record
        elif kind != _BEGIN:
            return
        record = _Record(kind, [body])
        depth += (kind == _BEGIN) - (kind == _END)
        if not depth:
            break
    if record is not None:
        yield record


@dataclass(slots=True)
class _Book:
    """Parts of a workbook that cells refer to, and its sheets."""

    version: int = _UNICODE
    codec: str = "cp1252"
    epoch: datetime.datetime = SINCE_1900
    formats: dict[int, str] = field(default_factory=dict[int, str])
    styles: list[int] = field(default_factory=list[int])  # the format of each
    shown: list[Form] = field(default_factory=list[Form])
    strings: list[str] = field(default_factory=list[str])
    sheets: list[_Sheet] = field(default_factory=list[_Sheet])

    def take(self, record: _Record) -> None:
        """Keep what a record of the workbook says."""
        match record.kind:
            case 0x809:
                self.version = record.number(0)
            case 0x2F:
                raise Encrypted("The office file is encrypted; it needs a password.")
            case 0x42:
                self.codec = codec_of(f"cp{record.number(0)}") or self.codec
            case 0x22:
                self.epoch = SINCE_1904 if record.number(0) else SINCE_1900
            case 0x41E:
                self.formats[record.number(0)] = self.text(record, 2, 2 if self.version >= _UNICODE else 1)
            case 0xE0:
                self.styles.append(record.number(2))
            case 0x85:
                self.sheets.append(_Sheet(self.text(record, 6, 1), record.number(0, "I"), bool(record.number(4, "B"))))
            case 0xFC:
                self.strings += _Texts(record.parts, 8).all(record.number(4, "I"))
            case _:
                pass

    def text(self, record: _Record, at: int, width: int = 2) -> str:
        """Return a text that begins with its length, which has so many bytes."""
        length = record.number(at, "H" if width == 2 else "B")
        if self.version >= _UNICODE:
            return _Texts(record.parts, at + width).text(length)
        return decode(record.parts[0][at + width : at + width + length], self.codec)

    def number(self, number: float, style: int) -> str:
        """Return a number as its style shows it."""
        return (self.shown[style] if style < len(self.shown) else Form()).shown(number, self.epoch)


class _Texts:
    """Texts of Unicode in the parts of a record. Where one goes on in the next part, its width is stated again."""

    def __init__(self, parts: list[bytes], at: int) -> None:
        self._parts, self._part, self._at = parts, 0, at

    def all(self, count: int) -> Iterator[str]:
        """Yield texts with their lengths, at most so many."""
        for _ in range(count):
            if len(length := self._take(2)) < 2:
                return
            yield self.text(int.from_bytes(length, "little"))

    def text(self, length: int) -> str:
        """Return a text of so many characters, without its fonts and reading aids."""
        flags = int.from_bytes(self._take(1))
        runs = int.from_bytes(self._take(2), "little") if flags & 8 else 0
        aids = int.from_bytes(self._take(4), "little") if flags & 4 else 0
        text = self.characters(length, flags)
        self._take(4 * runs + aids)
        return text

    def characters(self, length: int, flags: int) -> str:
        """Return characters, of one or two bytes each as the flags say."""
        out: list[str] = []
        while length:
            width, part = 1 + (flags & 1), self._parts[self._part]
            data = part[self._at : self._at + length * width]
            out.append(data.decode("utf-16-le" if width == 2 else "latin-1", "replace"))
            self._at += len(data)
            length -= len(data) // width
            if length and not self._next():
                break
            flags = int.from_bytes(self._take(1)) if length else flags
        return "".join(out)

    def _take(self, size: int) -> bytes:
        out = b""
        while size > len(out):
            if self._at >= len(self._parts[self._part]) and not self._next():
                break
            data = self._parts[self._part][self._at : self._at + size - len(out)]
            self._at += len(data)
            out += data
        return out

    def _next(self) -> bool:
        if self._part + 1 >= len(self._parts):
            self._part = len(self._parts) - 1
            return False
        self._part, self._at = self._part + 1, 0
        return True


class _Reading:
    """The reading of a sheet."""

    def __init__(self, book: _Book, cells: Cells) -> None:
        self._book, self._cells = book, cells
        self.whole = False  # whether its end was read
        self._depth = 0
        self._rows: defaultdict[int, dict[int, str]] = defaultdict(dict)
        self._awaited: tuple[int, int] | None = None  # the cell of a formula whose text comes in a record of its own
        self._object = 0
        self._boxes: dict[int, str] = {}  # texts of objects
        self._notes: dict[int, tuple[int, int]] = {}  # cells of comments, by object
        self._lines: dict[str, None] = {}

    def rows(self) -> Iterator[list[str]]:
        """Yield the rows with cells, and an empty one where rows are missing."""
        expected = 0
        for number in sorted(self._rows):
            cells = placed((column + 1, text) for column, text in sorted(self._rows[number].items()))
            if cells and number > expected:
                yield []
            if cells:
                yield cells
                expected = number + 1

    def besides(self) -> Iterator[Piece]:
        """Yield margins, texts of charts and boxes, then comments."""
        outline = Outline()
        for text in [*self._lines, *(text for key, text in self._boxes.items() if key not in self._notes)]:
            if text.strip():
                yield block(outline, text, "note")
        for key, (row, column) in self._notes.items():
            if text := self._boxes.get(key, "").strip():
                yield block(outline, f"{column_of(column + 1)}{row + 1}: {text}", "note")

    def take(self, record: _Record) -> None:
        """Keep what a record of the sheet says."""
        kind = record.kind
        self._depth += (kind == _BEGIN) - (kind == _END)
        self.whole = kind == _END and not self._depth
        if kind == _CHART_TEXT:
            self._lines[self._book.text(record, 2, 1)] = None
        elif kind in _MARGINS and len(record.parts[0]) > 1:
            text = self._book.text(record, 0, 2 if self._book.version >= _UNICODE else 1)
            self._lines[margin(_MARGINS[kind], text)] = None
        elif kind in (_OBJECT, _BOX, _NOTE):
            self._drawn(record)
        elif self._depth == 1:
            self._cell(record)

    def _drawn(self, record: _Record) -> None:
        if record.kind == _OBJECT:
            self._object = record.number(6)
        elif record.kind == _BOX and len(record.parts) > 1:
            length, flags = record.number(10), int.from_bytes(record.parts[1][:1])
            self._boxes[self._object] = _Texts(record.parts[1:], 1).characters(length, flags).replace("\r", "\n")
        elif record.kind == _NOTE and self._book.version >= _UNICODE:
            self._notes[record.number(6)] = record.number(0), record.number(2)
        elif record.kind == _NOTE:
            text = decode(record.parts[0][6 : 6 + record.number(4)], self._book.codec)
            self._lines[f"{column_of(record.number(2) + 1)}{record.number(0) + 1}: {text}"] = None

    def _cell(self, record: _Record) -> None:
        row, column, style = record.number(0), record.number(2), record.number(4)
        match record.kind:
            case 0xFD:
                number = record.number(6, "I")
                self._set(row, column, self._book.strings[number] if number < len(self._book.strings) else "")
            case 0x204 | 0xD6:
                self._set(row, column, self._book.text(record, 6))
            case 0x203:
                self._set(row, column, self._book.number(_double(record.parts[0][6:14]), style))
            case 0x27E:
                self._set(row, column, self._book.number(_short(record.number(6, "I")), style))
            case 0xBD:
                for at in range(4, len(record.parts[0]) - 6, 6):
                    number = self._book.number(_short(record.number(at + 2, "I")), record.number(at))
                    self._set(row, column + at // 6, number)
            case 0x06:
                self._formula(record, row, column, style)
            case 0x207 if self._awaited is not None:
                self._set(*self._awaited, self._book.text(record, 0))
                self._awaited = None
            case 0x205:
                self._set(row, column, _truth(record.number(6, "B"), record.number(7, "B")))
            case _:
                pass

    def _formula(self, record: _Record, row: int, column: int, style: int) -> None:
        result = record.parts[0][6:14]
        if result[6:] != b"\xff\xff":
            self._set(row, column, self._book.number(_double(result), style))
        elif result[0] == 0:
            self._awaited = row, column
        elif result[0] in (1, 2):
            self._set(row, column, _truth(result[2], result[0] - 1))

    def _set(self, row: int, column: int, text: str) -> None:
        self._cells.add(1)
        if text := text.strip():
            self._rows[row][column] = text


def _double(data: bytes) -> float:
    if len(data) < 8:
        raise Broken("A cell of the workbook is damaged.")
    found: float = struct.unpack("<d", data)[0]
    return found


def _short(value: int) -> float:
    """Return a number in the short form of 30 bits, a whole one or the start of a fraction, maybe in hundredths.

    >>> _short(0x3FF00000), _short(0x1FC2A), _short(0x1FC2B)
    (1.0, 32522.0, 325.22)
    """
    whole = (value >> 2) - (1 << 30) * (value >> 31)
    number = float(whole) if value & 2 else _double(bytes(4) + (value & 0xFFFFFFFC).to_bytes(4, "little"))
    return number / 100 if value & 1 else number


def _truth(value: int, is_error: int) -> str:
    return _ERRORS.get(value, "#ERR!") if is_error else str(bool(value)).upper()
