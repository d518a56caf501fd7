"""Lines of a stream are read alike however it is cut, and repaired as bodies of requests are."""

import pytest

from muisti.service.formats.line_stream import Lines


@pytest.mark.parametrize("size", [1, 3, 1_000])
def test_a_mark_is_dropped_and_halves_of_surrogate_pairs_are_replaced(size: int):
    data = b'\xef\xbb\xbf{"a": "cut \\ud83d"}\n{"a": "whole \\ud83d\\ude00"}\n{"a": "\\ude00 last"}'
    found: list[bytes] = []
    lines = Lines(found.extend)
    for start in range(0, len(data), size):
        lines.feed(data[start : start + size])
    lines.end()
    assert found == [b'{"a": "cut \\ufffd"}', b'{"a": "whole \\ud83d\\ude00"}', b'{"a": "\\ufffd last"}']
