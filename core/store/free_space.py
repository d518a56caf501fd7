"""Searches the free space of a database file for traces of erased texts, which no row points to any more.

`secure_delete` writes zeros over what is deleted. Copies of a cell may remain on other pages, from before a tree
was balanced. So do rows that an SQLite without `secure_delete` has deleted.
"""

from collections.abc import Iterator
from typing import Protocol

import numpy as np
import numpy.typing as npt

WINDOW, STEP = 16, 8  # bytes; a trace of 23 bytes contains a whole window
CHUNK_PAGES = 1_024
JOINED_BYTES = 1 << 20
TEXTS_BYTES = 64 << 20  # above this, all of the free space counts as a trace

_Pages = npt.NDArray[np.uint8]  # (pages, bytes of a page)
_TREE = (2, 5, 10, 13)  # the first byte of a B-tree page


class File(Protocol):
    """Interface of a file in SQLite's own file layer."""

    def xRead(self, amount: int, offset: int) -> bytes: ...  # SQLite's name

    def xFileSize(self) -> int: ...


class Traces:
    """Erased bytes, remembered as windows of `WINDOW` bytes. `all`: they are too many to search for."""

    def __init__(self) -> None:
        self._windows: list[npt.NDArray[np.uint64]] = []
        self._size = 0

    @property
    def all(self) -> bool:
        return self._size > TEXTS_BYTES

    def add(self, *erased: bytes | str | None) -> None:
        """Remember texts or other bytes."""
        for each in erased:
            data = each.encode() if isinstance(each, str) else each or b""
            if not self.all and len(data) >= WINDOW:
                halves = np.frombuffer(data, "<u8", len(data) // STEP)
                self._windows.append(_mixed(halves[:-1], halves[1:]))
            self._size += len(data)

    def everything(self) -> None:
        """Record that a whole space was erased, whose texts were not read."""
        self._size = TEXTS_BYTES + 1

    def windows(self) -> npt.NDArray[np.uint64]:
        """Return one number for each window, sorted; none for windows of zeros."""
        found = np.unique(np.concatenate([np.empty(0, np.uint64), *self._windows]))
        return found[found != 0]


def look(file: File, traces: Traces) -> int:
    """Count windows of erased bytes in the free space of a database whose log is empty.

    Texts that stay may share windows with erased ones, so the count may be too high.
    """
    windows, found = traces.windows(), 0
    for data in _joined(_stretches(file)):
        shifted = np.lib.stride_tricks.sliding_window_view(data, WINDOW)
        halves = np.ascontiguousarray(shifted).view("<u8")
        values = _mixed(halves[:, 0], halves[:, 1])
        if len(windows):
            places = np.minimum(np.searchsorted(windows, values), len(windows) - 1)
            found += int(np.count_nonzero(windows[places] == values))
    return found


def _mixed(first: npt.NDArray[np.uint64], second: npt.NDArray[np.uint64]) -> npt.NDArray[np.uint64]:
    """Combine each pair into one number; two zeros give 0."""
    return first * np.uint64(0x9E3779B97F4A7C15) + (second ^ (second >> np.uint64(29))) * np.uint64(0xBF58476D1CE4E5B9)


def _joined(stretches: Iterator[npt.NDArray[np.uint8]]) -> Iterator[npt.NDArray[np.uint8]]:
    between = np.zeros(WINDOW, np.uint8)
    waiting: list[npt.NDArray[np.uint8]] = []
    size = 0
    for stretch in stretches:
        waiting += (stretch, between)
        size += len(stretch)
        if size >= JOINED_BYTES:
            yield np.concatenate(waiting)
            waiting, size = [], 0
    if waiting:
        yield np.concatenate(waiting)


def _stretches(file: File) -> Iterator[npt.NDArray[np.uint8]]:
    size = file.xFileSize()
    if size < 512:
        return
    head = file.xRead(100, 0)
    page = int.from_bytes(head[16:18], "big")
    page = 65_536 if page == 1 else page
    free = _free_pages(file, int.from_bytes(head[32:36], "big"), page)
    for first in range(0, size // page, CHUNK_PAGES):
        count = min(CHUNK_PAGES, size // page - first)
        pages = np.frombuffer(file.xRead(count * page, first * page), np.uint8).reshape(count, page)
        for place in range(first, first + count):
            if place in free and pages[place - first].any():
                yield pages[place - first][free[place] :]
        kept = np.array([place not in free for place in range(first, first + count)])
        yield from _gaps(pages, kept, first)


def _free_pages(file: File, trunk: int, page: int) -> dict[int, int]:
    """Map the position of each free page to the offset where SQLite's own data on it ends."""
    found: dict[int, int] = {}
    while trunk and trunk - 1 not in found:
        data = file.xRead(page, (trunk - 1) * page)
        leaves = min(int.from_bytes(data[4:8], "big"), page // 4 - 2)
        found[trunk - 1] = 8 + 4 * leaves
        listed = np.frombuffer(data, ">u4", leaves, 8)
        found.update((int(leaf) - 1, 0) for leaf in listed)
        trunk = int.from_bytes(data[:4], "big")
    return found


def _gaps(pages: _Pages, kept: npt.NDArray[np.bool_], first: int) -> Iterator[npt.NDArray[np.uint8]]:
    """Yield the free stretches of B-tree pages: between pointers and cells, and between cells."""
    heads = np.zeros(len(pages), np.int64)
    heads[0] = 100 if first == 0 else 0
    kind = pages[np.arange(len(pages)), heads]
    trees = np.flatnonzero(kept & np.isin(kind, _TREE))
    columns = np.arange(pages.shape[1], dtype=np.int64)
    head = heads[trees]
    starts = head + np.where(kind[trees] < 8, 12, 8) + 2 * _short(pages, trees, head + 3)
    stops = _short(pages, trees, head + 5)
    stops[stops == 0] = 65_536
    holes: npt.NDArray[np.bool_] = (columns >= starts[:, None]) & (columns < stops[:, None]) & (pages[trees] != 0)
    for place in np.flatnonzero(holes.any(axis=1)).tolist():
        yield pages[trees[place]][starts[place] : stops[place]]
    chained = _short(pages, trees, head + 1)
    for place in np.flatnonzero(chained).tolist():
        yield from _blocks(pages[trees[place]], int(chained[place]))


def _blocks(page: npt.NDArray[np.uint8], at: int) -> Iterator[npt.NDArray[np.uint8]]:
    """Yield the free blocks of a page. Each names the next, which has a higher offset."""
    while 0 < at <= len(page) - 4:
        following, size = (int(page[place]) << 8 | int(page[place + 1]) for place in (at, at + 2))
        if page[at + 4 : at + size].any():
            yield page[at + 4 : at + size]
        at = following if following > at else 0


def _short(pages: _Pages, rows: npt.NDArray[np.int64], at: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
    """Read a two-byte number at an offset of each of these pages."""
    return pages[rows, at].astype(np.int64) << 8 | pages[rows, at + 1]
