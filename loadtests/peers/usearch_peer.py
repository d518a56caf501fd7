"""usearch: exact search by SIMD over float32 and int8, and its HNSW graph. No filter in its Python interface."""

from pathlib import Path

import numpy as np
from usearch.index import Index, MetricKind, search

from loadtests.peers.dense import DenseEngine, Search, patience
from loadtests.shelf import Shelf
from muisti.core.embedding.vectors import Vectors

HNSW_ROWS = 100_000  # more take long to build


def engines(vectors: Vectors, shelf: Shelf, *, slow: bool) -> list[DenseEngine]:
    every = patience(len(vectors), 100_000)
    codes = _int8(vectors)
    found = [
        DenseEngine("usearch exact f32", _exact(vectors, MetricKind.IP, False), None, 0.0, vectors.nbytes, every),
        DenseEngine("usearch exact i8", _exact(codes, MetricKind.Cos, True), None, 0.0, codes.nbytes, every),
    ]
    name = "usearch-hnsw-16-128"
    if slow or len(vectors) <= HNSW_ROWS or shelf.has(name):
        path, seconds = shelf.kept(name, lambda path: _build(vectors, path))
        index = Index.restore(path)
        assert index is not None
        index.expansion_search = 64

        def hnsw(query: Vectors, k: int) -> np.ndarray:
            return index.search(query, k, threads=1).keys.astype(np.int64)

        found.append(DenseEngine("usearch HNSW 64", hnsw, None, seconds, path.stat().st_size))
    return found


def _exact(matrix: np.ndarray, metric: MetricKind, coded: bool) -> Search:
    def answer(query: Vectors, k: int) -> np.ndarray:
        asked = _int8(query[None, :])[0] if coded else query
        return search(matrix, asked, k, metric, exact=True, threads=1).keys.astype(np.int64)

    return answer


def _int8(vectors: Vectors) -> np.ndarray:
    """Each row scaled to the range of int8: cosine does not see the scale."""
    return np.round(vectors * (127 / np.abs(vectors).max(axis=1, keepdims=True, initial=1e-9))).astype(np.int8)


def _build(vectors: Vectors, path: Path) -> None:
    index = Index(ndim=vectors.shape[1], metric=MetricKind.IP, dtype="f32", connectivity=16, expansion_add=128)
    index.add(np.arange(len(vectors)), vectors)
    index.save(path)
