"""Formats of exported graphs, declared once: media type, suffix, and the function that writes them."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Literal, get_args

from msgspec import Struct

from muisti.core.model.graph import Edge, Node
from muisti.service.formats.graphs.graphml import graphml
from muisti.service.formats.graphs.json import cytoscape, json_ld, plain
from muisti.service.formats.graphs.statements import cypher, dot

GraphFormat = Literal["json", "graphml", "cytoscape", "cypher", "json-ld", "dot"]
GRAPH_FORMATS: tuple[GraphFormat, ...] = get_args(GraphFormat)
_BLOCK = 65_536  # characters that are encoded together
Writer = Callable[[Iterable[Node], Iterable[Edge]], Iterator[str]]


class Format(Struct, frozen=True):
    """A format of exported graphs."""

    media_type: str
    suffix: str
    write: Writer


FORMATS: Mapping[GraphFormat, Format] = {
    "json": Format("application/json", ".json", plain),
    "graphml": Format("application/graphml+xml", ".graphml", graphml),
    "cytoscape": Format("application/json", ".cyjs", cytoscape),
    "cypher": Format("application/x-cypher-query", ".cypher", cypher),
    "json-ld": Format("application/ld+json", ".jsonld", json_ld),
    "dot": Format("text/vnd.graphviz", ".dot", dot),
}


def exported(name: GraphFormat, nodes: Iterable[Node], edges: Iterable[Edge]) -> Iterator[bytes]:
    """Yield the bytes of a graph in a format, as the nodes and edges come. The same graph gives the same bytes."""
    lines: list[str] = []
    size = 0
    for line in FORMATS[name].write(nodes, edges):
        lines.append(line)
        size += len(line)
        if size >= _BLOCK:
            yield _encoded(lines)
            lines, size = [], 0
    if lines:
        yield _encoded(lines)


def _encoded(lines: Iterable[str]) -> bytes:
    return "".join(lines).encode("utf-8", "replace")
