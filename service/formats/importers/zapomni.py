"""Zapomni: the JSON that its tool `export_graph` writes, nodes and edges of its graph. A workspace is a home.

A memory of several chunks is a document. Nodes and edges are read twice: first for the names of entities, the texts of
chunks and what belongs together, then for the memories.
"""

import tempfile
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from types import TracebackType
from typing import Any, Self, cast

from muisti.service.formats.importers.chunked import Text, cuts_of, document_items, joined, path_of
from muisti.service.formats.importers.items import (
    Failed,
    Found,
    Item,
    Json,
    Retrieved,
    Skipped,
    clean,
    entity,
    relation,
    retrieved,
    text_of,
    times,
    without,
    words,
)
from muisti.service.formats.importers.shapes import Shape, json_items, json_object
from muisti.service.formats.importers.source_files import Source

# Texts in a temporary file, found by a name, so that an importer may read them in another order than they come


class Spool:
    """Texts by name. A context manager, which deletes the file at its end."""

    def __init__(self) -> None:
        self._file = tempfile.TemporaryFile(prefix="muisti-import-")  # noqa: SIM115  # `__exit__` closes it
        self._places: dict[str, tuple[int, int]] = {}
        self._end = 0

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: type[BaseException] | BaseException | TracebackType | None) -> None:
        self._file.close()

    def __contains__(self, name: str) -> bool:
        return name in self._places

    def put(self, name: str, text: str) -> None:
        """Store the text of a name."""
        data = text.encode("utf-8", "surrogatepass")
        self._file.seek(self._end)
        self._file.write(data)
        self._places[name] = (self._end, len(data))
        self._end += len(data)

    def get(self, name: str) -> str:
        """Return the text of a name.

        Raises:
            KeyError: there is none.
        """
        start, size = self._places[name]
        self._file.seek(start)
        return self._file.read(size).decode("utf-8", "surrogatepass")


SYSTEM = "zapomni"
OWN_EDGES = ("HAS_CHUNK", "MENTIONS")  # parents and tags say the same
VECTOR = "a vector of another model"
DEFAULT = "default"  # the workspace that always exists
MENTIONED_MAX = 50  # entities that a memory has as tags


@dataclass(frozen=True)
class _Graph:
    """Entities, chunks and what edges say about memories, by the ids of nodes.

    `names` and `homes` are those of entities. `mentions` has the names of the entities that a memory mentions. `chunks`
    has the chunks of a memory with their index, `parts` the memory of a chunk, `texts` the texts of chunks.
    """

    texts: Spool
    names: dict[str, str] = field(default_factory=dict[str, str])
    homes: dict[str, str | None] = field(default_factory=dict[str, str | None])
    mentions: dict[str, list[str]] = field(default_factory=dict[str, list[str]])
    chunks: dict[str, list[tuple[int, str]]] = field(default_factory=dict[str, list[tuple[int, str]]])
    parts: dict[str, str] = field(default_factory=dict[str, str])
    paths: set[str] = field(default_factory=set[str])  # of documents so far

    def texts_of(self, ids: Iterable[str]) -> list[str]:
        """Return the texts of the chunks of a memory, in order."""
        listed = sorted(one for id_ in ids for one in self.chunks.get(id_, ()))
        return [self.texts.get(chunk) for _, chunk in listed if chunk in self.texts]


def detect(shape: Shape) -> bool:
    return shape.kind in ("object", "lines") and shape.has("nodes", "edges") and '"properties"' in shape.text


def read(source: Source) -> Iterator[Found]:
    with Spool() as texts:
        graph = _graph(source, texts)
        for name, made in (("nodes", _node), ("edges", _edge)):
            for place, row in json_items(source, f"{name}.item"):
                if isinstance(row, dict) and isinstance(row.get("properties", {}), dict):
                    yield from made(place, cast(Mapping[str, Any], row), graph)
                else:
                    yield Failed(place, "is no object with properties")


def _graph(source: Source, texts: Spool) -> _Graph:
    graph = _Graph(texts)
    for row in _rows(source, "nodes"):
        properties, node = _properties(row)
        name, labels = text_of(properties.get("name")), words(row.get("labels"))
        for one in () if node is None else {node, str(row.get("id") or node)}:  # edges name a node by either id
            if name is not None and "Entity" in labels:
                graph.names[one] = name
                graph.homes[one] = text_of(properties.get("workspace_id"))
            elif "Chunk" in labels and isinstance(text := properties.get("text"), str):
                texts.put(one, clean(text))
    mentioned: list[tuple[str, str]] = []
    for row in _rows(source, "edges"):
        start, end = str(row.get("source")), str(row.get("target"))
        if row.get("type") == "HAS_CHUNK":
            index = cast(Mapping[str, Any], row.get("properties") or {}).get("index")
            graph.parts[end] = start
            graph.chunks.setdefault(start, []).append((index if isinstance(index, int) else len(graph.parts), end))
        elif row.get("type") == "MENTIONS" and end in graph.names:
            mentioned.append((start, graph.names[end]))
    for start, name in mentioned:
        graph.mentions.setdefault(graph.parts.get(start, start), []).append(name)
    return graph


def _rows(source: Source, name: str) -> Iterator[Mapping[str, Any]]:
    return (cast(Mapping[str, Any], row) for _, row in json_items(source, f"{name}.item") if isinstance(row, dict))


def _properties(row: Mapping[str, Any]) -> tuple[Mapping[str, Any], str | None]:
    """Return the properties of a node with its id."""
    found = row.get("properties")
    properties = cast(Mapping[str, Any], found) if isinstance(found, dict) else {}
    return properties, text_of(properties.get("id")) or text_of(row.get("id"))


def _node(place: str, row: Mapping[str, Any], graph: _Graph) -> Iterator[Found]:
    labels = words(row.get("labels"))
    properties, node = _properties(row)
    home = text_of(properties.get("workspace_id"))
    if node is None:
        yield Failed(place, "has no id", home)
    elif "Chunk" in labels:
        yield from _chunk(place, {node, str(row.get("id") or node)}, properties, graph)
    elif "Memory" in labels:
        yield from _memory(place, dict.fromkeys((node, str(row.get("id") or node))), properties, graph)
    else:
        yield _entity(place, labels, properties)


def _chunk(place: str, ids: Iterable[str], properties: Mapping[str, Any], graph: _Graph) -> Iterator[Found]:
    """Yield what stays behind of a chunk. Its text comes in with its memory."""
    home = text_of(properties.get("workspace_id"))
    if properties.get("embedding"):
        yield Skipped(place, VECTOR, home)
    memory = next((graph.parts[one] for one in ids if one in graph.parts), None)
    if memory is None:
        yield Skipped(place, "a chunk without a memory", home)
    elif len(graph.chunks[memory]) == 1:
        yield Skipped(place, "the only chunk", home)


def _entity(place: str, labels: list[str], properties: Mapping[str, Any]) -> Found:
    home, name = text_of(properties.get("workspace_id")), text_of(properties.get("name"))
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


def _memory(place: str, ids: Mapping[str, None], properties: Mapping[str, Any], graph: _Graph) -> Iterator[Found]:
    """Yield a memory, or the document and the chunks of a memory of several chunks."""
    chunks = graph.texts_of(ids)
    content = text_of(properties.get("text")) or text_of(joined(chunks))
    node = next(iter(ids))
    if content is None:
        yield Failed(place, "a memory without a text", text_of(properties.get("workspace_id")))
        return
    item = _item(place, node, properties, [name for one in ids for name in graph.mentions.get(one, [])])
    if len(chunks) < 2:
        yield replace(item, memory={**item.memory, "content": content})
        return
    path = path_of(text_of(properties.get("file_path")) or "", f"{SYSTEM}/{node}")
    path = f"{path} ({node})" if path in graph.paths else path  # several memories may come from a file
    graph.paths.add(path)
    text = Text(path, cuts_of(clean(content), chunks), "text/plain")
    external = f"document\n{node}"  # earlier versions imported such memories without their chunks, by this id
    yield from document_items(replace(item, external=external), text, SYSTEM)


def _item(place: str, node: str, properties: Mapping[str, Any], mentions: list[str]) -> Item:
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
        home=text_of(properties.get("workspace_id")),
        retrieved=_retrieved(properties),
    )


def _edge(place: str, row: Mapping[str, Any], graph: _Graph) -> Iterator[Found]:
    how = text_of(row.get("type"))
    if how in OWN_EDGES:
        yield Skipped(place, "an edge of a memory")
        return
    start, end = graph.names.get(str(row.get("source"))), graph.names.get(str(row.get("target")))
    home = graph.homes.get(str(row.get("source")))
    if how is None or start is None or end is None:
        yield Skipped(place, "not between entities", home)
        return
    properties = cast(Json, row.get("properties", {}))
    moments, unread = times(properties, created_at="created_at", updated_at="updated_at")
    memory = {**relation(start, how.lower(), end), **moments, "source_class": "model"}
    rest = {**without(properties, "created_at", "updated_at"), **without({"id": row.get("id")}), **unread}
    yield Item(_external(home, "relation", start, how, end), place, memory, rest, home=home)


def _external(home: str | None, *names: str) -> str:
    """Return a stable id for a record that has none; it differs between workspaces."""
    return "\n".join((*names, *(() if home in (None, DEFAULT) else (home,))))


def _retrieved(properties: Mapping[str, Any]) -> Retrieved | None:
    moments = (properties.get(name) for name in ("last_accessed", "updated_at", "created_at"))
    return retrieved(properties.get("access_count"), *moments)
