"""Streams of lines: cut from bytes as they come, compressed or not, with memory for one line at a time."""

from collections.abc import AsyncIterator, Iterable, Iterator

import msgspec
import zstandard

from core.errors import InvalidInput
from core.records import Record

LINE_MAX = 4 << 20  # bytes; a memory of the largest size with its vectors takes less than half
SLICE = 512  # bytes of compressed input at once: they make 16 MB at most
WINDOW = 1 << 27
ZSTD = b"\x28\xb5\x2f\xfd"  # what a compressed stream begins with

_ENCODER = msgspec.json.Encoder()


class Lines:
    """Cuts what is fed to it into lines, without their ends."""

    def __init__(self) -> None:
        self._rest = b""
        self._cut = 0
        self._first = True
        self._expander: zstandard.ZstdDecompressionObj | None = None

    def feed(self, data: bytes) -> list[bytes]:
        """The lines that end in `data`.

        Raises:
            InvalidInput: a line is too long, or the compression is damaged.
        """
        if self._first and data:
            self._first = False
            if data.startswith(ZSTD):
                decompressor = zstandard.ZstdDecompressor(max_window_size=WINDOW)
                self._expander = decompressor.decompressobj(read_across_frames=True)
        if self._expander is None:
            return self._split(data)
        return [line for start in range(0, len(data), SLICE) for line in self._expanded(data[start : start + SLICE])]

    def end(self) -> list[bytes]:
        """The last line, if it has no end."""
        return [self._rest] if self._rest else []

    def _expanded(self, part: bytes) -> list[bytes]:
        assert self._expander is not None
        try:
            return self._split(self._expander.decompress(part))
        except zstandard.ZstdError as error:
            raise self._bad(f"the compressed data is damaged ({error})") from None

    def _split(self, data: bytes) -> list[bytes]:
        *lines, rest = data.split(b"\n")
        if lines:
            lines[0] = self._rest + lines[0]
            self._rest = rest
        else:
            self._rest += rest
        self._cut += len(lines)
        if len(self._rest) > LINE_MAX or any(len(line) > LINE_MAX for line in lines):
            raise self._bad(f"a line is longer than {LINE_MAX:,} bytes")
        return lines

    def _bad(self, message: str) -> InvalidInput:
        line = self._cut + 1
        return InvalidInput.at(f"$.lines[{line}]", f"line {line:,} or near: {message}")


async def lines_of(stream: AsyncIterator[bytes]) -> AsyncIterator[list[bytes]]:
    """The lines of a stream, some at a time."""
    lines = Lines()
    async for data in stream:
        if found := lines.feed(data):
            yield found
    if found := lines.end():
        yield found


def encoded(records: Iterable[Record]) -> bytes:
    """Records as lines."""
    return b"".join([_ENCODER.encode(record) + b"\n" for record in records])


def compressed(parts: Iterable[bytes]) -> Iterator[bytes]:
    """The parts, as one stream of zstd."""
    compressor = zstandard.ZstdCompressor(level=6).compressobj()
    for part in parts:
        if made := compressor.compress(part):
            yield made
    yield compressor.flush()
