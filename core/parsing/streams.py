"""Files over streams of bytes that can be read forwards only."""

import io
import tarfile
from collections.abc import Callable, Iterator
from typing import Any, BinaryIO

from muisti.core.model.unreadable import Unsafe

HEADER = 1 << 20  # bytes of a header of a TAR file at most, such as a long name
READ = 1 << 16


def blocks(read: Callable[[int], bytes]) -> Iterator[bytes]:
    while block := read(READ):
        yield block


class Stream(io.RawIOBase):
    """A file over blocks of bytes, which can be read forwards, and whose start can be looked at."""

    def __init__(self, blocks: Iterator[bytes]) -> None:
        super().__init__()
        self._blocks = blocks
        self._rest = b""

    def readable(self) -> bool:
        return True

    def peek(self, size: int) -> bytes:
        """Return the first bytes without taking them; fewer at the end."""
        while len(self._rest) < size and (block := next(self._blocks, b"")):
            self._rest += block
        return self._rest[:size]

    def readinto(self, target: Any, /) -> int:
        if not self._rest:
            self._rest = next(self._blocks, b"")
        taken = self._rest[: len(target)]
        target[: len(taken)] = taken
        self._rest = self._rest[len(taken) :]
        return len(taken)


class Forward:
    """A file for `tarfile` that can be read and skipped forwards. It refuses a header that would fill the memory."""

    def __init__(self, source: BinaryIO) -> None:
        self._source = source
        self._at = 0

    def tell(self) -> int:
        return self._at

    def read(self, size: int = -1) -> bytes:
        if not 0 <= size <= HEADER:
            raise Unsafe(f"A header of the TAR file takes more than {HEADER >> 10:,} kB.")
        out = b""
        while len(out) < size and (block := self._source.read(size - len(out))):
            out += block
        self._at += len(out)
        return out

    def seek(self, place: int, whence: int = 0) -> int:
        if whence or place < self._at:
            raise tarfile.ReadError("an entry lies before its header")
        while self._at < place and self.read(min(place - self._at, READ)):
            continue
        return self._at
