"""Formats of exported graphs, declared once: media type, suffix, and the function that writes them."""

import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from datetime import UTC, datetime
from hashlib import blake2b
from typing import Any, Literal, get_args

from msgspec import Struct
from msgspec.structs import replace

from muisti.core.graph.model import Edge, Node
from muisti.core.support.regex import regex

_NO_XML = regex("[\x00-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff\ufffe\uffff]")
_ENTITIES = str.maketrans({"&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;", "\r": "&#13;"})


def xml(text: str) -> str:
    """Return a text for an element or attribute of XML. Characters that XML has not become U+FFFD.

    >>> xml('R&D "<x>"')
    'R&amp;D &quot;&lt;x&gt;&quot;'
    """
    return _NO_XML.sub("\ufffd", text).translate(_ENTITIES)


def moment(at: datetime | None) -> str | None:
    """Return a time in RFC 3339, or None.

    >>> moment(datetime(2026, 11, 24, 9, 30, tzinfo=UTC))
    '2026-11-24T09:30:00Z'
    """
    return None if at is None else at.astimezone(UTC).isoformat().replace("+00:00", "Z")


def closed(nodes: Iterable[Node], edges: Iterable[Edge]) -> Iterator[Node | Edge]:
    """Yield the nodes, then the edges. Words that are an object become a node, once, before their first edge.

    It remembers the ids of nodes of words, and nothing else.
    """
    yield from nodes
    words: set[str] = set()
    for edge in edges:
        if edge.target is not None:
            yield edge
            continue
        node = node_of(edge.literal or "")
        if node.id not in words:
            words.add(node.id)
            yield node
        yield replace(edge, target=node.id, literal=None)


def node_of(words: str) -> Node:
    """Return the node of words that are an object. Its id is made from them.

    >>> node_of("dark roast").id
    'text-ebfeb0ada56314c8'
    """
    return Node(id=f"text-{blake2b(words.encode(), digest_size=8).hexdigest()}", name=words, kind="text")


VOCABULARY = "urn:muisti:graph:"
_ENTITY = "urn:muisti:entity:"
_MEMORY = "urn:muisti:memory:"
_TIME = "http://www.w3.org/2001/XMLSchema#dateTime"
# Terms of schema.org where it has them; `@vocab` gives our own names to the others.
CONTEXT: Mapping[str, Any] = {
    "@vocab": VOCABULARY,
    "schema": "http://schema.org/",
    "name": "schema:name",
    "aliases": {"@id": "schema:alternateName", "@container": "@set"},
    "subject": {"@type": "@id"},
    "object": {"@type": "@id"},
    "memory": {"@type": "@id"},
    "valid_from": {"@id": "schema:validFrom", "@type": _TIME},
    "valid_to": {"@id": "schema:validThrough", "@type": _TIME},
}
_CLASSES: Mapping[str, str] = {
    "person": "schema:Person",
    "organisation": "schema:Organization",
    "place": "schema:Place",
    "work": "schema:CreativeWork",
    "title": "schema:CreativeWork",
    "product": "schema:Product",
    "event": "schema:Event",
}


def plain(nodes: Iterable[Node], edges: Iterable[Edge]) -> Iterator[str]:
    """Yield a document with the lists `nodes` and `edges`, an object in each line."""
    yield '{"nodes": [\n'
    yield from _listed(map(_members, nodes))
    yield '],\n"edges": [\n'
    yield from _listed(map(_members, edges))
    yield "]}\n"


def cytoscape(nodes: Iterable[Node], edges: Iterable[Edge]) -> Iterator[str]:
    """Yield the document that `cytoscape({elements})` takes. See https://js.cytoscape.org/#notation/elements-json."""
    yield '{"elements": [\n'
    yield from _listed(_elements(closed(nodes, edges)))
    yield "]}\n"


def json_ld(nodes: Iterable[Node], edges: Iterable[Edge]) -> Iterator[str]:
    """Yield a document of JSON-LD 1.1. A relation is an object, as it has a confidence, a time and a memory."""
    yield f'{{"@context": {_text(CONTEXT)},\n"@graph": [\n'
    yield from _listed(_described(nodes, edges))
    yield "]}\n"


def _elements(parts: Iterable[Node | Edge]) -> Iterator[dict[str, Any]]:
    number = 0
    for part in parts:
        if isinstance(part, Node):
            yield {"group": "nodes", "data": {**_members(part)}}
        else:
            yield {"group": "edges", "data": {"id": f"e{number}", **_members(part)}}
            number += 1


def _described(nodes: Iterable[Node], edges: Iterable[Edge]) -> Iterator[dict[str, Any]]:
    for node in nodes:
        members = _members(node)
        yield {
            "@id": _ENTITY + members.pop("id"),
            "@type": ["Entity", *filter(None, [_CLASSES.get(node.kind)])],
            **members,
        }
    for number, edge in enumerate(edges):
        members = _members(edge)
        members["subject"] = _ENTITY + members.pop("source")
        if (target := members.pop("target", None)) is not None:
            members["object"] = _ENTITY + target
        if edge.memory is not None:
            members["memory"] = _MEMORY + edge.memory
        yield {"@id": f"urn:muisti:relation:{number}", "@type": "Relation", **members}


def _members(part: Node | Edge) -> dict[str, Any]:
    """Return the fields that say something."""
    members = _values(part, *part.__struct_fields__)
    return {name: value for name, value in members.items() if value is not None and value != ()}


def _listed(objects: Iterable[Mapping[str, Any]]) -> Iterator[str]:
    comma = ""
    for one in objects:
        yield f"{comma}{_text(one)}"
        comma = ",\n"
    yield "\n" if comma else ""


def _text(value: Mapping[str, Any]) -> str:
    return json.dumps(value, ensure_ascii=False)


_QUOTED = str.maketrans({"\\": "\\\\", "'": "\\'", "\n": "\\n", "\r": "\\r", "\t": "\\t", "\x00": "\ufffd"})
_IN_DOT = str.maketrans({"\\": "\\\\", '"': '\\"', "\n": "\\n", "\r": "", "\x00": "\ufffd"})


_OF_NODES = ("name", "kind", "mentions", "confidence", "aliases")
_OF_EDGES = ("kind", "weight", "negative", "confidence", "memory", "valid_from", "valid_to")
_OF_TIES = ("weight", "confidence", "valid_from", "valid_to")


def cypher(nodes: Iterable[Node], edges: Iterable[Edge]) -> Iterator[str]:
    """Yield statements of Cypher, one in a line. Run twice, they change nothing the second time.

    A node has the label `Entity`, and that of its kind; a relation has its kind in capitals as its type.
    """
    yield "CREATE CONSTRAINT muisti_entity IF NOT EXISTS FOR (n:Entity) REQUIRE n.id IS UNIQUE;\n"
    for part in closed(nodes, edges):
        if isinstance(part, Node):
            values = _map({**_values(part, *_OF_NODES), "aliases": list(part.aliases) or None})
            yield f"MERGE (n:Entity {{id: {_quoted(part.id)}}}) SET n:{part.kind.capitalize()}, n += {values};\n"
        else:
            ends = f"MATCH (a:Entity {{id: {_quoted(part.source)}}}), (b:Entity {{id: {_quoted(part.target or '')}}})"
            key = _map({"memory": part.memory or "", "negative": part.negative})
            yield f"{ends} MERGE (a)-[r:{part.kind.upper()} {key}]->(b) SET r += {_map(_values(part, *_OF_TIES))};\n"


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


def _values(part: Node | Edge, *names: str) -> dict[str, Any]:
    """Return fields of a node or an edge, with times as texts."""
    found = {name: getattr(part, name) for name in names}
    return {name: moment(value) if isinstance(value, datetime) else value for name, value in found.items()}


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


_TYPES: Mapping[str, str] = {"mentions": "int", "weight": "int", "confidence": "double", "negative": "boolean"}


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
            values = {**_values(part, *_OF_NODES), "aliases": "\n".join(part.aliases) or None}
            yield f'<node id="{xml(part.id)}">{"".join(_data("node", values))}</node>\n'
        else:
            ends = f'source="{xml(part.source)}" target="{xml(part.target or "")}"'
            yield f'<edge id="e{number}" {ends}>{"".join(_data("edge", _values(part, *_OF_EDGES)))}</edge>\n'
            number += 1
    yield "</graph>\n</graphml>\n"


def _data(domain: str, values: Mapping[str, object]) -> Iterator[str]:
    for name, value in values.items():
        if value is not None:
            text = str(value).lower() if isinstance(value, bool) else str(value)
            yield f'<data key="{domain}_{name}">{xml(text)}</data>'


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
