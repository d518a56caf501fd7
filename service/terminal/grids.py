"""Tables that fit a narrow terminal: nothing is cut, ids stay whole, too many columns go below each other."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from rich.console import Console, ConsoleOptions, Group, RenderableType, RenderResult
from rich.measure import Measurement
from rich.table import Column, Table
from rich.text import Text

TEXT_MIN = 16  # columns that a text keeps, if it is as long
WORD_MIN = 12  # columns that a word keeps which is no id
BESIDE = 2  # columns between a name and its value
BETWEEN = 3  # columns between two values: padding and divider
_ID = re.compile(r"…?[0-9a-f]{6,}(-[0-9a-f]+)*")  # also a short one, behind an ellipsis


@dataclass(frozen=True, slots=True)
class _Size:
    """Widths of a column: what it takes on one line, what it needs at least, and whether it must stay whole."""

    most: int
    least: int


class Grid(Table):
    """A table that shows every value whole, also where the terminal is narrower than its columns."""

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        room = options.max_width
        if _width([size.most for size in self._sizes(console, options, self.columns)]) <= room:
            yield from super().__rich_console__(console, options)
            return
        kept = [column for column in self.columns if any(map(_is_shown, column.cells))]
        sizes = self._sizes(console, options, kept)
        if _width([size.least for size in sizes]) <= room:
            yield self._narrowed(kept, _shares(sizes, room))
        else:
            yield self._stacked(kept)

    def _sizes(self, console: Console, options: ConsoleOptions, columns: Sequence[Column]) -> list[_Size]:
        texts = [[_plain(one) for one in column.cells] for column in columns]
        ids = [all(_ID.fullmatch(text) for text in found if text) for found in texts]
        measured: list[_Size] = []
        for number, (column, found) in enumerate(zip(columns, texts, strict=True)):
            sizes = [Measurement.get(console, options, one) for one in (column.header, *column.cells)]
            most, word = max(size.maximum for size in sizes), max(size.minimum for size in sizes)
            is_name = ids[number] or (number == 0 and not any(ids))
            if not any(" " in text for text in found):
                least = most if is_name or column.justify == "right" else min(most, WORD_MIN)
            else:
                least = min(most, max(TEXT_MIN, len(_plain(column.header)))) if word > WORD_MIN else word
            measured.append(_Size(most, least))
        return measured

    def _narrowed(self, columns: Sequence[Column], widths: Sequence[int]) -> Table:
        made = Table(title=self.title, title_justify="left", box=self.box, pad_edge=False)
        for column, width in zip(columns, widths, strict=True):
            made.add_column(column.header, justify=column.justify, width=width, overflow="fold")
        for row in zip(*(column.cells for column in columns), strict=True):
            made.add_row(*row)
        return made

    def _stacked(self, columns: Sequence[Column]) -> RenderableType:
        parts: list[RenderableType] = [] if self.title is None else [self.title]
        for number, row in enumerate(zip(*(column.cells for column in columns), strict=True)):
            parts += [Text()] if number or parts else []
            named = zip((Text(_plain(column.header), "dim") for column in columns), row, strict=True)
            parts.append(Pairs([(name, value) for name, value in named if _is_shown(value)]))
        return Group(*parts)


class Pairs:
    """Names and values in two columns. An id that does not fit beside its name stays whole, on a line of its own."""

    def __init__(self, rows: Sequence[tuple[RenderableType, RenderableType]]) -> None:
        self._rows = rows

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        indent = max((len(_plain(name)) for name, _ in self._rows), default=0) + BESIDE
        pairs = _two_columns(indent)
        for name, value in self._rows:
            word = _plain(value).strip()
            if options.max_width - indent < len(word) <= options.max_width and " " not in word:
                yield from (pairs, name, value)
                pairs = _two_columns(indent)
            else:
                pairs.add_row(name, value)
        yield pairs


def _two_columns(indent: int) -> Table:
    made = Table.grid(padding=(0, BESIDE, 0, 0))
    made.add_column(no_wrap=True, min_width=indent - BESIDE)
    made.add_column(overflow="fold")
    return made


def _width(widths: Sequence[int]) -> int:
    return sum(widths) + BETWEEN * len(widths) - 1


def _shares(sizes: Sequence[_Size], room: int) -> list[int]:
    """Return widths that fill the room: the widest columns are narrowed first, none below what it needs.

    >>> _shares([_Size(9, 9), _Size(40, 16), _Size(20, 12)], 60)
    [9, 23, 20]
    """
    widths = [min(size.most, room) for size in sizes]
    while _width(widths) > room:
        at = max((number for number, size in enumerate(sizes) if widths[number] > size.least), key=widths.__getitem__)
        widths[at] -= 1
    return [max(width, size.least) for width, size in zip(widths, sizes, strict=True)]


def _plain(value: RenderableType) -> str:
    """Return the text of a cell; a cell of several parts counts as text with words."""
    return value.plain if isinstance(value, Text) else value if isinstance(value, str) else "several parts"


def _is_shown(value: RenderableType) -> bool:
    return bool(_plain(value).strip())
