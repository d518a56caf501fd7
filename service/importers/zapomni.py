"""Zapomni: the JSON that its tool `export_graph` writes, nodes and edges of its graph."""

from collections.abc import Iterator, Mapping
from typing import Any, cast

from service.importers.graphs import entity, relation
from service.importers.items import Failed, Found, Item, Json, Skipped, text_of, when, without, words
from service.importers.jsons import json_items, json_object
from service.importers.shapes import Shape
from service.importers.sources import Source

OWN_EDGES = ("HAS_CHUNK", "MENTIONS")  # between a memory and its parts, which come with it


def detect(shape: Shape) -> bool:
    return shape.kind in ("object", "lines") and shape.has("nodes", "edges") and '"properties"' in shape.text


def read(source: Source) -> Iterator[Found]:
    known: dict[str, str] = {}  # names of entities, by id
    for name, made in (("nodes", _node), ("edges", _edge)):
        with source.open() as file:
            for place, row in json_items(file, f"{name}.item", source.name):
                if isinstance(row, dict) and isinstance(row.get("properties", {}), dict):
                    yield made(place, cast(Mapping[str, Any], row), known)
                else:
                    yield Failed(place, "is no object with properties")


def _node(place: str, row: Mapping[str, Any], known: dict[str, str]) -> Found:
    labels, told = words(row.get("labels")), cast(Mapping[str, Any], row.get("properties", {}))
    node = text_of(told.get("id")) or text_of(row.get("id"))
    if "Chunk" in labels:
        return Skipped(place, "a part of a memory")
    if node is None:
        return Failed(place, "has no id")
    if "Memory" in labels:
        return _memory(place, node, told)
    name = text_of(told.get("name"))
    if "Entity" not in labels or name is None:
        return Skipped(place, "neither a memory nor an entity")
    known[node] = name
    says = text_of(told.get("description"))
    memory = entity(name, text_of(told.get("type")), f"{name}: {says}" if says else None)
    times = {"created_at": when(told.get("updated_at"))}
    return Item(
        f"entity\n{name}", place, {**memory, **times, "source_class": "model"}, without(told, "name", "description")
    )


def _memory(place: str, node: str, told: Mapping[str, Any]) -> Found:
    content = text_of(told.get("text"))
    if content is None:
        return Failed(place, "a memory without a text")
    own = told.get("metadata")
    metadata = json_object(own, place) if isinstance(own, str) else own
    is_read = isinstance(metadata, dict)
    is_past = told.get("is_current") is False or told.get("stale") is True
    return Item(
        external=node,
        place=place,
        memory={
            "content": content,
            "tags": words(told.get("tags")),
            "source": text_of(told.get("source")),
            "status": "deprecated" if is_past else "active",
            "metadata": without(cast(Mapping[str, Any], metadata), "tags", "source") if is_read else {},
            "created_at": when(told.get("created_at")),
        },
        rest=without(told, "text", "tags", "source", "created_at", *(("metadata",) if is_read else ())),
    )


def _edge(place: str, row: Mapping[str, Any], known: dict[str, str]) -> Found:
    how = text_of(row.get("type"))
    if how in OWN_EDGES:
        return Skipped(place, "a part of a memory")
    start, end = known.get(str(row.get("source"))), known.get(str(row.get("target")))
    if how is None or start is None or end is None:
        return Skipped(place, "not between entities")
    memory = {**relation(start, how.lower(), end), "source_class": "model"}
    return Item("\n".join(("relation", start, how, end)), place, memory, without(cast(Json, row.get("properties", {}))))
