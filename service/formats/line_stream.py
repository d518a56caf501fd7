"""Streams of lines: cut from bytes as they come, compressed or not, with memory for one line at a time.

A compressed stream may expand by as much as real files do, and no more. Expanding and cutting take processor time, so
callers run them on a thread.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

import msgspec

from muisti.core.model.decoding import repaired
from muisti.core.model.errors import InvalidInput, TooLarge
from muisti.core.operations.transfer.records import Record
from muisti.core.support import zstd

if TYPE_CHECKING:
    from muisti.core.model.tasks import Task
    from muisti.core.tasks.tasks import Submission

TASK, BLOB = "import", "lines"  # of the task that imports a file; see `core.operations.transfer.importing`
LINE_MAX = 4 << 20  # bytes; a memory of the largest size with its vectors takes less than half
PIECE = 1 << 16  # bytes that are expanded and cut before the next ones are
WINDOW = 1 << 23  # bytes of earlier text that a stream may refer to; RFC 8878 recommends as much for all decoders
GROWTH = 500  # bytes, of one compressed byte; exports measured have 2 to 63
GROWTH_FLOOR = 16 << 20  # bytes that any stream may grow to
LINES_FLOOR = 10_000  # lines of any stream; beyond them, each must take a compressed byte: lines with ids take many
ZSTD = b"\x28\xb5\x2f\xfd"  # first bytes of a compressed stream
_SKIPPED = bytes(range(0x50, 0x60))  # first byte of a frame that holds no data
_SKIPPABLE = b"\x2a\x4d\x18"  # and the bytes behind it

_ENCODER = msgspec.json.Encoder()

Take = Callable[[Sequence[bytes]], None]


def is_compressed(head: bytes) -> bool:
    """Tell whether a stream that begins with these bytes is one of zstd.

    >>> [is_compressed(head) for head in (b"(\\xb5/\\xfd..", b"P*M\\x18....", b'{"type":')]
    [True, True, False]
    """
    return head.startswith(ZSTD) or (head[:1] in _SKIPPED and head[1:4] == _SKIPPABLE and bool(head))


class Lines:
    """Cuts bytes into lines and passes them on without their ends, several at a time."""

    def __init__(self, take: Take) -> None:
        """`take` gets the lines; what it raises, `feed` and `end` raise."""
        self._take = take
        self._rest = bytearray()
        self._cut = 0  # lines
        self._head: bytes | None = b""  # until it tells whether the stream is compressed
        self._expanding: _Expanding | None = None

    def feed(self, data: bytes) -> None:
        """Pass on the lines that end in `data`.

        Raises:
            InvalidInput: a line is too long, or the compression is damaged.
            TooLarge: the compressed stream grows beyond measure.
        """
        if self._head is not None:
            data, self._head = self._head + data, None
            if len(data) < len(ZSTD):
                self._head = data
                return
            if is_compressed(data):
                self._expanding = _Expanding(self._split)
        if self._expanding is not None:
            self._expand(self._expanding, data)
            return
        for start in range(0, len(data), PIECE):
            self._split(data[start : start + PIECE])

    def end(self) -> None:
        """Pass on the last line, if it has no end."""
        if self._head:
            self._split(self._head)
        if self._rest:
            self._take([repaired(bytes(self._rest))])

    def _expand(self, expanding: "_Expanding", data: bytes) -> None:
        try:
            expanding.feed(data)
        except zstd.ZstdError as error:
            if "too much memory" in str(error):
                raise self._bad(
                    f"the compression needs a window of over {WINDOW >> 20} MB; compress without --long and --ultra"
                ) from None
            raise self._bad(f"the compressed data is damaged ({error})") from None

    def _split(self, data: bytes) -> None:
        *lines, rest = data.split(b"\n")
        if lines:
            self._rest += lines[0]
            lines[0] = bytes(self._rest)
            lines = [*map(repaired, lines)]
            self._rest = bytearray(rest)
        else:
            self._rest += rest
        if len(self._rest) > LINE_MAX or (lines and len(lines[0]) > LINE_MAX):  # other lines are within a piece
            raise self._bad(f"a line is longer than {LINE_MAX:,} bytes")
        self._cut += len(lines)
        if self._expanding is not None:
            self._expanding.check(self._cut)
        if lines:
            self._take(lines)

    def _bad(self, message: str) -> InvalidInput:
        line = self._cut + 1
        return InvalidInput.at(f"$.lines[{line}]", f"line {line:,} or near: {message}")


class KeptLines:
    """Lines of an import, kept in the database until the task that imports them has ended."""

    def __init__(self, begun: "Submission") -> None:
        self._begun, self._blob, self._total = begun, begun.blob(BLOB), 0
        self._lines = Lines(self._take)
        self.feed = self._lines.feed

    def end(self) -> "Task":
        """Keep the last line, and let the task begin."""
        self._lines.end()
        self._blob.close()
        return self._begun.end(self._total)

    def _take(self, lines: Sequence[bytes]) -> None:
        self._total += len(lines)
        self._blob.write(b"".join(line + b"\n" for line in lines))


class _Expanding:
    """Expands a stream of zstd, of any number of frames, and stops as soon as it grows beyond the limits."""

    def __init__(self, give: Callable[[bytes], None]) -> None:
        self._give = give
        self._taken = self._grown = 0
        self._stream = zstd.Expander(WINDOW, PIECE)

    def feed(self, data: bytes) -> None:
        """Expand `data`, and pass on the result.

        Raises:
            TooLarge: the stream grows beyond the limits.
            ZstdError: the compressed data is damaged.
        """
        for start in range(0, len(data), PIECE):
            part = data[start : start + PIECE]
            self._taken += len(part)
            for made in self._stream.feed(part):
                self._grow(made)

    def _grow(self, data: bytes) -> None:
        self._grown += len(data)
        if self._grown > GROWTH_FLOOR + GROWTH * self._taken:
            raise TooLarge(
                f"{self._taken:,} compressed bytes have grown to {self._grown:,}, more than {GROWTH} times as many; "
                "send the file uncompressed"
            )
        self._give(data)

    def check(self, lines: int) -> None:
        """Raise `TooLarge` when the stream has more lines than its bytes can tell apart."""
        if lines > LINES_FLOOR + self._taken:
            raise TooLarge(
                f"{self._taken:,} compressed bytes hold {lines:,} lines, empty ones counted; "
                "leave empty lines out, or send the file uncompressed"
            )


def encoded(records: Iterable[Record]) -> bytes:
    """Encode records as lines of JSON."""
    return b"".join([_ENCODER.encode(record) + b"\n" for record in records])


def compressed(parts: Iterable[bytes]) -> Iterator[bytes]:
    """Compress the parts into one stream of zstd."""
    yield from zstd.compressed(parts, 6)
