"""The loops over texts in ASCII find what regular expressions find."""

import re
from collections.abc import Iterator
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from muisti.core.kernels import Bytes, ascii
from muisti.core.kernels.target import LEVELS
from muisti.core.text.sentences import ends as sentence_ends

PARTS = (
    "getUserName", "QX-991", "a.b:c/d", "c++", "C#", ".NET", "..x", "x_y", "_", "-", "+#", " ", "\n", "\n \n", ".",
    "?)", '."', "!\x1c", "\x00", "\x1f", "\t", "\r\n", "9" * 30, "w" * 90, "It's ", "so. Then", "end.) Next\n",
)  # fmt: skip
texts = st.lists(st.sampled_from(PARTS), max_size=60).map("".join) | st.text(st.characters(codec="ascii"), max_size=200)

RUNS = re.compile(r"(?:\w++|(?<![\w.])\.\w++)(?:[-./:+#]\w++)*+(?:\+\+|#)?")
TOKENS = re.compile(r"\w{1,24}+|[^\w\s]")
WORDS = re.compile(r"[A-Za-z0-9]++|[!-/:-@\[-`{-~]")
PLAIN = re.compile(r"[\t\n\r -~]*+")
BLANK_LINES = re.compile(r"\n[^\S\n]*+\n\s*+")


@pytest.fixture(scope="module", autouse=True, params=range(max(1, len(LEVELS))), ids="level {}".format)
def level(request: pytest.FixtureRequest) -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        for name, kernel in (LEVELS[request.param] if LEVELS else {}).items():
            stage, _, loop = name.partition(".")
            if stage == "ascii":
                patch.setattr(ascii, loop, kernel)
        yield


def data(text: str) -> Bytes:
    return np.frombuffer(bytearray(text.encode()), np.int8)


def spans(text: str, find: str) -> list[str] | None:
    out = np.empty(2 * len(text) + 2, np.int32)
    count = getattr(ascii, find)(data(text), out)
    edges = out[: 2 * count].tolist()
    return None if count < 0 else [text[a:b] for a, b in zip(edges[::2], edges[1::2], strict=True)]


@given(texts)
def test_runs_and_words_are_those_of_the_patterns(text: str):
    assert spans(text, "runs") == RUNS.findall(text)
    assert spans(text, "words") == (WORDS.findall(text) if PLAIN.fullmatch(text) else None)


@given(texts, st.lists(st.integers(0, 200)))
def test_tokens_are_counted_as_the_pattern_does(text: str, borders: list[int]):
    assert ascii.count(data(text), 24) == len(TOKENS.findall(text))
    edges = sorted(min(one, len(text)) for one in borders)
    out = np.empty(max(0, len(edges) - 1), np.int64)
    ascii.counts(data(text), np.array(edges, np.int64), 24, out)
    assert out.tolist() == [len(TOKENS.findall(text[start:stop])) for start, stop in pairwise(edges)]


@given(texts)
def test_tokens_have_the_places_and_borders_of_the_patterns(text: str):
    starts, ranks = np.empty(len(text), np.int64), np.empty(len(text), np.int8)
    count = ascii.tokens(data(text), 24, starts, ranks)
    wanted = {one.start(): one.start() > 0 and text[one.start() - 1].isspace() for one in TOKENS.finditer(text)}
    expected = {start: ascii.BETWEEN_WORDS if blank else ascii.ANYWHERE for start, blank in wanted.items()}
    expected |= {end: ascii.SENTENCE for end in sentence_ends(text) if end < len(text)}
    expected |= {one.end(): ascii.PARAGRAPH for one in BLANK_LINES.finditer(text) if one.end() < len(text)}
    assert dict(zip(starts[:count].tolist(), ranks[:count].tolist(), strict=True)) == expected


def test_the_hash_of_three_bytes_is_in_range():
    assert {ascii.trigram(*b"abc"), ascii.trigram(255, 255, 255)} <= set(range(ascii.TRIGRAMS))
