"""Read XLSX: each sheet as a table, the values of formulas as they were last saved, and the comments."""

import datetime
import io
from collections.abc import Iterator, Sequence
from typing import Any

from openpyxl import load_workbook
from openpyxl.utils.exceptions import InvalidFileException

from muisti.core.model.documents import Piece
from muisti.core.model.unreadable import Broken, FileTooLarge
from muisti.core.parsing.blocks import Outline, block, heading, row, rule
from muisti.core.parsing.formats.charts import chart_table, title_of
from muisti.core.parsing.formats.package import Package
from muisti.core.parsing.options import Options
from muisti.core.parsing.parsed import About

BATCH = 1 << 14  # characters of a piece
BLANK_ROWS = 1000  # openpyxl fills gaps with empty rows; so many without a cell end a sheet
WIDE = 1024  # columns that are read: a cell far to the right makes every row as wide


def read(data: bytes | bytearray, options: Options, about: About) -> Iterator[Piece]:
    """Yield the text of a workbook. Raises what `Package` raises, and `FileTooLarge` by its cells."""
    package = Package(data)
    about.images = package.has_images
    about.title = package.title()
    for name in package.names(".xml", ".rels"):
        package.check(name)  # openpyxl's parser would resolve entities
    try:
        book = load_workbook(io.BytesIO(data), read_only=True, data_only=True, keep_links=False)
    except (InvalidFileException, KeyError, ValueError, TypeError, IndexError, AttributeError) as error:
        raise Broken(f"The workbook is damaged: {type(error).__name__}: {error}") from error
    about.pages = len(book.sheetnames)
    cells = 0
    for number, sheet in enumerate(book.worksheets, 1):
        outline = Outline()
        first = True
        for piece, count in _tables(sheet, outline, number):
            cells += count
            if cells > options.max_cells:
                raise FileTooLarge(f"The workbook has more than {options.max_cells:,} cells.")
            if piece is not None:
                if first:
                    yield heading(outline, 1, sheet.title, number)
                    first = False
                yield Piece(text=piece, kind="table", page=number, headings=outline.path)
    yield from _besides(package)


def _tables(sheet: Any, outline: Outline, number: int) -> Iterator[tuple[str | None, int]]:
    """Yield the tables of a sheet as text, in parts, and how many cells were looked at. Blank rows part tables."""
    sheet.reset_dimensions()
    text, begun, blank, looked = "", False, 0, 0
    for values in sheet.iter_rows(values_only=True, max_col=WIDE):
        looked += max(len(values), 1)
        cells = _shown(values)
        blank = 0 if cells else blank + 1
        if blank > BLANK_ROWS:
            break
        if not cells:
            if begun:
                yield text + "\n", looked
                text, begun, looked = "", False, 0
            continue
        text += row(cells) if begun else row(cells) + rule(len(cells))
        begun = True
        if len(text) > BATCH or looked > 100_000:
            yield text, looked
            text, looked = "", 0
    if begun:
        yield text + "\n", looked
    yield None, looked


def _shown(values: Sequence[Any]) -> list[str]:
    """Return the cells of a row as texts, up to the last one that has a value."""
    last = next((at for at in range(len(values) - 1, -1, -1) if values[at] not in (None, "")), -1)
    return [_text(value) for value in values[: last + 1]]


def _text(value: Any) -> str:
    if value is None:
        return ""
    if isinstance(value, float):
        return str(int(value)) if value.is_integer() and abs(value) < 1e15 else f"{value:.15g}"
    if isinstance(value, datetime.datetime):
        midnight = value.time() == datetime.time(0)
        return value.date().isoformat() if midnight else value.isoformat(" ", "seconds")
    if isinstance(value, bool):
        return "TRUE" if value else "FALSE"
    return str(value)


def _besides(package: Package) -> Iterator[Piece]:
    """Yield the charts, and the comments of cells."""
    outline = Outline()
    for name in package.names(".xml"):
        if name.startswith("xl/charts/chart"):
            chart = package.tree(name)
            if title := title_of(chart):
                yield block(outline, title)
            if text := chart_table(chart):
                yield block(outline, text.rstrip("\n"), "table")
        elif name.startswith("xl/comments"):
            for comment in package.tree(name).iter("x-comment"):
                if text := "".join(one.text or "" for one in comment.iter("x-t")).strip():
                    yield block(outline, f"{comment.get('ref', '')}: {text}", "note")
