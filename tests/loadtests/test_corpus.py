"""Texts to measure with: of the right length, distinct, the same every time."""

import json
import random
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from loadtests.corpus import LONGEST, SHORTEST, build, windows

WORDS = st.lists(st.sampled_from(["one", "two", "three.", "four!", "five"]), max_size=300)


@given(WORDS, st.integers(0, 2**32), st.integers(0, 100), st.booleans())
def test_windows_stand_side_by_side(words: list[str], seed: int, begin: int, whole: bool):
    found = list(windows(words, random.Random(seed), begin, whole))
    assert all(SHORTEST <= len(window) <= LONGEST for window in found)
    joined = [word for window in found for word in window]
    assert joined == words[begin : begin + len(joined)]
    assert len(words) - begin - len(joined) < SHORTEST


def test_a_smaller_corpus_is_the_beginning_of_a_larger_one(tmp_path: Path):
    rng = random.Random(1)
    sets = tmp_path / "data" / "some"
    sets.mkdir(parents=True)
    texts = [" ".join(rng.choice("abcdefgh") * 3 for _ in range(90)) for _ in range(20)]
    (sets / "corpus.jsonl").write_text("\n".join(json.dumps({"text": text}) for text in texts))
    (sets / "queries.jsonl").write_text('{"text": "what is it about"}\n{"text": "what is it about"}\n')
    few, asked = build(tmp_path / "data", tmp_path / "few", 50)
    many, _ = build(tmp_path / "data", tmp_path / "many", 200)
    assert many[:50] == few and len(set(many)) == 200
    assert asked == ["what is it about"]
    assert (tmp_path / "few" / "texts.txt").read_text().split("\n")[:-1] == few


def test_a_folder_without_texts_is_an_error(tmp_path: Path):
    with pytest.raises(FileNotFoundError):
        build(tmp_path, tmp_path / "out")
