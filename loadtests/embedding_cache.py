"""Whether a cache of vectors pays for the static model: `python -m loadtests.embedding_cache`.

It times, for texts of several lengths, the embedding of a text, and what a cache adds: the key, the lookup and the
kept vector. Medians of rounds in turn, in microseconds of processor time for a text.
"""

import statistics
import time
from collections.abc import Callable, Sequence

import click

from muisti.core.embedding.cache import EmbeddingCache
from muisti.core.embedding.encoder import Encoder, StaticEncoder
from muisti.core.embedding.vectors import Vectors
from muisti.core.kernels import Floats

ROUNDS, TEXTS = 15, 512
WORDS = [
    "we",
    "deploy",
    "on",
    "tuesdays",
    "after",
    "the",
    "smoke",
    "test",
    "has",
    "passed",
    "and",
    "anna",
    "writes",
    "the",
    "notes",
    "of",
    "the",
    "release",
]


class Deferred:
    """The static model, marked as slow, so that the cache keeps its vectors."""

    def __init__(self, encoder: Encoder) -> None:
        self._encoder = encoder
        self.identity, self.name, self.dimensions = encoder.identity, encoder.name, encoder.dimensions
        self.deferred = True

    def encode(self, texts: Sequence[str]) -> Vectors:
        return self._encoder.encode(texts)

    def encode_query(self, text: str) -> Floats:
        return self._encoder.encode_query(text)


def main() -> None:
    """Print the table."""
    static = StaticEncoder()
    slow = Deferred(static)
    click.echo(
        "| words | plain µs | with cache, all new µs | with cache, all known µs |\n| ---: | ---: | ---: | ---: |"
    )
    for length in (8, 30, 120):
        texts = [" ".join(WORDS[(n * 7 + k) % len(WORDS)] for k in range(length)) + f" {n}" for n in range(TEXTS)]
        click.echo(f"| {length} | " + " | ".join(f"{micros:.1f}" for micros in measured(static, slow, texts)) + " |")


def measured(static: Encoder, slow: Encoder, texts: Sequence[str]) -> list[float]:
    """Return the median microseconds of a text without a cache, with an empty one, and with one that knows it."""
    known = EmbeddingCache()
    one_by_one(lambda text: known.encode(slow, [text]), texts)
    ways: list[Callable[[], None]] = [
        lambda: one_by_one(lambda text: static.encode([text]), texts),
        lambda: all_new(slow, texts),
        lambda: one_by_one(lambda text: known.encode(slow, [text]), texts),
    ]
    taken: list[list[float]] = [[] for _ in ways]
    for _ in range(ROUNDS):
        for way, times in zip(ways, taken, strict=True):
            began = time.process_time()
            way()
            times.append(1e6 * (time.process_time() - began) / len(texts))
    return [statistics.median(times) for times in taken]


def one_by_one(act: Callable[[str], object], texts: Sequence[str]) -> None:
    """Call a function for each text, as single adds do."""
    for text in texts:
        act(text)


def all_new(encoder: Encoder, texts: Sequence[str]) -> None:
    """Embed texts through an empty cache."""
    cache = EmbeddingCache()
    one_by_one(lambda text: cache.encode(encoder, [text]), texts)


if __name__ == "__main__":
    main()
