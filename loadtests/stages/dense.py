"""Dense top 10 compared with exact scans and graphs, with and without a filter; recall against exact float32."""

import importlib
from collections.abc import Iterator
from typing import Any

import numpy as np

from loadtests.bed import Bed
from loadtests.fill import group_of
from loadtests.muisti import Muisti
from loadtests.peers.dense import DenseEngine, Found, Search, Selection
from loadtests.timing import BLOCK, Engine, Times, interleaved
from muisti.core.embedding.vectors import Vectors

K = 10
PEERS = ("numpy_peer", "usearch_peer", "hnswlib_peer", "faiss_peer", "sqlite_vec_peer", "zvec_peer", "qdrant_edge_peer")
PERCENTS = (1, 10, 50)
SAME = 1e-5  # scores that differ by less count as equal


def measure(bed: Bed) -> dict[str, Any]:
    vectors = bed.vectors()
    queries = 200 if bed.size <= 100_000 else 60
    directions = bed.directions(queries + BLOCK)
    muisti = bed.muisti()
    engines = [_muisti(muisti, bed), *_peers(bed, vectors)]
    found: dict[str, Any] = {"queries": queries, "engines": _measured(engines, vectors, directions, queries, None)}
    groups = np.array([group_of(row) for row in range(bed.size)], np.int64)
    found["filtered"] = {
        percent: _measured(engines, vectors, directions, queries // 2, _selection(percent, groups))
        for percent in PERCENTS
    }
    return found


def prepare(bed: Bed) -> None:
    for _ in _peers(bed, bed.vectors()):
        pass


def _muisti(muisti: Muisti, bed: Bed) -> DenseEngine:
    def filtered(selection: Selection) -> Search:
        rows = muisti.rows_of(selection.mask)
        return lambda query, k: muisti.dense(query, k, rows)

    return DenseEngine("Muisti", muisti.dense, filtered, 0.0, muisti.dense_bytes)


def _peers(bed: Bed, vectors: Vectors) -> Iterator[DenseEngine]:
    for name in PEERS if bed.peers else PEERS[:1]:
        yield from importlib.import_module(f"loadtests.peers.{name}").engines(vectors, bed.embedded, slow=bed.slow)


def _selection(percent: int, groups: Found) -> Selection:
    mask = groups < percent
    return Selection(percent, groups, mask, np.flatnonzero(mask))


def _measured(
    engines: list[DenseEngine], vectors: Vectors, directions: Vectors, queries: int, selection: Selection | None
) -> list[dict[str, Any]]:
    ready: list[Engine[Found]] = []
    for engine in engines:
        search = engine.search if selection is None else engine.filtered and engine.filtered(selection)
        if search:
            ready.append(Engine(engine.name, _asking(search, directions), engine.every))
    times = interleaved(ready, queries)
    recall = _recall(times, vectors, directions, selection)
    built = {engine.name: {"build seconds": engine.seconds, "bytes": engine.bytes} for engine in engines}
    return [
        {"name": name, **measured.summary(), "recall": recall[name], **built[name]} for name, measured in times.items()
    ]


def _asking(search: Search, directions: Vectors) -> Any:
    return lambda number: search(directions[number], K)


def _recall(
    times: dict[str, Times[Found]], vectors: Vectors, directions: Vectors, selection: Selection | None
) -> dict[str, float]:
    """The share of the K wanted that an engine returned with a score that reaches the exact K-th, within `SAME`."""
    shares: dict[str, list[float]] = {name: [] for name in times}
    for number in sorted({number for measured in times.values() for number in measured.answers}):
        scores = vectors @ directions[number]
        if selection is not None:
            scores[~selection.mask] = -np.inf
        wanted = min(K, int(np.count_nonzero(scores > -np.inf)))
        kth = np.partition(scores, -wanted)[-wanted]
        for name, measured in times.items():
            if number in measured.answers:
                hits = np.unique(measured.answers[number])
                hits = hits[(hits >= 0) & (hits < len(vectors))]
                good = int(np.count_nonzero(scores[hits] >= kth - SAME))
                shares[name].append(min(good, wanted) / wanted)
    return {name: float(np.mean(found)) for name, found in shares.items()}
