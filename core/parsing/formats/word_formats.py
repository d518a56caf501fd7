"""Formats of paragraphs and letters in DOC files, by their places in the file, and the levels of styles."""

import struct
from bisect import bisect_right
from collections.abc import Iterator, Mapping
from typing import NamedTuple

PAGE = 512  # bytes of a page of formats
HEADINGS = range(1, 10)  # numbers of built-in styles
BASES = 10  # styles that a style is based on, one on the other, at most
_IN_TABLE, _ROW_END, _LIST, _DELETED = 0x2416, 0x2417, 0x460B, 0x0800
_OPERANDS = (1, 1, 2, 4, 2, 2, 0, 3)  # bytes after a format, by its highest bits; 0 where they state it
_LONG = frozenset({0xD606, 0xD608})  # formats whose operands state their length in two bytes


class Paragraph(NamedTuple):
    """Format of a paragraph. `level` is that of a heading, 0 for others."""

    level: int = 0
    in_table: bool = False
    row_end: bool = False
    in_list: bool = False


PLAIN = Paragraph()


class Paragraphs:
    """Formats of paragraphs by their places."""

    def __init__(self, main: bytes, places: bytes, levels: Mapping[int, int]) -> None:
        self._starts: list[int] = []
        self._formats: list[Paragraph] = []
        for page in _pages(main, places):
            count = min(page[PAGE - 1], (PAGE - 5) // 17)
            for number in range(count):
                (start,) = struct.unpack_from("<I", page, 4 * number)
                self._starts.append(start)
                self._formats.append(_paragraph(page, 2 * page[4 * (count + 1) + 13 * number], levels))

    def __bool__(self) -> bool:
        return bool(self._starts)

    def at(self, place: int) -> Paragraph:
        """Return the format of the paragraph at a place."""
        found = bisect_right(self._starts, place) - 1
        return self._formats[found] if found >= 0 else PLAIN


def deleted(main: bytes, places: bytes) -> Iterator[tuple[int, int]]:
    """Yield the places of text that is marked as deleted, each from and to."""
    for page in _pages(main, places):
        count = min(page[PAGE - 1], (PAGE - 5) // 5)
        for number in range(count):
            at = 2 * page[4 * (count + 1) + number]
            if at and _formats(page[at + 1 : at + 1 + page[at]]).get(_DELETED):
                start, stop = struct.unpack_from("<II", page, 4 * number)
                yield start, stop


def levels_of(sheet: bytes) -> Mapping[int, int]:
    """Return the levels of headings by the number of their style, of a sheet of styles."""
    if len(sheet) < 4:
        return {}
    size, count = struct.unpack_from("<HH", sheet)
    at, found, bases = 2 + size, dict[int, int](), dict[int, int]()
    for number in range(count):
        if at + 8 > len(sheet):
            break
        length, built_in, base = struct.unpack_from("<HHH", sheet, at)
        if length:
            found[number] = built_in & 0xFFF
            bases[number] = base >> 4
        at += 2 + length
    return {number: level for number in found if (level := _level(number, found, bases))}


def _level(number: int, built_in: Mapping[int, int], bases: Mapping[int, int]) -> int:
    for _ in range(BASES):
        if built_in.get(number, 0) in HEADINGS:
            return built_in[number]
        number = bases.get(number, 0xFFF)
    return 0


def _pages(main: bytes, places: bytes) -> Iterator[bytes]:
    """Yield the pages of formats, each once, of a list of their places."""
    count = max(len(places) - 4, 0) // 8
    seen = set[int]()
    for (number,) in struct.iter_unpack("<I", places[4 * (count + 1) : 4 * (2 * count + 1)]):
        start = (number & 0x3FFFFF) * PAGE
        page = main[start : start + PAGE]
        if len(page) == PAGE and start not in seen:
            seen.add(start)
            yield page


def _paragraph(page: bytes, at: int, levels: Mapping[int, int]) -> Paragraph:
    if not at or at + 4 > PAGE:
        return PLAIN
    size, start = (2 * page[at] - 1, at + 1) if page[at] else (2 * page[at + 1], at + 2)
    (style,) = struct.unpack_from("<H", page, start) if start + 2 <= PAGE else (0,)
    found = _formats(page[start + 2 : start + size])
    return Paragraph(
        levels.get(style, 0), bool(found.get(_IN_TABLE)), bool(found.get(_ROW_END)), bool(found.get(_LIST))
    )


def _formats(data: bytes) -> Mapping[int, int]:
    """Return the first byte of the operand of each format."""
    found: dict[int, int] = {}
    at = 0
    while at + 2 < len(data):
        (kind,) = struct.unpack_from("<H", data, at)
        at += 2
        found[kind] = data[at]
        if kind in _LONG and at + 2 <= len(data):
            at += struct.unpack_from("<H", data, at)[0] + 1
        else:
            at += _OPERANDS[kind >> 13] or data[at] + 1
    return found
