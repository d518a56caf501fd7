"""Streams of Zstandard are read as by another binding, in pieces of any size, and small frames are bounded."""

import pytest
import zstandard
from hypothesis import given
from hypothesis import strategies as st

from muisti.core.support.zstd import FRAMES, Expander, ZstdError, compressed

WINDOW, PIECE = 1 << 20, 1 << 10


@given(st.lists(st.binary(max_size=3_000), min_size=1, max_size=5), st.integers(1, 5_000))
def test_frames_in_a_row_are_read_whatever_the_cut(contents: list[bytes], cut: int):
    packed = b"".join(zstandard.compress(one) for one in contents)
    stream = Expander(WINDOW, PIECE)
    pieces = [piece for at in range(0, len(packed), cut) for piece in stream.feed(packed[at : at + cut])]
    assert b"".join(pieces) == b"".join(contents) and stream.whole
    assert all(0 < len(piece) <= PIECE for piece in pieces)


def test_another_binding_reads_what_is_written_in_parts():
    packed = b"".join(compressed([b"one ", b"", b"two"], 6))
    assert zstandard.ZstdDecompressor().decompressobj().decompress(packed) == b"one two"


def test_small_frames_without_end_are_refused_before_they_take_seconds():
    stream, frames = Expander(WINDOW, PIECE), zstandard.compress(b"") * FRAMES
    assert list(stream.feed(frames)) == []
    with pytest.raises(ZstdError, match="too many small frames"):
        list(stream.feed(frames))
