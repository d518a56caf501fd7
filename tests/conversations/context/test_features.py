"""Sizes of memories and of their pieces."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from muisti.core.conversations.context.counting import counter
from muisti.core.conversations.context.weights import WHOLE, body, measure
from muisti.core.text.sentences import pieces
from tests.examples import examples

TEXTS = st.lists(
    st.sampled_from([
        "It rained. ", "We left at 5!\n", "\n\n", "```\nx = 1\n\ny\n```\n", "e.g. this", "版本3。", "\u2028", " ",
        "/etc",
    ])
    | st.text(max_size=20),
    max_size=60,
).map("".join)  # fmt: skip


@given(TEXTS)
@examples(200)
def test_no_line_of_a_body_but_the_first_begins_without_a_space(text: str):
    lines = body(text).splitlines()
    assert all(line.startswith(" ") and line.strip() for line in lines[1:])
    assert "".join(body(text).split()) == "".join(text.split())


@given(TEXTS)
@examples(200)
def test_pieces_cover_all_but_white_space_in_order(text: str):
    found = pieces(text)
    at = 0
    for piece in found:
        assert not text[at : piece.start].strip()
        assert piece.start < piece.stop
        assert text[piece.start : piece.stop].strip() == text[piece.start : piece.stop]
        at = piece.stop
    assert not text[at:].strip()


@given(TEXTS)
@examples(100)
def test_long_memories_have_pieces_and_short_ones_none(text: str):
    shown, counts_tokens = body(text), counter()
    features = measure(shown, counts_tokens)
    assert features.tokens == counts_tokens.count(f" {shown}\n")
    counts = np.frombuffer(features.counts, np.int32)
    assert (len(counts) > 0) == (features.tokens > WHOLE and bool(pieces(shown)))
    spans = np.frombuffer(features.spans, np.int32).reshape(-1, 2)
    assert len(spans) == len(counts) == len(features.code) == len(np.frombuffer(features.ends, np.int32))
    if len(counts):
        assert (counts > 0).all()


def test_a_code_block_is_one_piece():
    text = "Look:\n```py\nif a:\n    b()\n```\nDone."
    assert [text[p.start : p.stop] for p in pieces(text)] == ["Look:", "```py\nif a:\n    b()\n```", "Done."]
    assert [p.code for p in pieces(text)] == [False, True, False]
