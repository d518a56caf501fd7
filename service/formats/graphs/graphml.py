"""Graphs in GraphML, which networkx, Gephi, yEd and igraph read. See http://graphml.graphdrawing.org."""

from collections.abc import Iterable, Iterator, Mapping

from muisti.core.model.graph import Edge, Node
from muisti.service.formats.graphs.closing import closed
from muisti.service.formats.graphs.marks import moment, xml

_TYPES: Mapping[str, str] = {"mentions": "int", "weight": "int", "confidence": "double", "negative": "boolean"}
_OF_NODES = ("name", "kind", "mentions", "confidence", "aliases")
_OF_EDGES = ("kind", "weight", "negative", "confidence", "memory", "valid_from", "valid_to")


def graphml(nodes: Iterable[Node], edges: Iterable[Edge]) -> Iterator[str]:
    """Yield the document line by line. Aliases are one text, with a line for each."""
    yield '<?xml version="1.0" encoding="UTF-8"?>\n<graphml xmlns="http://graphml.graphdrawing.org/xmlns">\n'
    for domain, names in (("node", _OF_NODES), ("edge", _OF_EDGES)):
        for name in names:
            kind = _TYPES.get(name, "string")
            yield f'<key id="{domain}_{name}" for="{domain}" attr.name="{name}" attr.type="{kind}"/>\n'
    yield '<graph id="muisti" edgedefault="directed">\n'
    number = 0
    for part in closed(nodes, edges):
        if isinstance(part, Node):
            yield f'<node id="{xml(part.id)}">{"".join(_data("node", _values_of_node(part)))}</node>\n'
        else:
            ends = f'source="{xml(part.source)}" target="{xml(part.target or "")}"'
            yield f'<edge id="e{number}" {ends}>{"".join(_data("edge", _values_of_edge(part)))}</edge>\n'
            number += 1
    yield "</graph>\n</graphml>\n"


def _values_of_node(node: Node) -> dict[str, object]:
    aliases = "\n".join(node.aliases) or None
    return {
        "name": node.name,
        "kind": node.kind,
        "mentions": node.mentions,
        "confidence": node.confidence,
        "aliases": aliases,
    }


def _values_of_edge(edge: Edge) -> dict[str, object]:
    values: dict[str, object] = {name: getattr(edge, name) for name in _OF_EDGES}
    return values | {"valid_from": moment(edge.valid_from), "valid_to": moment(edge.valid_to)}


def _data(domain: str, values: Mapping[str, object]) -> Iterator[str]:
    for name, value in values.items():
        if value is not None:
            text = str(value).lower() if isinstance(value, bool) else str(value)
            yield f'<data key="{domain}_{name}">{xml(text)}</data>'
