"""Exact counts by encoding."""

import base64
import hashlib

import pytest
import tiktoken
from hypothesis import given
from hypothesis import strategies as st

from muisti.core.conversations.context import counting
from muisti.core.conversations.context.counting import ENCODINGS, RANKS, counter, read_ranks
from muisti.core.model.errors import InvalidInput
from muisti.core.support.waiting import WouldWait, without_waiting
from tests.examples import examples

O200K = "446a9538cb6c348e3516120d7c08b09f57c36495e2acfffe59a5bf8b0cfb1a2d"  # SHA-256 that tiktoken states
KNOWN = (  # tiktoken's own documentation and tests
    ("cl100k_base", "hello world", 2), ("cl100k_base", "antidisestablishmentarianism", 6),
    ("o200k_base", "hello world", 2), ("o200k_base", "<|endoftext|>", 7),
)  # fmt: skip


def test_the_ranks_on_board_are_those_that_were_published():
    tokens = read_ranks(RANKS / "o200k_base.zst")
    lines = [base64.b64encode(token) + b" %d\n" % rank for rank, token in enumerate(tokens)]
    assert hashlib.sha256(b"".join(lines)).hexdigest() == O200K


@pytest.mark.parametrize(("encoding", "text", "tokens"), KNOWN)
def test_known_texts_have_known_counts(encoding: str, text: str, tokens: int):
    assert counter(encoding).count(text) == tokens


@pytest.mark.parametrize("name", ["gpt2", "o200k", "", "cl100k_base_offline", "x" * 500])
def test_an_encoding_that_is_not_on_board_is_refused(name: str):
    with pytest.raises(InvalidInput, match="none of the encodings on board: cl100k_base, o200k_base"):
        counter(name)


@given(text=st.text(), encoding=st.sampled_from(ENCODINGS))
@examples(200)
def test_counts_are_those_of_tiktoken(text: str, encoding: str):
    counts = counter(encoding)
    assert counts.count(text) == counts.short(text)
    if encoding == "cl100k_base":
        assert counts.count(text) == len(
            tiktoken.get_encoding("cl100k_base_offline").encode(text, disallowed_special=())
        )


@given(text=st.text(max_size=200), most=st.integers(-1, 40), encoding=st.sampled_from(ENCODINGS))
@examples(200)
def test_a_prefix_is_a_beginning_that_fits(text: str, most: int, encoding: str):
    counts = counter(encoding)
    found = counts.prefix(text, most)
    assert text.startswith(found)
    assert counts.count(found) <= max(most, 0)
    if counts.count(text) <= most:
        assert found == text


def test_a_thread_that_may_not_wait_loads_nothing_and_counts_no_long_text(monkeypatch: pytest.MonkeyPatch):
    known = counter()
    with without_waiting():
        assert known.count("x" * counting.LONG) > 0
        with pytest.raises(WouldWait):
            known.count("x" * (counting.LONG + 1))
    monkeypatch.setattr(counting, "_counters", {})
    with without_waiting(), pytest.raises(WouldWait):
        counter()
    assert counter().count("hello world") == 2


@pytest.mark.parametrize("name", ENCODINGS)
def test_endless_runs_of_blanks_are_counted(name: str):
    counts = counter(name)
    assert counts.count("a" + " " * 1_000_000 + "b") > counts.count(" " * 90_000)
    assert counts.prefix("\t" * 4_000_000, 200_000).strip("\t") == ""
