"""BM25 top 50 of whole questions, tokenising them included, compared with BM25 libraries."""

import importlib
from collections.abc import Iterator
from typing import Any

import numpy as np

from loadtests.bed import Bed
from loadtests.peers.lexical import LexicalEngine
from loadtests.timing import BLOCK, Engine, interleaved

K = 50
SHOWN = 10  # of the K, compared with Muisti's
PEERS = ("bm25s_peer", "tantivy_peer", "fts5_peer", "rank_bm25_peer")


def measure(bed: Bed) -> dict[str, Any]:
    queries = 200 if bed.size <= 100_000 else 100
    asked = bed.questions(queries + BLOCK)
    muisti = bed.muisti()
    ours = LexicalEngine("Muisti", muisti.lexical, 0.0, muisti.lexical_bytes)
    engines = [ours, *_peers(bed)]
    ready = [
        Engine(engine.name, lambda number, search=engine.search: search(asked[number], K), engine.every)
        for engine in engines
    ]
    times = interleaved(ready, queries)
    built = {engine.name: {"build seconds": engine.seconds, "bytes": engine.bytes} for engine in engines}
    mine = times["Muisti"].answers
    return {
        "queries": queries,
        "engines": [
            {"name": name, **measured.summary(), "overlap": _overlap(mine, measured.answers), **built[name]}
            for name, measured in times.items()
        ],
    }


def prepare(bed: Bed) -> None:
    for _ in _peers(bed):
        pass


def _peers(bed: Bed) -> Iterator[LexicalEngine]:
    for name in PEERS if bed.peers else ():
        yield from importlib.import_module(f"loadtests.peers.{name}").engines(bed.texts, bed.shelf)


def _overlap(ours: dict[int, np.ndarray], theirs: dict[int, np.ndarray]) -> float:
    """Return the share of the first ten that is the same: other stop words and stems give other answers."""
    shared = [np.intersect1d(ours[n][:SHOWN], found[:SHOWN]).size / SHOWN for n, found in theirs.items()]
    return float(np.mean(shared))
