"""Texts and questions for measurements: real ones, or synthetic ones whose words follow Zipf's law."""

from collections.abc import Iterator
from itertools import islice
from pathlib import Path

import numpy as np

from loadtests import corpus

# fmt: off
SYLLABLES = ["ka", "lo", "mi", "ra", "ne", "to", "su", "vi", "pa", "de", "ho", "lu", "ri", "san", "ter", "mo", "ben",
             "gal", "din", "for"]
# fmt: on
VOCABULARY = 20_000
MADE_QUESTIONS = 4_000


def real(folder: Path, cache: Path) -> tuple[list[str], list[str]]:
    """Up to a million texts, and questions.

    `folder` holds what `loadtests.corpus` wrote, or the judged sets that it reads; then the texts go into `cache`.
    """
    written = folder / "texts.txt"
    if not written.exists():
        written = cache / "corpus" / "texts.txt"
        if not written.exists():
            corpus.build(folder, written.parent)
    return tuple(path.read_text("utf-8").split("\n")[:-1] for path in (written, written.with_name("questions.txt")))


def invented(count: int) -> tuple[list[str], list[str]]:
    """Texts and questions of made words, for machines without real ones."""
    return list(islice(made((8, 50), seed=1), count)), list(islice(made((4, 14), seed=2), MADE_QUESTIONS))


def made(words: tuple[int, int], seed: int) -> Iterator[str]:
    """Yield endless sentences whose words follow Zipf's law, each with a unique number."""
    rng = np.random.default_rng(seed)
    vocabulary = ["".join(rng.choice(SYLLABLES, rng.integers(1, 5))) for _ in range(VOCABULARY)]
    number = 0
    while True:
        number += 1
        ranks = np.minimum(rng.zipf(1.2, rng.integers(*words)), VOCABULARY) - 1
        yield " ".join([*(vocabulary[rank] for rank in ranks), str(number)])
