"""Graphs as statements: Cypher for Neo4j, and DOT for Graphviz."""

from collections.abc import Iterable, Iterator, Mapping

from muisti.core.model.graph import Edge, Node
from muisti.service.formats.graphs.closing import closed
from muisti.service.formats.graphs.marks import moment

_QUOTED = str.maketrans({"\\": "\\\\", "'": "\\'", "\n": "\\n", "\r": "\\r", "\t": "\\t", "\x00": "\ufffd"})
_IN_DOT = str.maketrans({"\\": "\\\\", '"': '\\"', "\n": "\\n", "\r": "", "\x00": "\ufffd"})


def cypher(nodes: Iterable[Node], edges: Iterable[Edge]) -> Iterator[str]:
    """Yield statements of Cypher, one in a line. Run twice, they change nothing the second time.

    A node has the label `Entity`, and that of its kind; a relation has its kind in capitals as its type.
    """
    yield "CREATE CONSTRAINT muisti_entity IF NOT EXISTS FOR (n:Entity) REQUIRE n.id IS UNIQUE;\n"
    for part in closed(nodes, edges):
        if isinstance(part, Node):
            members = {"name": part.name, "kind": part.kind, "mentions": part.mentions, "confidence": part.confidence}
            values = _map({**members, "aliases": list(part.aliases) or None})
            yield f"MERGE (n:Entity {{id: {_quoted(part.id)}}}) SET n:{part.kind.capitalize()}, n += {values};\n"
        else:
            ends = f"MATCH (a:Entity {{id: {_quoted(part.source)}}}), (b:Entity {{id: {_quoted(part.target or '')}}})"
            key = _map({"memory": part.memory or "", "negative": part.negative})
            yield f"{ends} MERGE (a)-[r:{part.kind.upper()} {key}]->(b) SET r += {_map(_of_edge(part))};\n"


def dot(nodes: Iterable[Node], edges: Iterable[Edge]) -> Iterator[str]:
    """Yield a directed graph in DOT. Ties of entities that are mentioned together have no arrow."""
    yield "digraph muisti {\n"
    for part in closed(nodes, edges):
        if isinstance(part, Node):
            shape = ", shape=box" if part.kind == "text" else ""
            yield f"  {_dotted(part.id)} [label={_dotted(part.name)}, kind={_dotted(part.kind)}{shape}];\n"
        else:
            plain = ", dir=none, style=dotted" if part.kind == "mentioned_with" else ""
            label = f"not {part.kind}" if part.negative else part.kind
            ends = f"{_dotted(part.source)} -> {_dotted(part.target or '')}"
            yield f"  {ends} [label={_dotted(label)}, weight={part.weight}{plain}];\n"
    yield "}\n"


def _of_edge(edge: Edge) -> dict[str, object]:
    return {
        "weight": edge.weight,
        "confidence": edge.confidence,
        "valid_from": moment(edge.valid_from),
        "valid_to": moment(edge.valid_to),
    }


def _map(values: Mapping[str, object]) -> str:
    return "{" + ", ".join(f"{name}: {_value(value)}" for name, value in values.items() if value is not None) + "}"


def _value(value: object) -> str:
    match value:
        case bool():
            return str(value).lower()
        case int() | float():
            return repr(value)
        case list():
            return "[" + ", ".join(map(_value, value)) + "]"
        case _:
            return _quoted(str(value))


def _quoted(text: str) -> str:
    return f"'{text.translate(_QUOTED)}'"


def _dotted(text: str) -> str:
    return f'"{text.translate(_IN_DOT)}"'
