"""numpy: one matrix product and a partition. Exact, and what memory bandwidth allows float32."""

import numpy as np

from loadtests.peers.dense import DenseEngine, Found, Search, Selection
from loadtests.shelf import Shelf
from muisti.core.embedding.vectors import Vectors


def engines(vectors: Vectors, shelf: Shelf, *, slow: bool) -> list[DenseEngine]:
    def filtered(selection: Selection) -> Search:
        rows = selection.rows
        if selection.percent >= 50:  # gathering half of the rows costs more than computing all
            return lambda query, k: _best(np.where(selection.mask, vectors @ query, -np.inf), k)
        return lambda query, k: rows[_best(vectors[rows] @ query, k)]

    return [DenseEngine("numpy float32", lambda query, k: _best(vectors @ query, k), filtered, 0.0, vectors.nbytes)]


def _best(scores: Vectors, k: int) -> Found:
    best = np.argpartition(scores, -k)[-k:]
    return best[np.argsort(-scores[best])]
