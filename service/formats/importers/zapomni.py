"""Zapomni: the JSON that its tool `export_graph` writes, nodes and edges of its graph. A workspace is a home.

Nodes and edges are read twice: first for the names of entities and what mentions them, then for the memories.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, cast

from muisti.service.formats.importers.graphs import entity, relation
from muisti.service.formats.importers.items import (
    Failed,
    Found,
    Item,
    Json,
    Retrieved,
    Skipped,
    retrieved,
    text_of,
    times,
    without,
    words,
)
from muisti.service.formats.importers.jsons import json_items, json_object
from muisti.service.formats.importers.shapes import Shape
from muisti.service.formats.importers.source_files import Source

OWN_EDGES = ("HAS_CHUNK", "MENTIONS")  # between a memory and its parts, which come with it
DEFAULT = "default"  # the workspace that always exists
MENTIONED_MAX = 50  # entities that a memory has as tags


@dataclass(frozen=True)
class _Graph:
    """Names and workspaces of entities by the id of their node. `mentions`: names of entities by the id of a memory."""

    names: dict[str, str] = field(default_factory=dict[str, str])
    homes: dict[str, str | None] = field(default_factory=dict[str, str | None])
    mentions: dict[str, list[str]] = field(default_factory=dict[str, list[str]])


def detect(shape: Shape) -> bool:
    return shape.kind in ("object", "lines") and shape.has("nodes", "edges") and '"properties"' in shape.text


def read(source: Source) -> Iterator[Found]:
    graph = _graph(source)
    for name, made in (("nodes", _node), ("edges", _edge)):
        with source.open() as file:
            for place, row in json_items(file, f"{name}.item", source.name):
                if isinstance(row, dict) and isinstance(row.get("properties", {}), dict):
                    yield made(place, cast(Mapping[str, Any], row), graph)
                else:
                    yield Failed(place, "is no object with properties")


def _graph(source: Source) -> _Graph:
    graph = _Graph()
    for row in _rows(source, "nodes"):
        properties, node = _properties(row)
        name = text_of(properties.get("name"))
        if node is not None and name is not None and "Entity" in words(row.get("labels")):
            for one in {node, str(row.get("id") or node)}:  # edges name the node of the graph, or its own id
                graph.names[one] = name
                graph.homes[one] = text_of(properties.get("workspace_id"))
    parts: dict[str, str] = {}  # memories by the id of a chunk
    mentioned: list[tuple[str, str]] = []
    for row in _rows(source, "edges"):
        start, end = str(row.get("source")), str(row.get("target"))
        if row.get("type") == "HAS_CHUNK":
            parts[end] = start
        elif row.get("type") == "MENTIONS" and end in graph.names:
            mentioned.append((start, graph.names[end]))
    for start, name in mentioned:
        graph.mentions.setdefault(parts.get(start, start), []).append(name)
    return graph


def _rows(source: Source, name: str) -> Iterator[Mapping[str, Any]]:
    with source.open() as file:
        for _, row in json_items(file, f"{name}.item", source.name):
            if isinstance(row, dict):
                yield cast(Mapping[str, Any], row)


def _properties(row: Mapping[str, Any]) -> tuple[Mapping[str, Any], str | None]:
    """Return the properties of a node with its id."""
    found = row.get("properties")
    properties = cast(Mapping[str, Any], found) if isinstance(found, dict) else {}
    return properties, text_of(properties.get("id")) or text_of(row.get("id"))


def _node(place: str, row: Mapping[str, Any], graph: _Graph) -> Found:
    labels = words(row.get("labels"))
    properties, node = _properties(row)
    home = text_of(properties.get("workspace_id"))
    if "Chunk" in labels:
        return Skipped(place, "a part of a memory", home)
    if node is None:
        return Failed(place, "has no id", home)
    if "Memory" in labels:
        ids = dict.fromkeys((node, str(row.get("id") or node)))
        return _memory(place, node, properties, [name for one in ids for name in graph.mentions.get(one, [])])
    name = text_of(properties.get("name"))
    if "Entity" not in labels or name is None:
        return Skipped(place, "neither a memory nor an entity", home)
    says = text_of(properties.get("description"))
    memory = entity(name, text_of(properties.get("type")), f"{name}: {says}" if says else None)
    moments, unread = times(properties, created_at="created_at", updated_at="updated_at")
    moments["created_at"] = moments["created_at"] or moments["updated_at"]
    return Item(
        external=_external(home, "entity", name),
        place=place,
        memory={**memory, **moments, "source_class": "model"},
        rest={**without(properties, "name", "description", "type", "created_at", "updated_at"), **unread},
        home=home,
        retrieved=_retrieved(properties),
    )


def _memory(place: str, node: str, properties: Mapping[str, Any], mentions: list[str]) -> Found:
    home = text_of(properties.get("workspace_id"))
    content = text_of(properties.get("text"))
    if content is None:
        return Failed(place, "a memory without a text", home)
    own = properties.get("metadata")
    read = json_object(own, place) if isinstance(own, str) else own
    metadata = cast(Json, read) if isinstance(read, dict) else {}
    is_past = properties.get("is_current") is False or properties.get("stale") is True
    tags, source = words(properties.get("tags")), text_of(properties.get("source"))
    moments, unread = times(properties, created_at="created_at", updated_at="updated_at")
    return Item(
        external=node,
        place=place,
        memory={
            "content": content,
            "tags": list(dict.fromkeys([*tags, *words(metadata.get("tags")), *mentions[:MENTIONED_MAX]])),
            "source": source or text_of(metadata.get("source")),
            "status": "deprecated" if is_past else "active",
            "metadata": without(metadata, "tags", *(("source",) if source in (None, metadata.get("source")) else ())),
            **moments,
        },
        rest={
            **without(properties, "text", "tags", "source", "created_at", "updated_at", "metadata"),
            **without({} if isinstance(read, dict) else {"metadata": own}),
            **without({"mentions": mentions}),
            **unread,
        },
        home=home,
        retrieved=_retrieved(properties),
    )


def _edge(place: str, row: Mapping[str, Any], graph: _Graph) -> Found:
    how = text_of(row.get("type"))
    if how in OWN_EDGES:
        return Skipped(place, "a part of a memory")
    start, end = graph.names.get(str(row.get("source"))), graph.names.get(str(row.get("target")))
    home = graph.homes.get(str(row.get("source")))
    if how is None or start is None or end is None:
        return Skipped(place, "not between entities", home)
    properties = cast(Json, row.get("properties", {}))
    moments, unread = times(properties, created_at="created_at", updated_at="updated_at")
    memory = {**relation(start, how.lower(), end), **moments, "source_class": "model"}
    rest = {**without(properties, "created_at", "updated_at"), **without({"id": row.get("id")}), **unread}
    return Item(_external(home, "relation", start, how, end), place, memory, rest, home=home)


def _external(home: str | None, *names: str) -> str:
    """Return a stable id for a record that has none; it differs between workspaces."""
    return "\n".join((*names, *(() if home in (None, DEFAULT) else (home,))))


def _retrieved(properties: Mapping[str, Any]) -> Retrieved | None:
    moments = (properties.get(name) for name in ("last_accessed", "updated_at", "created_at"))
    return retrieved(properties.get("access_count"), *moments)
