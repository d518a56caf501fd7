"""Ties that walks follow."""

from muisti.core.graph.usual import usual_reader
from tests.core.fakes import SPACE, add, open_engine
from tests.stores import Stores


def test_a_date_ties_nobody(stores: Stores):
    """Two memories that name the same week say nothing about each other."""
    with open_engine(stores(), graph_reader=usual_reader) as engine:
        add(engine, "Then Ann Berg met Tom Keller last week", "Then Zoe Miller flew to Oslo last week")
        graph = engine.owner.graph
        assert "last week" in {one.name for one in graph.entities(SPACE, kind="date").items}
        near = {one.entity.name for one in graph.neighbours(SPACE, "Ann Berg", depth=3).items}
        assert near == {"Tom Keller"}
        assert not graph.path(SPACE, "Ann Berg", "Zoe Miller").found
        part = graph.part(SPACE, "Ann Berg", depth=3)
        assert {node.name for node in part.nodes} == {"Ann Berg", "Tom Keller"}
        edges = [(edge.source, edge.target) for edge in graph.export(SPACE).edges() if edge.kind == "mentioned_with"]
        names = {node.id: node.name for node in graph.export(SPACE).nodes()}
        tied = {frozenset(names[end] for end in pair if end) for pair in edges}
        assert tied == {frozenset({"Ann Berg", "Tom Keller"}), frozenset({"Zoe Miller", "Oslo"})}
