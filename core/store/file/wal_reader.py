"""Reads a write-ahead log beside SQLite: its head, its frames, and the pages that a checkpoint moved last.

The format is described in https://www.sqlite.org/fileformat2.html#walformat.
"""

import os
import struct
from pathlib import Path
from typing import NamedTuple

from muisti.core.store.file.pages import LOG_HEADER_BYTES, LOG_MAGIC, PAGE_BYTES

FRAME_HEADER_BYTES = 24
FRAME_BYTES = FRAME_HEADER_BYTES + PAGE_BYTES
SAMPLED_PAGES = 8
_HAS_PREAD = hasattr(os, "pread")


class _Frame(NamedTuple):
    """The page in a frame, and the size of the database in pages after it; 0 unless the frame ends a commit."""

    page: int
    size: int


class LogFile:
    """An open log. Thread-safe. SQLite's locks are on other files, so opening and closing this one releases none."""

    def __init__(self, path: Path) -> None:
        """Raises `OSError` when there is no such file."""
        self._path = path
        self._file = os.open(path, os.O_RDONLY | getattr(os, "O_BINARY", 0))

    def close(self) -> None:
        os.close(self._file)

    def head(self) -> bytes:
        """Read the header of the log; it is shorter than `LOG_HEADER_BYTES` when the log is empty."""
        return self._read(0, LOG_HEADER_BYTES)

    def salt(self) -> bytes:
        """Read eight bytes that change whenever the log restarts; of an empty log, the time when it was emptied."""
        head = self.head()
        return salt_of(head) if len(head) == LOG_HEADER_BYTES else os.fstat(self._file).st_mtime_ns.to_bytes(8)

    def ends_with(self, frames: int, head: bytes) -> bool:
        """Check that the header is valid, and that the frame which ended a commit belongs to the log."""
        frame = self._read(_offset(frames), FRAME_HEADER_BYTES)
        sound = int.from_bytes(head[:4]) in LOG_MAGIC
        return sound and len(frame) == FRAME_HEADER_BYTES and frame[8:16] == salt_of(head)

    def moved_pages(self, moved: int, frames: int, salt: bytes) -> dict[int, bytes] | None:
        """Read the last pages among the first `moved` of the `frames` of a log.

        These pages are in the database, by number from 1, because no later frame changes them. None: the log
        has restarted, or is cut short.
        """
        last, end = self._frame(moved, salt), self._frame(frames, salt)
        if last is None or end is None:
            return None
        size = min(last.size, end.size)  # the file may have been cut since
        later = {self._frame(place, salt) for place in range(moved + 1, frames + 1)}
        seen = {frame.page for frame in later if frame is not None}
        pages: dict[int, bytes] = {}
        for place in range(moved, 0, -1):
            frame = self._frame(place, salt)
            if frame is None or len(pages) == SAMPLED_PAGES:
                break
            if frame.page not in seen and frame.page <= size:
                pages[frame.page] = self._read(_offset(place) + FRAME_HEADER_BYTES, PAGE_BYTES)
            seen.add(frame.page)
        return pages if self.salt() == salt else None

    def _frame(self, place: int, salt: bytes) -> _Frame | None:
        """Read the header of a frame; None when it belongs to another log."""
        header = self._read(_offset(place), FRAME_HEADER_BYTES)
        return _Frame(*struct.unpack(">II", header[:8])) if header[8:16] == salt else None

    def _read(self, offset: int, length: int) -> bytes:
        if _HAS_PREAD:
            return os.pread(self._file, length, offset)
        with self._path.open("rb") as file:  # Windows lets nobody replace a file that is open
            file.seek(offset)
            return file.read(length)


def salt_of(head: bytes) -> bytes:
    return head[16:24]


def follows(salt: bytes, before: bytes) -> bool:
    """Check that a log restarted once between two salts: SQLite adds one to the first half."""
    return int.from_bytes(salt[:4]) == (int.from_bytes(before[:4]) + 1) % (1 << 32)


def log_bytes(frames: int) -> int:
    """Return the least size of a log that has so many frames."""
    return LOG_HEADER_BYTES + frames * FRAME_BYTES


def _offset(place: int) -> int:
    """Return where a frame begins; places count from 1."""
    return log_bytes(place - 1)
