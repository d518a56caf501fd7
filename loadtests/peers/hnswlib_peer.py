"""hnswlib: the usual HNSW graph, one build asked with several `ef`."""

import os
from collections.abc import Callable
from pathlib import Path

import hnswlib
import numpy as np

from loadtests.peers.dense import DenseEngine, Search, Selection
from loadtests.shelf import Shelf
from muisti.core.embedding.vectors import Vectors

LINKS, CONSTRUCTION = 16, 200  # as in its README
EFS = (100, 200, 400, 800)
ROWS = 100_000  # more take long to build
NAME = f"hnswlib-{LINKS}-{CONSTRUCTION}"


def engines(vectors: Vectors, shelf: Shelf, *, slow: bool) -> list[DenseEngine]:
    if not (slow or len(vectors) <= ROWS or shelf.has(NAME)):
        return []
    path, seconds = shelf.kept(NAME, lambda path: _build(vectors, path))
    index = hnswlib.Index("ip", vectors.shape[1])
    index.load_index(str(path))
    index.set_num_threads(1)
    return [
        DenseEngine(
            f"hnswlib ef {ef}",
            _search(index, ef),
            _filtered(index, ef) if ef == EFS[0] else None,  # a callback in Python dominates, whatever `ef`
            seconds,
            path.stat().st_size,
        )
        for ef in EFS
    ]


def _search(index: hnswlib.Index, ef: int) -> Search:
    def answer(query: Vectors, k: int) -> np.ndarray:
        index.set_ef(ef)
        return index.knn_query(query, k, num_threads=1)[0][0].astype(np.int64)

    return answer


def _filtered(index: hnswlib.Index, ef: int) -> Callable[[Selection], Search]:
    def select(selection: Selection) -> Search:
        allowed = selection.mask.tolist()  # a list answers a callback fastest

        def answer(query: Vectors, k: int) -> np.ndarray:
            index.set_ef(ef)
            return index.knn_query(query, k, num_threads=1, filter=allowed.__getitem__)[0][0].astype(np.int64)

        return answer

    return select


def _build(vectors: Vectors, path: Path) -> None:
    index = hnswlib.Index("ip", vectors.shape[1])
    index.init_index(len(vectors), ef_construction=CONSTRUCTION, M=LINKS, random_seed=1)
    index.set_num_threads(os.cpu_count() or 1)
    index.add_items(vectors)
    index.save_index(str(path))
