"""Decompress a stream as it is read, and read it forwards: gzip, bzip2, xz and Zstandard."""

import bz2
import io
import lzma
import tarfile
import zlib
from collections.abc import Callable, Iterator
from typing import Any, BinaryIO

from muisti.core.model.unreadable import Broken, FileTooLarge, Unsafe
from muisti.core.parsing.detect import COMPRESSIONS
from muisti.core.support import zstd

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


Decompress = Callable[[BinaryIO], Iterator[bytes]]


WINDOW = 64 << 20  # bytes of memory that a decompressor may use


def kind_of(head: bytes) -> str | None:
    """Return how a file is compressed, by its first bytes; None when it is not."""
    return next((kind for signature, kind in COMPRESSIONS if head.startswith(signature)), None)


def decompressed(source: BinaryIO, kind: str) -> Iterator[bytes]:
    """Yield the content of a compressed file. Raises `Broken`, and `FileTooLarge` where it needs too much memory."""
    try:
        yield from _DECOMPRESSORS[kind](source)
    except (zlib.error, lzma.LZMAError, zstd.ZstdError, OSError, EOFError, ValueError) as error:
        if "mem" in str(error).lower():
            raise FileTooLarge("The file needs more memory to unpack than it may use.") from error
        raise Broken(f"The compressed file is damaged: {error}.") from error


def _gzip(source: BinaryIO) -> Iterator[bytes]:
    decompressor = zlib.decompressobj(wbits=31)
    while block := source.read(READ):
        while block:
            yield from _unless_empty(decompressor.decompress(block, READ))
            while decompressor.unconsumed_tail:
                yield from _unless_empty(decompressor.decompress(decompressor.unconsumed_tail, READ))
            block = decompressor.unused_data if decompressor.eof else b""
            if block:  # another member follows
                decompressor = zlib.decompressobj(wbits=31)
                block = block.lstrip(b"\0")
    if not decompressor.eof:
        raise EOFError("cut off")


def _unless_empty(block: bytes) -> Iterator[bytes]:
    if block:
        yield block


def _with_needs_input(make: Callable[[], bz2.BZ2Decompressor | lzma.LZMADecompressor]) -> Decompress:
    """Return the loop around a decompressor that tells when it needs more input."""

    def decompress(source: BinaryIO) -> Iterator[bytes]:
        decompressor = make()
        while True:
            if decompressor.eof:
                rest = decompressor.unused_data or source.read(READ)
                if not rest.strip(b"\0"):
                    return
                decompressor = make()
                yield from _unless_empty(decompressor.decompress(rest, READ))
            elif decompressor.needs_input:
                block = source.read(READ)
                if not block:
                    raise EOFError("cut off")
                yield from _unless_empty(decompressor.decompress(block, READ))
            else:
                yield from _unless_empty(decompressor.decompress(b"", READ))

    return decompress


def _zstd(source: BinaryIO) -> Iterator[bytes]:
    stream = zstd.Expander(WINDOW, READ)
    while block := source.read(READ):
        yield from stream.feed(block)
    if not stream.whole:
        raise EOFError("cut off")


_DECOMPRESSORS = {
    "gzip": _gzip,
    "bzip2": _with_needs_input(bz2.BZ2Decompressor),
    "xz": _with_needs_input(lambda: lzma.LZMADecompressor(memlimit=WINDOW)),
    "zstd": _zstd,
}
