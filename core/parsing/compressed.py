"""Decompress gzip, bzip2, xz and Zstandard as streams, in bounded memory."""

import bz2
import lzma
import zlib
from collections.abc import Callable, Iterator
from typing import BinaryIO

import zstandard

from muisti.core.model.unreadable import Broken, FileTooLarge
from muisti.core.parsing.detect import COMPRESSIONS
from muisti.core.parsing.streams import READ

Decompress = Callable[[BinaryIO], Iterator[bytes]]

SIP = 256  # bytes of Zstandard that are decompressed together
WINDOW = 64 << 20  # bytes of memory that a decompressor may use


def kind_of(head: bytes) -> str | None:
    """Return how a file is compressed, by its first bytes; None when it is not."""
    return next((kind for signature, kind in COMPRESSIONS if head.startswith(signature)), None)


def decompressed(source: BinaryIO, kind: str) -> Iterator[bytes]:
    """Yield the content of a compressed file. Raises `Broken`, and `FileTooLarge` where it needs too much memory."""
    try:
        yield from _DECOMPRESSORS[kind](source)
    except (zlib.error, lzma.LZMAError, zstandard.ZstdError, OSError, EOFError, ValueError) as error:
        if "mem" in str(error).lower():
            raise FileTooLarge("The file needs more memory to unpack than it may use.") from error
        raise Broken(f"The compressed file is damaged: {error}.") from error


def _gzip(source: BinaryIO) -> Iterator[bytes]:
    decompressor = zlib.decompressobj(wbits=31)
    while block := source.read(READ):
        while block:
            yield from _whole(decompressor.decompress(block, READ))
            while decompressor.unconsumed_tail:
                yield from _whole(decompressor.decompress(decompressor.unconsumed_tail, READ))
            block = decompressor.unused_data if decompressor.eof else b""
            if block:  # another member follows
                decompressor = zlib.decompressobj(wbits=31)
                block = block.lstrip(b"\0")
    if not decompressor.eof:
        raise EOFError("cut off")


def _whole(block: bytes) -> Iterator[bytes]:
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
                yield from _whole(decompressor.decompress(rest, READ))
            elif decompressor.needs_input:
                block = source.read(READ)
                if not block:
                    raise EOFError("cut off")
                yield from _whole(decompressor.decompress(block, READ))
            else:
                yield from _whole(decompressor.decompress(b"", READ))

    return decompress


def _zstd(source: BinaryIO) -> Iterator[bytes]:
    """Decompress a sip at a time, as four bytes can expand to 128 kB, and the result of a call comes in one piece."""
    decompressor = zstandard.ZstdDecompressor(max_window_size=WINDOW)
    frame = decompressor.decompressobj()
    while block := source.read(READ):
        rest = memoryview(block)
        while rest:
            if frame.eof:
                frame = decompressor.decompressobj()
            yield from _whole(frame.decompress(rest[:SIP]))
            taken = min(SIP, len(rest)) - len(frame.unused_data)
            rest = rest[taken:]
    if not frame.eof:
        raise EOFError("cut off")


_DECOMPRESSORS = {
    "gzip": _gzip,
    "bzip2": _with_needs_input(bz2.BZ2Decompressor),
    "xz": _with_needs_input(lambda: lzma.LZMADecompressor(memlimit=WINDOW)),
    "zstd": _zstd,
}
