"""Hits that are chunks have their place in the text of their document, at the point that was searched."""

import random
from collections.abc import Iterator

import pytest
from msgspec.structs import replace

from muisti.core.engine import Engine
from muisti.core.model.places import DocumentName
from muisti.core.model.values import Draft
from muisti.core.query.points import AsOf, Point
from muisti.core.query.query import Query
from muisti.core.read.reading import find_space
from muisti.core.store.sql import chunks, version_rows
from tests.core.fakes import Clock, WordEncoder
from tests.documents.made import edited, incoming, prose
from tests.stores import Stores, migrated

SPACE = "default"
ASKED = Query(text="w1 w2 w3", mode="keyword", limit=50)


@pytest.fixture
def engine(stores: Stores) -> Iterator[Engine]:
    with Engine(migrated(stores()), WordEncoder(), Clock()) as opened:
        yield opened


def check(engine: Engine, text: str, as_of: AsOf | None = None) -> None:
    """Compare the places of hits with the text, and with the list of chunks."""
    listed = engine.owner.documents.chunks(SPACE, DocumentName(name="a.md"), limit=100, as_of=as_of)
    chunks = {one.memory.id: one for one in listed.items}
    hits = engine.owner.read.search(SPACE, replace(ASKED, as_of=as_of)).hits
    assert hits
    for hit in hits:
        place, chunk = hit.place, chunks[hit.memory.id]
        assert place is not None
        assert text[place.start - place.overlap : place.stop] == hit.memory.content
        assert (place.document, place.path) == (listed.document.memory.id, "a.md")
        assert (place.start, place.stop) == (chunk.start, chunk.stop)
        assert (place.first_line, place.last_line) == (chunk.first_line, chunk.last_line)
        assert text[: place.start].count("\n") + 1 == place.first_line


@pytest.mark.parametrize("seed", range(2))
def test_a_hit_says_where_it_stands_now_and_then(engine: Engine, seed: int):
    rng = random.Random(seed)
    text = prose(rng, 40)
    history: list[tuple[str, int]] = []
    for _ in range(5):
        engine.owner.documents.put(SPACE, [incoming("a.md", text)])
        check(engine, text)
        history.append((text, engine.spaces.get(SPACE).at.number))
        text = edited(rng, text)
    for then, number in history:
        check(engine, then, AsOf(number=number))


def test_other_memories_have_no_place(engine: Engine):
    engine.owner.write.add(SPACE, [Draft(content="w1 w2 w3, remembered")])
    engine.owner.documents.put(SPACE, [incoming("a.md", prose(random.Random(1), 20))])
    hits = engine.owner.read.search(SPACE, ASKED).hits
    assert {hit.memory.kind: hit.place is None for hit in hits} == {"memory": True, "chunk": False}


@pytest.mark.one_store
def test_lengths_come_from_the_index(engine: Engine):
    """Reading the texts of all chunks before a hit would take milliseconds for a long document."""
    engine.owner.documents.put(SPACE, [incoming("a.md", prose(random.Random(1), 20))])
    space = find_space(engine._database, SPACE)
    chunk = engine.owner.read.search(SPACE, ASKED).hits[0].memory
    statement = chunks.ends(space, [version_rows.raw(chunk.id)], Point(10, 0))
    plan = engine._database.read([statement._replace(sql=f"EXPLAIN QUERY PLAN {statement.sql}")])
    assert any("INDEX versions_lengths" in str(row[3]) for row in plan[0])
