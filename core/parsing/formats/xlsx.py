"""Read XLSX: each sheet as tables, with the values of formulas as they were last saved, charts and comments.

Rows are read as a stream. Only cells that the file lists cost anything, so one in the last corner of a sheet is cheap.
"""

import datetime
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from muisti.core.model.unreadable import FileTooLarge
from muisti.core.parsing.formats.numbers import SINCE_1900, Form, form_of, plain
from muisti.core.parsing.formats.package import Element, Package, attribute, chart_pieces, described, drawn_lines
from muisti.core.parsing.parsed import About, Options, Outline, block, heading, raised, row, rule
from muisti.core.parsing.pieces import Piece

BATCH = 1 << 14  # characters of a piece
GAP = 20  # empty cells in a row that are kept; a longer gap is cut to this length
_MARGIN_CODE = re.compile(r'&(?:"[^"]{0,255}+"|\[[^\]]{0,30}+\]|\d+|K[\w+-]{6,8}|.)')
_COLUMN = re.compile(r"([A-Z]{1,3})")
SINCE_1904 = datetime.datetime.fromisoformat("1904-01-01")


@dataclass(frozen=True, slots=True)
class Book:
    """Parts of a workbook that cells refer to: shared strings, formats, and the day of the number 0."""

    strings: Sequence[str]
    formats: Sequence[Form]
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
    if hidden := [one.get("name", "") for one in workbook.iter("x-sheet") if one.get("state", "visible") != "visible"]:
        about.note(f"Sheets that are hidden were read: {', '.join(hidden[:20])}.")
    for number, (name, relation) in enumerate(sheets, 1):
        kind, part = relations.get(relation, ("", ""))
        if part in package and package.first(part):
            margins: dict[str, None] = {}
            rows = _rows(package, part, book, cells, margins) if kind == "worksheet" else iter(())
            yield from sheet_pieces(name, number, rows, _besides(package, part, margins))
    package.note_embedded(about)
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
        named = {key: value for key, value in sheet.attrib.items() if key in ("name", "state") or key.endswith("}id")}
        sheet.attrib.clear()
        sheet.attrib.update(named)
        yield sheet


def _book(package: Package, main: str, workbook: Element) -> Book:
    strings: list[str] = []
    for part in package.related(main, "sharedStrings"):
        strings += [_rich(one) for one in package.children(part, "x-sst") if one.tag == "x-si"]
    shown: list[Form] = []
    for part in package.related(main, "styles"):
        styles = package.tree(part)
        own = {one.get("numFmtId"): one.get("formatCode", "") for one in styles.iter("x-numFmt")}
        formats = styles.find("x-cellXfs")
        shown.extend(_form(one.get("numFmtId", "0"), own) for one in (formats if formats is not None else ()))
    properties = workbook.find("x-workbookPr")
    since_1904 = properties is not None and properties.get("date1904") in ("1", "true")
    return Book(strings, shown, SINCE_1904 if since_1904 else SINCE_1900)


def _form(number: str, own: dict[str | None, str]) -> Form:
    return form_of(int(number) if number.isdecimal() and len(number) < 10 else 0, own.get(number))


def _rich(element: Element) -> str:
    """Return a text of runs, without the reading aids of Japanese."""
    parts = [one.text or "" for one in element.iterfind("x-t")]
    for run in element.iterfind("x-r"):
        text, shift = run.findtext("x-t") or "", run.find("x-rPr/x-vertAlign")
        kind = None if shift is None else shift.get("val")
        parts.append(raised(text, down=kind == "subscript") if kind in ("superscript", "subscript") else text)
    return "".join(parts)


def _rows(package: Package, part: str, book: Book, cells: Cells, margins: dict[str, None]) -> Iterator[list[str]]:
    """Yield the rows of a sheet that have cells, and an empty row where rows are missing; then add its margins."""
    expected = 1
    for element in package.children(part, "x-sheetData", "x-headerFooter"):
        if element.tag != "x-row":
            if text := margin(element.tag[-6:], element.text or ""):
                margins[text] = None
            continue
        number = element.get("r", "")
        at = int(number) if number.isdecimal() and len(number) < 8 else expected
        cells.add(len(element))
        shown = _cells(element, book)
        if at > expected or not shown:
            yield []
        if shown:
            yield shown
        expected = at + 1


def margin(kind: str, text: str) -> str:
    """Return the text of a header or a footer without its codes, after what it is; empty where it has none.

    >>> margin("Header", '&L&"Arial,Bold"Tea && cake &P'), margin("Footer", "&P")
    ('Header: Tea & cake', '')
    """
    shown = " ".join(_MARGIN_CODE.sub(_in_margin, text).split())
    return f"{kind}: {shown}" if shown else ""


def _in_margin(code: re.Match[str]) -> str:
    return "&" if code[0] == "&&" else " "


def _cells(element: Element, book: Book) -> list[str]:
    return placed(_texts(element, book))


def _texts(element: Element, book: Book) -> Iterator[tuple[int, str]]:
    """Yield the cells of a row that have text, with the numbers of their columns."""
    column = 0
    for cell in element:
        place = _COLUMN.match(cell.get("r", ""))
        at = _number(place[1]) if place else column + 1
        if text := _value(cell, book):
            yield at, text
            column = at


def placed(cells: Iterable[tuple[int, str]]) -> list[str]:
    """Return a row of cells by their columns, from 1, with empty ones between them.

    >>> placed([(1, "a"), (3, "b")])
    ['a', '', 'b']
    """
    out: list[str] = []
    column = 0
    for at, text in cells:
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
    if not raw and (formula := cell.findtext("x-f")):  # which the writer has not calculated
        return f"={formula.strip()}"
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
    known = style.isdecimal() and int(style) < len(book.formats)
    return book.formats[int(style)].shown(number, book.epoch) if known else plain(number)


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


def _besides(package: Package, sheet: str, margins: Iterable[str]) -> Iterator[Piece]:
    outline = Outline()
    for text in margins:
        yield block(outline, text, "note")
    for drawing in package.related(sheet, "drawing"):
        root = package.tree(drawing)
        for text in [*drawn_lines(root), *filter(None, map(described, root.iter("cNvPr")))]:
            yield block(outline, text)
        for part in package.related(drawing, "diagramData"):
            if text := "\n".join(drawn_lines(package.tree(part))):
                yield block(outline, text)
        for part in package.related(drawing, "chart"):
            yield from chart_pieces(package, part, outline)
    for part in package.related(sheet, "comments"):
        for comment in package.tree(part).iter("x-comment"):
            if text := "".join(one.text or "" for one in comment.iter("x-t")).strip():
                yield block(outline, f"{comment.get('ref', '')}: {text}", "note")
