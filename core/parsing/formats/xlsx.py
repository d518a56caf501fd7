"""Read XLSX: each sheet as tables, with the values of formulas as they were last saved, charts and comments.

Rows are read as a stream. Only cells that the file lists cost anything, so one in the last corner of a sheet is cheap.
"""

import datetime
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from muisti.core.model.documents import Piece
from muisti.core.model.unreadable import FileTooLarge
from muisti.core.parsing.formats.package import Element, Package, attribute, chart_pieces
from muisti.core.parsing.parsed import About, Options, Outline, block, heading, row, rule

BATCH = 1 << 14  # characters of a piece
GAP = 20  # empty cells in a row that are kept; a longer gap is cut to this length
_COLUMN = re.compile(r"([A-Z]{1,3})")
_DATES = frozenset([*range(14, 23), *range(27, 37), *range(45, 48), *range(50, 59)])  # built-in formats of dates
_ELAPSED_BUILT_IN = 46
_ELAPSED = re.compile(r"\[[hms]+\]", re.IGNORECASE)
_TEXT = re.compile(r'"[^"]*"')
_QUOTED = re.compile(r'"[^"]*"|\[[^\[\]]*\]|\\.')
_DATE = re.compile(r"[dmyhs]", re.IGNORECASE)
_SINCE_1900 = datetime.datetime.fromisoformat("1899-12-30")  # a workbook knows no time zone
_SINCE_1904 = datetime.datetime.fromisoformat("1904-01-01")
_LAST_DAY = 2_958_466  # the number of the day after 9999-12-31


Shown = Literal["number", "date", "elapsed"]
"""Form in which a format shows a number. `elapsed` is a duration in hours, such as `[h]:mm`."""


@dataclass(frozen=True, slots=True)
class Book:
    """Parts of a workbook that cells refer to: shared strings, what its formats show, and the day of the number 0."""

    strings: Sequence[str]
    formats: Sequence[Shown]
    epoch: datetime.datetime


def read(data: bytes | bytearray, options: Options, about: About) -> Iterator[Piece]:
    """Yield the text of a workbook. Raises what `Package` raises, and `FileTooLarge` by its cells."""
    package = Package(data)
    about.images = package.has_images
    about.title = package.title()
    main = package.main("xl/workbook.xml")
    workbook = package.tree(main)
    sheets = [(one.get("name", ""), attribute(one, "id") or "") for one in _sheets(workbook)]
    about.pages = len(sheets)
    book = _book(package, main, workbook)
    relations = package.relations(main)
    cells = Cells(options.max_cells)
    for number, (name, relation) in enumerate(sheets, 1):
        kind, part = relations.get(relation, ("", ""))
        if part in package and package.first(part):
            rows = _rows(package, part, book, cells) if kind == "worksheet" else iter(())
            yield from sheet_pieces(name, number, rows, _besides(package, part))
    package.note_repeats(about)


class Cells:
    """A count of cells, which raises `FileTooLarge` above its limit."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._count = 0

    def add(self, count: int) -> None:
        """Count cells."""
        self._count += count
        if self._count > self._most:
            raise FileTooLarge(f"The workbook has more than {self._most:,} cells.")


def _sheets(workbook: Element) -> Iterator[Element]:
    for sheet in workbook.iter("x-sheet"):
        named = {key: value for key, value in sheet.attrib.items() if key == "name" or key.endswith("}id")}
        sheet.attrib.clear()
        sheet.attrib.update(named)
        yield sheet


def _book(package: Package, main: str, workbook: Element) -> Book:
    strings: list[str] = []
    for part in package.related(main, "sharedStrings"):
        strings += [_rich(one) for one in package.children(part, "x-sst") if one.tag == "x-si"]
    shown: list[Shown] = []
    for part in package.related(main, "styles"):
        styles = package.tree(part)
        own = {one.get("numFmtId"): one.get("formatCode", "") for one in styles.iter("x-numFmt")}
        formats = styles.find("x-cellXfs")
        shown.extend(_shown(one.get("numFmtId", "0"), own) for one in (formats if formats is not None else ()))
    properties = workbook.find("x-workbookPr")
    since_1904 = properties is not None and properties.get("date1904") in ("1", "true")
    return Book(strings, shown, _SINCE_1904 if since_1904 else _SINCE_1900)


def _shown(number: str, own: dict[str | None, str]) -> Shown:
    if number in own:
        plain = _TEXT.sub("", own[number])
        return "elapsed" if _ELAPSED.search(plain) else "date" if _DATE.search(_QUOTED.sub("", plain)) else "number"
    if not number.isdecimal() or int(number) not in _DATES:
        return "number"
    return "elapsed" if int(number) == _ELAPSED_BUILT_IN else "date"


def _rich(element: Element) -> str:
    """Return a text of runs, without the reading aids of Japanese."""
    parts = [one.text or "" for one in element.iterfind("x-t")]
    parts += [one.text or "" for one in element.iterfind("x-r/x-t")]
    return "".join(parts)


def _rows(package: Package, part: str, book: Book, cells: Cells) -> Iterator[list[str]]:
    """Yield the rows of a sheet that have cells, and an empty row where rows are missing."""
    expected = 1
    for element in package.children(part, "x-sheetData"):
        number = element.get("r", "")
        at = int(number) if number.isdecimal() and len(number) < 8 else expected
        cells.add(len(element))
        shown = _cells(element, book)
        if at > expected or not shown:
            yield []
        if shown:
            yield shown
        expected = at + 1


def _cells(element: Element, book: Book) -> list[str]:
    out: list[str] = []
    column = 0
    for cell in element:
        place = _COLUMN.match(cell.get("r", ""))
        at = _number(place[1]) if place else column + 1
        text = _value(cell, book)
        if text:
            out += [""] * min(at - column - 1, GAP)
            out.append(text)
            column = at
    return out


def _number(column: str) -> int:
    """Return the number of a column, from 1.

    >>> _number("A"), _number("AB"), _number("XFD")
    (1, 28, 16384)
    """
    found = 0
    for letter in column:
        found = 26 * found + ord(letter) - 64
    return found


def column_of(number: int) -> str:
    """Return the letters of a column, from 1.

    >>> column_of(1), column_of(28), column_of(16384)
    ('A', 'AB', 'XFD')
    """
    out = ""
    while number > 0:
        number, letter = divmod(number - 1, 26)
        out = chr(65 + letter) + out
    return out


def _value(cell: Element, book: Book) -> str:
    kind = cell.get("t", "n")
    if kind == "inlineStr":
        inline = cell.find("x-is")
        return _rich(inline).strip() if inline is not None else ""
    found = cell.find("x-v")
    raw = (found.text or "").strip() if found is not None else ""
    if kind == "s":
        return book.strings[int(raw)].strip() if raw.isdecimal() and int(raw) < len(book.strings) else ""
    if kind == "b":
        return "TRUE" if raw == "1" else "FALSE"
    return _numeric(raw, cell.get("s", "0"), book) if kind == "n" and raw else raw


def _numeric(raw: str, style: str, book: Book) -> str:
    try:
        number = float(raw)
    except ValueError:
        return raw
    shown = book.formats[int(style)] if style.isdecimal() and int(style) < len(book.formats) else "number"
    if shown == "elapsed" and abs(number) < _LAST_DAY:
        return _duration(number)
    if shown == "date" and 0 <= number < _LAST_DAY:
        return _date(number, book.epoch)
    return str(int(number)) if number.is_integer() and abs(number) < 1e15 else f"{number:.15g}"


def _duration(days: float) -> str:
    """Return a duration in hours, minutes and seconds.

    >>> _duration(1.2604166666667), _duration(-0.5)
    ('30:15:00', '-12:00:00')
    """
    minutes, seconds = divmod(round(abs(days) * 86_400), 60)
    return f"{'-' if days < 0 else ''}{minutes // 60}:{minutes % 60:02}:{seconds:02}"


def _date(number: float, epoch: datetime.datetime) -> str:
    """Return a day and a time by the days since the epoch; the time alone for less than a day."""
    moment = epoch + datetime.timedelta(seconds=round(number * 86_400))
    if number < 1:
        return moment.time().isoformat()
    return moment.date().isoformat() if number.is_integer() else moment.isoformat(" ")


def sheet_pieces(name: str, number: int, rows: Iterator[list[str]], besides: Iterator[Piece]) -> Iterator[Piece]:
    """Yield a sheet: its name, its tables, which empty rows part, then its charts and comments. Nothing when empty."""
    outline = Outline()
    named = False
    for piece in _pieces(outline, rows, besides, number):
        if not named:
            named = True
            yield heading(outline, 1, name, number)
        yield Piece(text=piece.text, kind=piece.kind, page=number, headings=outline.path)


def _pieces(outline: Outline, rows: Iterator[list[str]], besides: Iterator[Piece], number: int) -> Iterator[Piece]:
    text, begun = "", False
    for cells in rows:
        if not cells:
            text += "\n" if begun else ""
            begun = False
        else:
            text += row(cells) if begun else row(cells) + rule(len(cells))
            begun = True
        if len(text) > BATCH:
            yield Piece(text=text, kind="table")
            text = ""
    if text:
        yield Piece(text=text.rstrip("\n") + "\n\n", kind="table")
    yield from besides


def _besides(package: Package, sheet: str) -> Iterator[Piece]:
    outline = Outline()
    for drawing in package.related(sheet, "drawing"):
        for part in package.related(drawing, "chart"):
            yield from chart_pieces(package, part, outline)
    for part in package.related(sheet, "comments"):
        for comment in package.tree(part).iter("x-comment"):
            if text := "".join(one.text or "" for one in comment.iter("x-t")).strip():
                yield block(outline, f"{comment.get('ref', '')}: {text}", "note")
