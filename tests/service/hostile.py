"""Streams of lines that are made to cost far more than they weigh."""

from collections.abc import Callable, Mapping
from functools import cache

import zstandard

HEADER = b'{"type":"muisti","format":1}\n'
MEMORY = b'{"type":"memory","memory":{"content":"'
MB = 1 << 20


def packed(data: bytes) -> bytes:
    return zstandard.ZstdCompressor(level=19).compress(data)


def large_window() -> bytes:
    """Return a frame whose header asks for 128 MB of memory."""
    wanted = zstandard.ZstdCompressionParameters(window_log=27, enable_ldm=True)
    compressor = zstandard.ZstdCompressor(compression_params=wanted).compressobj()
    return compressor.compress(HEADER * 1_000) + compressor.flush()


def false_size() -> bytes:
    """Return a frame whose header claims 2**60 bytes in a single segment."""
    return b"\x28\xb5\x2f\xfd\xe0" + (1 << 60).to_bytes(8, "little") + b"\x01\x00\x00"


SKIPPABLE = b"\x50\x2a\x4d\x18\0\0\0\0"  # an empty frame that readers pass over

# By name; each is of 1 MB at most. Some take a second to make, so they are made when a test asks.
COMPRESSED: Mapping[str, Callable[[], bytes]] = {
    "newlines": lambda: packed(b"\n" * (256 * MB)),
    "newlines behind a header": lambda: packed(HEADER + b"\n" * (256 * MB)),
    "spaces and newlines": lambda: packed(b" \n" * (64 * MB)),
    "an endless line": lambda: packed(b" " * (256 * MB)),
    "an endless string": lambda: packed(HEADER + MEMORY + b"x" * (256 * MB)),
    "short bad lines": lambda: packed(HEADER + b"1\n" * (64 * MB)),
    "lines as long as they may be": lambda: packed((b" " * (4 * MB - 1) + b"\n") * 64),
    "long bad lines": lambda: packed(HEADER + (b"[" * (4 * MB - 1) + b"\n") * 64),
    "one memory again and again": lambda: packed(HEADER + (MEMORY + b'tea"}}\n') * (4 * MB)),
    "deep members": lambda: packed(HEADER + MEMORY + b'x","metadata":' + b'{"a":' * 600_000 + b"\n"),
    "a number without an end": lambda: packed(HEADER + MEMORY + b'x","version":' + b"9" * (3 * MB) + b"}}\n"),
    "many small frames": lambda: packed(b"\n") * 60_000,
    "many frames that grow": lambda: packed(b"\n" * MB) * 500,
    "skippable frames alone": lambda: SKIPPABLE * 100_000,
    "a stream behind skippable frames": lambda: SKIPPABLE * 1_000 + packed(b"\n" * (256 * MB)),
    "a large window": large_window,
    "a false size": false_size,
}


@cache
def compressed(name: str) -> bytes:
    """Return the stream of that name in `COMPRESSED`, as a copy: zstandard's own bytes keep room for the text."""
    return bytes(memoryview(COMPRESSED[name]()))


def plain_streams() -> Mapping[str, bytes]:
    """By name; each is of 9 MB at most, which is within the limit of a body."""
    return {
        "newlines": b"\n" * (4 * MB), "spaces": b" " * (9 * MB), "spaces and newlines": b" \n" * (2 * MB),
        "short bad lines": HEADER + b"1\n" * (MB // 16), "nested beyond measure": HEADER + b"[" * (3 * MB),
    }  # fmt: skip
