"""SQLite FTS5 with the porter stemmer: `ORDER BY rank`, which its documentation calls the faster way, and `bm25()`."""

import re
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path

import apsw
import numpy as np

from loadtests.peers.dense import patience
from loadtests.peers.lexical import LexicalEngine, Search
from loadtests.shelf import Shelf

WORDS = re.compile(r"\w+")


def words(question: str) -> str:
    """The question's words as an FTS5 expression, any of which may match."""
    return " OR ".join(f'"{word}"' for word in WORDS.findall(question))


def engines(texts: Sequence[str], shelf: Shelf) -> list[LexicalEngine]:
    path, seconds = shelf.kept("fts5.db", lambda path: _build(texts, path))
    connection = apsw.Connection(str(path), flags=apsw.SQLITE_OPEN_READONLY)
    connection.pragma("mmap_size", 4 << 30)

    def ordered(order: str) -> Search:
        sql = f"SELECT rowid FROM texts WHERE texts MATCH ? ORDER BY {order} LIMIT ?"

        def search(question: str, k: int) -> np.ndarray:
            return np.array([row for (row,) in connection.execute(sql, (words(question), k))], np.int64)

        return search

    every, size = patience(len(texts), 100_000), path.stat().st_size
    return [
        LexicalEngine("FTS5, order by bm25", ordered("bm25(texts)"), seconds, size, every),
        LexicalEngine("FTS5, order by rank", ordered("rank"), seconds, size, every),
    ]


def _build(texts: Sequence[str], path: Path) -> None:
    with closing(apsw.Connection(str(path))) as connection:
        connection.pragma("journal_mode", "off")
        connection.execute("CREATE VIRTUAL TABLE texts USING fts5 (text, content='', tokenize='porter unicode61')")
        with connection:
            connection.executemany("INSERT INTO texts (rowid, text) VALUES (?, ?)", enumerate(texts))
            connection.execute("INSERT INTO texts (texts) VALUES ('optimize')")
