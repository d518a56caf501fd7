"""Documents of Zapomni and Hazina keep their chunks, and are documents for every call."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from muisti.core.documents.model import joined
from muisti.core.documents.view import Filter, Held, Job
from muisti.core.engine import Engine
from muisti.core.model.places import DocumentName
from muisti.core.query.query import Query
from muisti.service.formats.importers.chunked import cuts_of
from tests.core.fakes import Clock, WordEncoder
from tests.service.formats.importers.bringing import bring
from tests.service.formats.importers.fixtures import FIXTURES
from tests.stores import at


@pytest.fixture
def engine(tmp_path: Path) -> Iterator[Engine]:
    with Engine(at(tmp_path / "muisti.db").open(), WordEncoder(), Clock()) as opened:
        yield opened


def imported(engine: Engine, name: str, folder: Path) -> None:
    fixture = next(one for one in FIXTURES if one.id == name)
    path = folder / fixture.name
    fixture.make(path)
    bring(engine, path, atomic=False)


def text(engine: Engine, path: str) -> str:
    _, pieces = engine.owner.documents.text("default", DocumentName(name=path))
    return "".join(pieces)


def test_entities_and_relations_of_zapomni_are_in_the_graph(engine: Engine, tmp_path: Path):
    edges = [("e2", "e1", "CREATED_BY"), ("e1", "e3", "WORKS_AT"), ("e3", "e2", "PART_OF")]
    named = [("e1", "guido van rossum", "PERSON"), ("e2", "python", "TECHNOLOGY"), ("e3", "CWI", "ORG")]
    nodes = [
        {"id": id_, "labels": ["Entity"], "properties": {"id": id_, "name": name, "type": kind}}
        for id_, name, kind in named
    ]
    ties = [
        {"id": f"r{n}", "source": start, "target": end, "type": how, "properties": {}}
        for n, (start, end, how) in enumerate(edges)
    ]
    path = tmp_path / "graph.json"
    path.write_text(json.dumps({"nodes": nodes, "edges": ties}), "utf-8")
    bring(engine, path)
    graph = engine.owner.graph
    kinds = {"guido van rossum": "person", "python": "product", "CWI": "organisation"}
    assert {one.name: one.kind for one in graph.entities("default").items} == kinds
    told = [(one.subject.name, one.kind, one.object and one.object.name) for one in graph.relations("default").items]
    people = [("guido van rossum", "made", "python"), ("guido van rossum", "works_at", "CWI")]
    assert sorted(told) == [("CWI", "part_of", "python"), *people]
    assert graph.path("default", "CWI", "python").steps[0].kinds == ("mentioned_with", "part_of")


def test_a_memory_of_several_chunks_is_a_document_with_them(engine: Engine, tmp_path: Path):
    imported(engine, "zapomni chunks.json", tmp_path)
    documents = engine.owner.documents
    page = documents.page("default", Filter())
    assert [one.path for one in page.items] == ["srv/log/buoys.md", "srv/log/buoys.md (m3)", "zapomni/m4"]
    buoys, again, cut = page.items
    assert (buoys.memory.tags, buoys.chunks, buoys.size, buoys.media_type) == (("coast", "Buoy"), 3, 66, "text/plain")
    assert (buoys.memory.status, again.memory.status) == ("active", "deprecated")
    assert buoys.memory.metadata["zapomni"]["file_path"] == "/srv/log/buoys.md"
    assert str(buoys.memory.created_at)[:10] == "2025-03-01"
    chunks = documents.chunks("default", DocumentName(name=buoys.path)).items
    assert [(one.start, one.stop, one.overlap, one.memory.position) for one in chunks] == [
        (0, 32, 0, 0), (32, 47, 9, 1), (47, 66, 0, 2)
    ]  # fmt: skip
    assert text(engine, cut.path) == "Ropes are tarred in spring"


def test_a_document_of_a_store_has_its_texts_tags_and_format(engine: Engine, tmp_path: Path):
    imported(engine, "hazina store", tmp_path)
    documents = engine.owner.documents
    assert [one.path for one in documents.page("default", Filter()).items] == ["bare.txt", "docs/sails.md", "note"]
    sails, _ = documents.get("default", DocumentName(name="docs/sails.md"))
    assert (sails.media_type, sails.memory.tags, sails.chunks) == ("text/markdown", ("sails",), 2)
    assert text(engine, "docs/sails.md") == "# Sails\nThey are mended in winter.\nThey are hung in spring."
    hits = engine.owner.read.search("default", Query(text="hung in spring")).hits
    assert hits[0].memory.document == "docs/sails.md"


def test_an_imported_document_is_cut_anew_when_its_file_comes_and_ends_as_a_whole(engine: Engine, tmp_path: Path):
    imported(engine, "hazina store", tmp_path)
    documents = engine.owner.documents
    with Held([b"# Sails\nThey are mended in winter.\nThey are hung in spring."]) as held:
        (put,) = documents.ingest("default", "docs/sails.md", held, Job()).items
    assert (put.outcome, put.document.chunks) == ("updated", 1)
    assert documents.delete("default", DocumentName(name="note")).total == 2
    assert [one.path for one in documents.page("default", Filter()).items] == ["bare.txt", "docs/sails.md"]


@given(st.text(alphabet="ab \n.", min_size=1, max_size=60), st.integers(1, 20), st.integers(0, 19))
def test_chunks_of_any_window_join_to_the_text(content: str, size: int, overlap: int):
    step = max(1, size - overlap)
    chunks = [content[start : start + size].strip() for start in range(0, len(content), step)]
    assert joined(cuts_of(content, chunks)) == content


@given(st.lists(st.text(max_size=12), max_size=6), st.text(min_size=1, max_size=40))
def test_chunks_that_are_not_in_a_text_leave_it_whole(chunks: list[str], content: str):
    assert joined(cuts_of(content, chunks)) == content
