"""Read ODS: each sheet as tables, with values as they are shown, then its boxes, charts and comments."""

from collections.abc import Iterator

from muisti.core.parsing.formats.opendocument import CONTENT, Blocks, opened
from muisti.core.parsing.formats.package import Element, attribute
from muisti.core.parsing.formats.xlsx import GAP, Cells, column_of, sheet_pieces
from muisti.core.parsing.parsed import About, Options, Outline, block
from muisti.core.parsing.pieces import Piece

REPEATED = 100  # times that a row or a cell with text is given at most
_CELLS = ("table-table-cell", "table-covered-table-cell")
_VALUES = ("string-value", "date-value", "time-value", "boolean-value", "value")


def read(data: bytes | bytearray, options: Options, about: About) -> Iterator[Piece]:
    """Yield the text of a spreadsheet. Raises what `opendocument.read` raises, and `FileTooLarge` by its cells."""
    source, styles = opened(data, about)
    cells = Cells(options.max_cells)
    about.pages = 0
    hidden: list[str] = []
    for element in source.children(CONTENT, "office-spreadsheet"):
        if element.tag == "table-table":
            about.pages += 1
            name = attribute(element, "name") or ""
            if attribute(element, "style-name") in styles.hidden:
                hidden.append(name)
            sheet = _Sheet(Blocks(source, styles, about, about.pages), cells, about)
            yield from sheet_pieces(name, about.pages, sheet.rows(element), sheet.besides(element))
    if hidden:
        about.notes.append(f"Sheets that are hidden were read: {', '.join(hidden[:20])}.")


class _Sheet:
    def __init__(self, blocks: Blocks, cells: Cells, about: About) -> None:
        self._blocks, self._cells, self._about = blocks, cells, about
        self._row = 0
        self._comments: list[tuple[str, Element]] = []

    def rows(self, element: Element) -> Iterator[list[str]]:
        """Yield the rows, and an empty one where some are empty."""
        for child in element:
            if child.tag == "table-table-row":
                times = _times(child, "number-rows-repeated")
                shown = self._shown(child)
                for _ in range(self._bounded(times, "row") if shown else 1):
                    self._cells.add(len(shown))
                    yield shown
                self._row += times
            elif child.tag in ("table-table-rows", "table-table-header-rows", "table-table-row-group"):
                yield from self.rows(child)

    def _shown(self, row: Element) -> list[str]:
        out: list[str] = []
        column = kept = 0
        for cell in row:
            if cell.tag not in _CELLS:
                continue
            times = _times(cell, "number-columns-repeated")
            if text := self._blocks.joined(cell) or _value(cell):
                out += [""] * min(column - kept, GAP)
                shown = self._bounded(times, "cell")
                self._cells.add(shown)
                out += [text] * shown
                kept = column + times
            for note in cell.iterfind("office-annotation"):
                self._comments.append((f"{column_of(column + 1)}{self._row + 1}", note))
            column += times
        return out

    def _bounded(self, times: int, what: str) -> int:
        if times > REPEATED:
            self._about.notes.append(f"A {what} that is repeated {times:,} times was read {REPEATED} times.")
        return min(times, REPEATED)

    def besides(self, element: Element) -> Iterator[Piece]:
        """Yield the boxes and charts of the sheet and of its cells, then the comments."""
        for shapes in element.iterfind("table-shapes"):
            yield from self._blocks.block(shapes)
        for one in element.iter("draw-object"):
            yield from self._blocks.block(one)
        yield from self._blocks.notes()
        for place, note in self._comments:
            if text := self._blocks.joined(note):
                yield block(Outline(), f"{place}: {text}", "note")


def _times(element: Element, name: str) -> int:
    stated = attribute(element, name) or "1"
    return min(int(stated), 1 << 24) if stated.isdecimal() and len(stated) < 10 else 1


def _value(cell: Element) -> str:
    """Return the value of a cell whose writer left out how it is shown."""
    return next((found for name in _VALUES if (found := attribute(cell, name))), "")
