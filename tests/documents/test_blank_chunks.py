"""Chunks of blanks keep the text of their document whole, and no search finds them."""

from pathlib import Path

import pytest

from muisti.core.documents.view import Chunking, Held, Job, Reading
from muisti.core.engine import Engine
from muisti.core.model.places import DocumentName
from muisti.core.query.query import Query
from tests.core.fakes import Clock, WordEncoder
from tests.stores import at

TEXT = "The harbour opens on Tuesdays.\n" + "\n" * 9_000 + "The pier is closed.\n"


@pytest.mark.parametrize("strategy", ["auto", "fixed", "recursive"])
def test_blank_chunks_join_to_the_text_and_are_no_hits(strategy: str, tmp_path: Path):
    reading = Reading(chunking=Chunking(strategy=strategy, size=64, overlap=0))  # pyright: ignore[reportArgumentType]
    name = DocumentName(name="harbour.txt")
    with Engine(at(tmp_path / "muisti.db").open(), WordEncoder(), Clock()) as engine:
        with Held([TEXT.encode()]) as held:
            engine.owner.documents.ingest("default", name.name, held, Job(reading=reading))
        chunks = [one.memory.content for one in engine.owner.documents.chunks("default", name, limit=100).items]
        assert any(not text.strip() for text in chunks) and "".join(chunks) == TEXT
        for mode in ("hybrid", "semantic", "keyword", "recent"):
            query = Query(text="harbour pier", mode=mode, limit=100)  # pyright: ignore[reportArgumentType]
            hits = [hit.memory.content for hit in engine.owner.read.search("default", query).hits]
            assert hits and all(text.strip() for text in hits), mode
