"""The fast way to fill a database stores what the product stores."""

import time
from collections import Counter
from pathlib import Path

import apsw

from loadtests.fill import SPACE, fill, group_of
from muisti.core.embedding.encoder import StaticEncoder
from muisti.core.engine import Engine
from muisti.core.model.spaces import CONTENT_ONLY
from muisti.core.model.values import Draft
from muisti.core.query.query import Query
from muisti.core.store.file.database import FileDatabase

TEXTS = [f"note {n}: the deploy of service {n % 7} runs on Friday" for n in range(30)]
TABLES = {
    "versions": "born, version, kind, content, content_hash, type, status, importance, tags, metadata, tokens",
    "passages": "number, start, stop, analyzer, terms",
    "embeddings": "number, vector",
    "metadata": "path, position, type, value",
    "changes": "seq, kind, version",
    "generations": "hash, model, dimensions",
}


def test_filled_is_as_added(tmp_path: Path):
    fill(tmp_path / "filled.db", TEXTS)
    with Engine(FileDatabase(tmp_path / "added.db"), StaticEncoder(), lambda: time.time_ns() // 1000) as engine:
        engine.spaces.create(SPACE, CONTENT_ONLY)
        engine.owner.write.add(
            SPACE, [Draft(content=text, metadata={"a": group_of(n)}) for n, text in enumerate(TEXTS)]
        )
    filled, added = (apsw.Connection(str(tmp_path / name)) for name in ("filled.db", "added.db"))
    for table, columns in TABLES.items():
        query = f"SELECT {columns} FROM {table}"
        assert filled.execute(query).fetchall() == added.execute(query).fetchall(), table
    filled.close()
    with Engine(FileDatabase(tmp_path / "filled.db"), StaticEncoder(), lambda: time.time_ns() // 1000) as engine:
        assert engine.owner.read.search(SPACE, Query(text="note 17")).hits[0].memory.content == TEXTS[17]


def test_a_broken_off_filling_goes_on(tmp_path: Path):
    fill(tmp_path / "part.db", TEXTS[:10])
    (tmp_path / "part.db").rename(tmp_path / "whole.unfinished")
    fill(tmp_path / "whole.db", TEXTS)
    counts = Counter(map(group_of, range(10_000)))
    assert len(counts) == 100 and min(counts.values()) >= 95 and max(counts.values()) <= 105
    connection = apsw.Connection(str(tmp_path / "whole.db"))
    assert [row[0] for row in connection.execute("SELECT content FROM versions ORDER BY born")] == TEXTS
    connection.close()
