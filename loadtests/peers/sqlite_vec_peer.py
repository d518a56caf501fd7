"""sqlite-vec: exact cosine inside SQLite, with the group as a metadata column. In memory, through apsw."""

import time
from collections.abc import Sequence

import apsw
import numpy as np
import sqlite_vec

from loadtests.fill import group_of
from loadtests.peers.dense import DenseEngine, Search, Selection, patience
from loadtests.shelf import Shelf
from muisti.core.embedding.vectors import Vectors

NEAREST = "SELECT rowid FROM texts WHERE embedding MATCH ? AND k = ?"


def engines(vectors: Vectors, shelf: Shelf, *, slow: bool) -> list[DenseEngine]:
    connection = apsw.Connection(":memory:")
    connection.enable_load_extension(True)
    connection.load_extension(sqlite_vec.loadable_path())
    connection.execute(
        f"CREATE VIRTUAL TABLE texts USING vec0 (embedding float[{vectors.shape[1]}] distance_metric=cosine, a integer)"
    )
    began = time.perf_counter()
    with connection:
        rows = ((row, vector.tobytes(), group_of(row)) for row, vector in enumerate(vectors))
        connection.executemany("INSERT INTO texts (rowid, embedding, a) VALUES (?, ?, ?)", rows)
    seconds = time.perf_counter() - began

    def ask(where: str, *values: int) -> Search:
        def answer(query: Vectors, k: int) -> np.ndarray:
            found: Sequence[tuple[int]] = connection.execute(NEAREST + where, (query.tobytes(), k, *values)).fetchall()
            return np.array([row for (row,) in found], np.int64)

        return answer

    def filtered(selection: Selection) -> Search:
        return ask(" AND a < ?", selection.percent)

    pages, size = (connection.pragma(name) for name in ("page_count", "page_size"))
    every = patience(len(vectors), 10_000)
    return [DenseEngine("sqlite-vec", ask(""), filtered, seconds, pages * size, every)]
