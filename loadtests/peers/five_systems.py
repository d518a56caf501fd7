"""The design of the systems that Muisti replaces: SQLite FTS5 and vectors in BLOBs, joined by reciprocal ranks.

`per row` reads every BLOB and takes a dot product at a time; `at its best` fetches all and multiplies once. Both get
Muisti's encoder, which is several hundred times faster than the transformer that they run.
"""

import sqlite3
from collections.abc import Callable, Sequence
from contextlib import closing
from pathlib import Path

import numpy as np

from loadtests.peers.fts5_peer import words
from loadtests.shelf import Shelf
from muisti.core.embedding.encoder import Encoder
from muisti.core.embedding.vectors import Vectors

POOL, K = 60, 60
Search = Callable[[str, int], list[int]]
Dense = Callable[[Vectors], list[int]]


def searches(texts: Sequence[str], vectors: Vectors, encoder: Encoder, shelf: Shelf) -> dict[str, Search]:
    """Both forms, over one database."""
    path, _ = shelf.kept("five.db", lambda path: _build(texts, vectors, path))
    connection = sqlite3.connect(path)

    def per_row(query: Vectors) -> list[int]:
        rows = connection.execute("SELECT id, embedding FROM memories")
        scored = [(float(np.dot(np.frombuffer(blob, np.float32), query)), row) for row, blob in rows]
        return [row for _, row in sorted(scored, reverse=True)[:POOL]]

    def at_once(query: Vectors) -> list[int]:
        rows = connection.execute("SELECT id, embedding FROM memories").fetchall()
        scores = np.frombuffer(b"".join([blob for _, blob in rows]), np.float32).reshape(len(rows), -1) @ query
        best = np.argpartition(scores, -POOL)[-POOL:]
        return [rows[place][0] for place in best[np.argsort(-scores[best])]]

    def hybrid(dense: Dense) -> Search:
        return lambda question, k: _fused(connection, encoder, dense, question, k)

    return {"per row": hybrid(per_row), "at its best": hybrid(at_once)}


def _fused(connection: sqlite3.Connection, encoder: Encoder, dense: Dense, question: str, k: int) -> list[int]:
    ranked = "SELECT rowid FROM memories_fts WHERE memories_fts MATCH ? ORDER BY bm25(memories_fts) LIMIT ?"
    rankings = [
        dense(encoder.encode_query(question)),
        [row for (row,) in connection.execute(ranked, (words(question), POOL))],
    ]
    scores: dict[int, float] = {}
    for ranking in rankings:
        for rank, row in enumerate(ranking, start=1):
            scores[row] = scores.get(row, 0.0) + 1 / (K + rank)
    best = sorted(scores, key=lambda row: -scores[row])[:k]
    marks = ",".join("?" * len(best))
    found = {row[0]: row for row in connection.execute(f"SELECT id, content FROM memories WHERE id IN ({marks})", best)}
    return [found[row][0] for row in best]


def _build(texts: Sequence[str], vectors: Vectors, path: Path) -> None:
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute("PRAGMA journal_mode = off")
        connection.execute("CREATE TABLE memories (id INTEGER PRIMARY KEY, content TEXT, embedding BLOB)")
        connection.execute(
            "CREATE VIRTUAL TABLE memories_fts USING fts5 (content, content='memories', content_rowid='id', "
            "tokenize='porter unicode61')"
        )
        rows = ((row, text, vector.tobytes()) for row, (text, vector) in enumerate(zip(texts, vectors, strict=True)))
        connection.executemany("INSERT INTO memories VALUES (?, ?, ?)", rows)
        connection.execute("INSERT INTO memories_fts (memories_fts) VALUES ('rebuild')")
