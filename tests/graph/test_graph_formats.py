"""Exported graphs, read back by other programs."""

import io
import json
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any

import networkx
import pydot
import pytest
from graphglot.dialect import Dialect
from hypothesis import given
from hypothesis import strategies as st
from rdflib import RDF, Graph, Literal, Namespace

from muisti.core.graph.model import Edge, Node
from muisti.core.model.choices import ENTITY_KINDS, TIE_KINDS
from muisti.service.graph.formats import FORMATS, GRAPH_FORMATS, VOCABULARY, GraphFormat, closed, exported, node_of
from tests.examples import examples

AT = datetime(2026, 5, 4, 12, 30, tzinfo=UTC)
ANN = Node(id="a1", name='Ann "Annie" O\'Hara', kind="person", mentions=3, aliases=("Annie", "A. O'Hara"))
ACME = Node(id="b2", name="R&D <Acme>\nCorp \\ Co", kind="organisation", mentions=1)
WORKS = Edge(source="a1", target="b2", kind="works_at", memory="m1", valid_from=AT)
LIKES = Edge(source="a1", literal="dark roast", kind="likes", memory="m2", confidence=0.8)
LIKES_NOT = Edge(source="b2", literal="dark roast", kind="likes", negative=True, memory="m3")
TOGETHER = Edge(source="a1", target="b2", kind="mentioned_with", weight=4)
NODES, EDGES = (ANN, ACME), (WORKS, LIKES, LIKES_NOT, TOGETHER)

OURS, SCHEMA = Namespace(VOCABULARY), Namespace("http://schema.org/")

names = st.text(max_size=30)
any_nodes = st.lists(
    st.builds(
        Node, id=st.uuids().map(str), name=names, kind=st.sampled_from(ENTITY_KINDS), mentions=st.integers(0, 10**6),
        confidence=st.floats(0, 1), aliases=st.lists(names, max_size=3).map(tuple),
    ),
    min_size=1, max_size=5, unique_by=lambda node: node.id,
)  # fmt: skip


@st.composite
def graphs(draw: st.DrawFn) -> tuple[list[Node], list[Edge]]:
    nodes = draw(any_nodes)
    ids = st.sampled_from([node.id for node in nodes])
    ends = st.one_of(st.builds(dict, target=ids), st.builds(dict, literal=names))
    edges = st.builds(
        lambda source, end, kind, negative: Edge(source=source, kind=kind, negative=negative, memory="m", **end), ids,
        ends, st.sampled_from(TIE_KINDS), st.booleans(),
    )  # fmt: skip
    return nodes, draw(st.lists(edges, max_size=6))


def written(name: GraphFormat, nodes: Sequence[Node] = NODES, edges: Sequence[Edge] = EDGES) -> bytes:
    return b"".join(exported(name, nodes, edges))


def counted(nodes: Sequence[Node], edges: Sequence[Edge]) -> tuple[int, int]:
    """Return the numbers of nodes and edges of a graph in which words are nodes."""
    parts = [*closed(nodes, edges)]
    return sum(isinstance(part, Node) for part in parts), sum(isinstance(part, Edge) for part in parts)


def test_words_become_a_node_once():
    assert counted(NODES, EDGES) == (3, 4)
    parts = [*closed(NODES, EDGES)]
    assert [part.target for part in parts if isinstance(part, Edge)] == ["b2", *[node_of("dark roast").id] * 2, "b2"]


@pytest.mark.parametrize("name", GRAPH_FORMATS)
def test_the_same_graph_gives_the_same_bytes(name: GraphFormat):
    assert written(name) == written(name)
    assert FORMATS[name].suffix.startswith(".")


@pytest.mark.parametrize("name", GRAPH_FORMATS)
def test_a_graph_without_nodes_is_a_whole_document(name: GraphFormat):
    text = written(name, (), ()).decode()
    assert text.endswith("\n")
    if name in ("json", "cytoscape", "json-ld"):
        assert [*json.loads(text).values()][-1] == []


@given(graphs())
def test_networkx_reads_graphml(graph: tuple[list[Node], list[Edge]]):
    read: Any = networkx.read_graphml(io.BytesIO(written("graphml", *graph)), force_multigraph=True)
    assert (read.number_of_nodes(), read.number_of_edges()) == counted(*graph)
    assert {read.nodes[node.id]["mentions"] for node in graph[0]} == {node.mentions for node in graph[0]}


def test_networkx_reads_names_and_values_as_they_were():
    read: Any = networkx.read_graphml(io.BytesIO(written("graphml")), force_multigraph=True)
    assert read.nodes["a1"] == {
        "name": ANN.name, "kind": "person", "mentions": 3, "confidence": 1.0, "aliases": "Annie\nA. O'Hara",
    }  # fmt: skip
    assert read.nodes["b2"]["name"] == ACME.name
    assert sorted(data["kind"] for _, _, data in read.edges(data=True) if data["negative"]) == ["likes"]


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_a_parser_of_dot_reads_labels_and_edges():
    (graph,) = pydot.graph_from_dot_data(written("dot").decode()) or []
    assert (len(graph.get_nodes()), len(graph.get_edges())) == (3, 4)
    assert sorted(edge.get("label") for edge in graph.get_edges()) == [
        '"likes"', '"mentioned_with"', '"not likes"', '"works_at"',
    ]  # fmt: skip


NASTY = (
    "it's", 'say "no"', "back\\slash\\'", "line\nbreak\r\ttab", "\u2028", "東京 🗼", "{} ; // --", "$x", "\x00", "",
)  # fmt: skip


def test_a_parser_of_cypher_reads_every_statement():
    nodes = [Node(id=f"n{n}", name=name, kind="other", aliases=(name,)) for n, name in enumerate(NASTY)]
    edges = [Edge(source="n0", literal=name, kind="likes", memory="m") for name in NASTY]
    statements = written("cypher", [*NODES, *nodes], [*EDGES, *edges]).decode().split("\n")[:-1]
    dialect = Dialect.get_or_raise("neo4j")
    assert all(len(dialect.parse(statement)) == 1 for statement in statements)
    found = (sum(one.startswith("MERGE") for one in statements), sum(one.startswith("MATCH") for one in statements))
    assert found == counted([*NODES, *nodes], [*EDGES, *edges])


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
@examples(20)
@given(graphs())
def test_a_processor_of_json_ld_finds_all_objects(graph: tuple[list[Node], list[Edge]]):
    read = Graph().parse(data=written("json-ld", *graph), format="json-ld")
    assert len([*read.subjects(RDF.type, OURS.Entity)]) == len(graph[0])
    assert len([*read.subjects(RDF.type, OURS.Relation)]) == len(graph[1])
    assert {str(one) for one in read.objects(None, OURS.literal)} == {
        edge.literal for edge in graph[1] if edge.literal is not None
    }


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_json_ld_uses_the_terms_of_schema_org():
    read = Graph().parse(data=written("json-ld"), format="json-ld")
    (ann,) = read.subjects(SCHEMA.name, Literal(ANN.name))
    assert {*read.objects(ann, RDF.type)} == {OURS.Entity, SCHEMA.Person}
    assert {str(one) for one in read.objects(ann, SCHEMA.alternateName)} == {*ANN.aliases}
    (works,) = read.subjects(OURS.kind, Literal("works_at"))
    assert read.value(works, OURS.subject) == ann
    assert read.value(works, SCHEMA.validFrom) == Literal(AT)


@given(graphs())
def test_json_holds_each_node_and_edge_as_it_is(graph: tuple[list[Node], list[Edge]]):
    read = json.loads(written("json", *graph))
    assert [node["name"] for node in read["nodes"]] == [node.name for node in graph[0]]
    assert [(edge.get("target"), edge.get("literal")) for edge in read["edges"]] == [
        (edge.target, edge.literal) for edge in graph[1]
    ]


def test_cytoscape_gets_every_element_with_an_id_of_its_own():
    elements = json.loads(written("cytoscape"))["elements"]
    ids = [element["data"]["id"] for element in elements]
    assert len({*ids}) == len(ids) == 7
    assert [element["group"] for element in elements].count("nodes") == 3
