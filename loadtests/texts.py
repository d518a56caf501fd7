"""Texts to measure with: real ones from a folder, or made ones whose words are as unevenly used as in a language."""

import json
from collections.abc import Iterator
from itertools import cycle, islice
from pathlib import Path

import numpy as np

SYLLABLES = [
    "ka",
    "lo",
    "mi",
    "ra",
    "ne",
    "to",
    "su",
    "vi",
    "pa",
    "de",
    "ho",
    "lu",
    "ri",
    "san",
    "ter",
    "mo",
    "ben",
    "gal",
    "din",
    "for",
]


def memories(count: int, folder: Path | None) -> list[str]:
    """`count` distinct texts: the documents of a folder's corpus.jsonl, numbered when they run out, or made ones."""
    if folder is None:
        return list(islice(made(words=(8, 50), seed=1), count))
    lines = (folder / "corpus.jsonl").read_text("utf-8").splitlines()
    texts = [text for line in lines if (text := json.loads(line)["text"].strip())]
    return [text[:2_000] if n < len(texts) else f"{text[:2_000]} ({n})" for n, text in zip(range(count), cycle(texts))]


def questions(count: int, folder: Path | None) -> list[str]:
    """`count` distinct queries of about ten words."""
    if folder is None:
        return list(islice(made(words=(4, 14), seed=2), count))
    lines = (folder / "queries.jsonl").read_text("utf-8").splitlines()
    texts = [json.loads(line)["text"] for line in lines]
    return [text if n < len(texts) else f"{text} ({n})" for n, text in zip(range(count), cycle(texts))]


def made(words: tuple[int, int], seed: int) -> Iterator[str]:
    """Endless sentences over 20,000 words with Zipf's frequencies, each with a number of its own."""
    rng = np.random.default_rng(seed)
    vocabulary = ["".join(rng.choice(SYLLABLES, rng.integers(1, 5))) for _ in range(20_000)]
    number = 0
    while True:
        number += 1
        ranks = np.minimum(rng.zipf(1.2, rng.integers(*words)), len(vocabulary)) - 1
        yield " ".join([*(vocabulary[rank] for rank in ranks), str(number)])
