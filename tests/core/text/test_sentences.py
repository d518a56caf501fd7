"""Ends of sentences, and the pieces that a text is cut into."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from muisti.core.text.sentences import ends, pieces

TEXTS = st.lists(
    st.sampled_from(
        ["It rained. ", 'He asked "why?" and left.\n', "e.g. this ", "版本三号。", "真的？！", "\n \n", "3.14 "]
    )
    | st.text(". ?!\n。a", max_size=8),
    max_size=30,
).map("".join)


@given(TEXTS)
def test_each_piece_ends_where_a_sentence_ends_or_the_text(text: str):
    borders = [*ends(text), len(text)]
    for piece in pieces(text):
        gap = re.match(r"\s*", text[piece.stop :])
        assert gap is not None
        assert piece.stop + gap.end() in borders


@pytest.mark.parametrize(("text", "found"), [
    ("See e.g. this one. Then stop!", ["See e.g. this one.", "Then stop!"]),
    ('"Why?" He left.', ['"Why?"', "He left."]),
    ("真的？！好。", ["真的？！", "好。"]),
    ("One.\n\ntwo", ["One.", "two"]),
])  # fmt: skip
def test_a_piece_begins_like_a_sentence(text: str, found: list[str]):
    assert [text[piece.start : piece.stop] for piece in pieces(text)] == found
