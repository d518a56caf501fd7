"""Zstandard, from the standard library where it has it (Python 3.14), else from its backport."""

import sys
from collections.abc import Iterable, Iterator

if sys.version_info >= (3, 14):
    from compression.zstd import (
        CompressionParameter,
        DecompressionParameter,
        ZstdCompressor,
        ZstdDecompressor,
        ZstdError,
        compress,
        decompress,
    )
else:
    from backports.zstd import (
        CompressionParameter,
        DecompressionParameter,
        ZstdCompressor,
        ZstdDecompressor,
        ZstdError,
        compress,
        decompress,
    )

__all__ = ["Expander", "ZstdError", "compress", "compressed", "decompress"]

SIP = 4_096  # bytes that are given together: those behind the end of a frame are copied for each frame
FRAMES = 10_000  # of any stream; beyond them, a frame must take `FRAME` bytes on average: each costs 8 µs
FRAME = 100


class Expander:
    """Expands a stream of any number of frames, piece by piece. A frame may refer back by at most `window` bytes."""

    def __init__(self, window: int, piece: int) -> None:
        self._options: dict[int, int] = {DecompressionParameter.window_log_max: window.bit_length() - 1}
        self._piece = piece
        self._frame = ZstdDecompressor(options=self._options)
        self._frames = self._taken = 0

    @property
    def whole(self) -> bool:
        """Tell whether the last frame has ended."""
        return self._frame.eof

    def feed(self, data: bytes) -> Iterator[bytes]:
        """Yield what follows from `data`, in pieces.

        Raises:
            ZstdError: the stream is damaged, needs a larger window, or has too many small frames.
        """
        for start in range(0, len(data), SIP):
            yield from self._expand(data[start : start + SIP])

    def _expand(self, sip: bytes) -> Iterator[bytes]:
        self._taken += len(sip)
        while sip or not (self._frame.eof or self._frame.needs_input):
            if self._frame.eof:
                self._begin()
            if made := self._frame.decompress(sip, self._piece):
                yield made
            sip = self._frame.unused_data if self._frame.eof else b""

    def _begin(self) -> None:
        self._frames += 1
        if self._frames > FRAMES + self._taken // FRAME:
            raise ZstdError("it has too many small frames")
        self._frame = ZstdDecompressor(options=self._options)


def compressed(parts: Iterable[bytes], level: int) -> Iterator[bytes]:
    """Compress the parts into one frame."""
    compressor = ZstdCompressor(options={CompressionParameter.compression_level: level})
    for part in parts:
        if made := compressor.compress(part):
            yield made
    yield compressor.flush()
