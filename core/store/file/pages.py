"""Reads the pages of a database file without SQLite, which stops at the first bad page.

A page of a tree has cells. A cell of a leaf has a row, which may continue on overflow pages. Anything inconsistent
raises `Damaged`; nothing is guessed.
"""

import struct
from collections.abc import Iterator
from typing import NamedTuple

from muisti.core.store.database import Scalar

INTERIOR_INDEX, INTERIOR_TABLE, LEAF_INDEX, LEAF_TABLE = 2, 5, 10, 13
TREE = (INTERIOR_INDEX, INTERIOR_TABLE, LEAF_INDEX, LEAF_TABLE)
HEADER_BYTES = 100
LOG_HEADER_BYTES = 32
PAGE_BYTES = 4_096  # in every file that Muisti makes
PAYLOAD_MAX = 64 << 20
_WIDTHS = {1: 1, 2: 2, 3: 3, 4: 4, 5: 6, 6: 8}
LOG_MAGIC = (0x377F0682, 0x377F0683)


class Damaged(Exception):
    """A page or a cell is inconsistent."""


class Row(NamedTuple):
    """A row, its rowid (None where a table has none), and the pages that it is on."""

    rowid: int | None
    values: tuple[Scalar, ...]
    pages: tuple[int, ...]


class Log(NamedTuple):
    """Content of a write-ahead log: pages as its commits left them, and the `size` of the database then, in pages.

    `behind` is the number of commits after a damaged frame, which SQLite does not see.
    """

    pages: dict[int, memoryview]
    size: int
    behind: int


def read_log(data: bytes) -> Log:
    """Return the pages of all commits up to the first damaged frame, as SQLite reads the log."""
    view = memoryview(data)
    if len(data) < 32:
        return Log({}, 0, 0)
    magic, _, size, _, salts = *struct.unpack_from(">IIII", data), data[16:24]
    order = ">" if magic & 1 else "<"
    frames = range(32, len(data) - size - 23, size + 24) if 512 <= size <= 65_536 else range(0)
    sums = _log_sum(view[:24], (0, 0), order)
    sound = magic in LOG_MAGIC and sums == struct.unpack_from(">II", data, 24)
    pages, pending, count, held = dict[int, memoryview](), dict[int, memoryview](), 0, 0
    for at in frames if sound else ():
        sums = _frame_sum(view, at, size, sums, order)
        if data[at + 8 : at + 16] != salts or sums != struct.unpack_from(">II", data, at + 16):
            break
        page, after = struct.unpack_from(">II", data, at)
        pending[page] = view[at + 24 : at + 24 + size]
        held += 1
        if after:
            pages |= pending
            pending, count = {}, after
    return Log(pages, count, _behind(view, frames[held:], size, order, salts if sound else None))


def _behind(view: memoryview, frames: range, size: int, order: str, salts: bytes | None) -> int:
    """Count the commits in frames whose checksum continues that of the frame before. `salts` None: damaged header.

    Frames of an older round, from before the log was reset, have other salts and do not count.
    """
    found = 1 if salts is None and frames else 0
    for before, at in zip(frames, frames[1:], strict=False):
        first, second = struct.unpack_from(">II", view, before + 16)
        alike = view[before + 8 : before + 16] == view[at + 8 : at + 16] == (salts or view[at + 8 : at + 16])
        if alike and struct.unpack_from(">I", view, at + 4)[0]:
            sums = _frame_sum(view, at, size, (first, second), order)
            found += sums == struct.unpack_from(">II", view, at + 16)
    return found


def _frame_sum(view: memoryview, at: int, size: int, sums: tuple[int, int], order: str) -> tuple[int, int]:
    return _log_sum(view[at + 24 : at + 24 + size], _log_sum(view[at : at + 8], sums, order), order)


def _log_sum(data: memoryview, sums: tuple[int, int], order: str) -> tuple[int, int]:
    first, second = sums
    words = struct.unpack(f"{order}{len(data) // 4}I", data)
    for even, odd in zip(words[::2], words[1::2], strict=True):
        first = (first + even + second) & 0xFFFFFFFF
        second = (second + odd + first) & 0xFFFFFFFF
    return first, second


class Image:
    """The pages of a file together with its log, numbered from 1."""

    def __init__(self, data: bytes | memoryview, log: Log | None = None) -> None:
        self._data = memoryview(data)
        self._log = log or Log({}, 0, 0)
        sizes = [len(page) for page in self._log.pages.values()]
        self._size = sizes[0] if sizes else _page_size(self._data)
        self._usable = self._size
        self.count = max(len(data) // self._size, self._log.size)

    def page(self, number: int) -> memoryview:
        """Return the bytes of a page; empty after the end of the file."""
        if number in self._log.pages:
            return self._log.pages[number]
        return self._data[(number - 1) * self._size : number * self._size]

    def kind(self, number: int) -> int:
        """Return the type of a page, the first byte of its header; 0 for a page that is missing or cut short."""
        page, at = self.page(number), _head(number)
        return page[at] if len(page) == self._size else 0

    def rows(self, number: int, damage: list[str]) -> Iterator[Row]:
        """Yield the rows of a B-tree page; append to `damage` a line for each row that cannot be read."""
        kind = self.kind(number)
        if kind == INTERIOR_TABLE:
            return
        for at in self._cells(number, kind, damage):
            try:
                yield self._row(number, kind, at)
            except (Damaged, IndexError, UnicodeDecodeError, struct.error, OverflowError):
                damage.append(f"page {number}: a row cannot be read")

    def children(self, number: int, damage: list[str]) -> list[int]:
        """Return the numbers of the child pages."""
        kind = self.kind(number)
        if kind not in (INTERIOR_INDEX, INTERIOR_TABLE):
            return []
        page, head = self.page(number), _head(number)
        last = int.from_bytes(page[head + 8 : head + 12], "big")
        return [*(int.from_bytes(page[at : at + 4], "big") for at in self._cells(number, kind, damage)), last]

    def free(self) -> set[int]:
        """Return the pages on the list of free pages, as far as it can be read."""
        found: set[int] = set()
        trunk = int.from_bytes(self.page(1)[32:36], "big")
        while 1 < trunk <= self.count and trunk not in found and len(page := self.page(trunk)) == self._size:
            found.add(trunk)
            leaves = min(int.from_bytes(page[4:8], "big"), self._usable // 4 - 2)
            found.update(struct.unpack_from(f">{leaves}I", page, 8))
            trunk = int.from_bytes(page[:4], "big")
        return found

    def _cells(self, number: int, kind: int, damage: list[str]) -> list[int]:
        page, head = self.page(number), _head(number)
        count = int.from_bytes(page[head + 3 : head + 5], "big")
        first = head + (12 if kind in (INTERIOR_INDEX, INTERIOR_TABLE) else 8)
        if first + 2 * count > self._usable:
            damage.append(f"page {number}: its cells cannot be {count}")
            return []
        places = struct.unpack_from(f">{count}H", page, first)
        good = [place for place in dict.fromkeys(places) if first + 2 * count <= place <= self._usable - 4]
        if len(good) < count:
            damage.append(f"page {number}: {count - len(good)} of its cells lie outside of it")
        return good

    def _row(self, number: int, kind: int, at: int) -> Row:
        page = self.page(number)
        at += 4 if kind == INTERIOR_INDEX else 0
        size, at = _varint(page, at)
        rowid = None
        if kind == LEAF_TABLE:
            rowid, at = _varint(page, at)
        if not 0 < size <= PAYLOAD_MAX:
            raise Damaged
        payload, pages = self._payload(number, at, size, table=kind == LEAF_TABLE)
        return Row(rowid, _record(payload), pages)

    def _payload(self, number: int, at: int, size: int, *, table: bool) -> tuple[bytes, tuple[int, ...]]:
        """Return the bytes of a row, which may continue on overflow pages, and the numbers of its pages."""
        usable, page = self._usable, self.page(number)
        most = usable - 35 if table else (usable - 12) * 64 // 255 - 23
        if size <= most:
            if at + size > usable:
                raise Damaged
            return bytes(page[at : at + size]), (number,)
        least = (usable - 12) * 32 // 255 - 23
        here = least + (size - least) % (usable - 4)
        here = here if here <= most else least
        if at + here + 4 > usable:
            raise Damaged
        following = int.from_bytes(page[at + here : at + here + 4], "big")
        parts, pages = [bytes(page[at : at + here])], [number]
        for part, place in self._overflow(following, size - here):
            parts.append(part)
            pages.append(place)
        return b"".join(parts), tuple(pages)

    def _overflow(self, number: int, left: int) -> Iterator[tuple[bytes, int]]:
        """Yield the parts of a row on overflow pages, `left` bytes in all, each with its page."""
        seen: set[int] = set()
        while left > 0:
            page = self.page(number) if 1 < number <= self.count and number not in seen else b""
            if len(page) < self._size:
                raise Damaged
            seen.add(number)
            part = bytes(page[4 : 4 + min(left, self._usable - 4)])
            yield part, number
            left -= len(part)
            number = int.from_bytes(page[:4], "big")
        if number:  # the last overflow page of a row names no next one
            raise Damaged


def _page_size(data: memoryview) -> int:
    """Return the page size in the header of a file when the file's length confirms it, else `PAGE_BYTES`."""
    size = int.from_bytes(data[16:18], "big")
    size = 65_536 if size == 1 else size
    borne_out = size * int.from_bytes(data[28:32], "big") == len(data) and size >= 512 and size & (size - 1) == 0
    return size if borne_out else PAGE_BYTES


def _head(number: int) -> int:
    """Return the offset of the B-tree header on a page: page 1 has the header of the file before it."""
    return HEADER_BYTES if number == 1 else 0


def _varint(page: memoryview, at: int) -> tuple[int, int]:
    value = 0
    for place in range(at, at + 8):
        value = value << 7 | page[place] & 0x7F
        if page[place] < 0x80:
            return value, place + 1
    value = value << 8 | page[at + 8]
    return value - (1 << 64) if value >= 1 << 63 else value, at + 9


def _record(payload: bytes) -> tuple[Scalar, ...]:
    view = memoryview(payload)
    length, at = _varint(view, 0)
    if not 0 < length <= len(payload):
        raise Damaged
    kinds: list[int] = []
    while at < length:
        kind, at = _varint(view, at)
        kinds.append(kind)
    values: list[Scalar] = []
    for kind in kinds:
        value, at = _value(payload, kind, at)
        values.append(value)
    if at != len(payload):
        raise Damaged
    return tuple(values)


def _value(payload: bytes, kind: int, at: int) -> tuple[Scalar, int]:
    if kind in (0, 8, 9):
        return (None if kind == 0 else kind - 8), at
    width = 8 if kind == 7 else _WIDTHS.get(kind, (kind - 12) // 2)
    data = payload[at : at + width]
    if kind in (10, 11) or kind < 0 or len(data) < width:
        raise Damaged
    if kind == 7:
        return struct.unpack(">d", data)[0], at + width
    if kind < 7:
        return int.from_bytes(data, "big", signed=True), at + width
    return data.decode() if kind % 2 else data, at + width
