"""Graphs in JSON: Muisti's own form, that of Cytoscape, and JSON-LD."""

import json
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import msgspec

from muisti.core.model.graph import Edge, Node
from muisti.service.formats.graphs.closing import closed
from muisti.service.formats.graphs.marks import moment

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
    """Return the fields that say something, with times as texts."""
    members = msgspec.structs.asdict(part)
    for name in ("valid_from", "valid_to"):
        if members.get(name) is not None:
            members[name] = moment(members[name])
    return {name: value for name, value in members.items() if value is not None and value != ()}


def _listed(objects: Iterable[Mapping[str, Any]]) -> Iterator[str]:
    comma = ""
    for one in objects:
        yield f"{comma}{_text(one)}"
        comma = ",\n"
    yield "\n" if comma else ""


def _text(value: Mapping[str, Any]) -> str:
    return json.dumps(value, ensure_ascii=False)
