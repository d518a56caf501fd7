"""Zep and Graphiti: what their APIs list of a graph, in one JSON object: episodes, entities, facts."""

from bisect import bisect_left
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from typing import Any, cast

from muisti.service.formats.importers.dialogues import Conversation, conversation_object, turn_of
from muisti.service.formats.importers.items import (
    Failed,
    Found,
    Item,
    entity,
    plain,
    relation,
    text_of,
    validity,
    when,
    without,
)
from muisti.service.formats.importers.shapes import Shape, first_items
from muisti.service.formats.importers.source_files import Source

EPISODES = ("episodes", "episodic_nodes")
ENTITIES = ("entity_nodes", "entities", "nodes")
FACTS = ("facts", "edges", "entity_edges")
VECTORS = ("name_embedding", "fact_embedding")
_CLASSES = {"message": "user"}

Made = Callable[[str, Mapping[str, Any]], Found]


def detect(shape: Shape) -> bool:
    if shape.kind not in ("object", "lines") or shape.has("agents"):
        return False
    names = set(shape.names)
    return bool(names & {*EPISODES, "entity_nodes", "entity_edges", "facts"}) or (
        bool(names & set(ENTITIES)) and bool(names & set(FACTS))
    )


def read(source: Source) -> Iterator[Found]:
    known: dict[str, str] = {}  # names of entities, by id
    yield from _episodes(source)
    yield from _first(source, ENTITIES, lambda place, row: _entity(place, row, known))
    yield from _first(source, FACTS, lambda place, row: _fact(place, row, known))


def _first(source: Source, names: tuple[str, ...], made: Made) -> Iterator[Found]:
    for place, row in first_items(source, names):
        yield made(place, cast(Mapping[str, Any], row)) if isinstance(row, dict) else Failed(place, "is no object")


def _episodes(source: Source) -> Iterator[Found]:
    """Yield the episodes: what was said is a turn of its session or group, in the order of time, else a memory."""
    said: defaultdict[str, list[tuple[str, str]]] = defaultdict(list)  # (time, uuid) by conversation
    for one in _first(source, EPISODES, _episode):
        if isinstance(one, Item) and (talk := _conversation(one)) is not None:
            said[talk].append(_moment(one))
    for moments in said.values():
        moments.sort()
    firsts: dict[str, Item] = {}
    for one in _first(source, EPISODES, _episode):
        talk = _conversation(one) if isinstance(one, Item) else None
        if not isinstance(one, Item) or talk is None:
            yield one
            continue
        turn = 1 + bisect_left(said[talk], _moment(one))
        made = replace(one, memory={**one.memory, "category": None, **turn_of(talk, turn)})
        if turn == 1:
            firsts[talk] = made
        yield made
    for talk, first in firsts.items():
        yield conversation_object(Conversation(talk, "zep", metadata=first.memory["metadata"]), first.place, first)


def _moment(episode: Item) -> tuple[str, str]:
    return str(episode.memory["event_at"] or ""), episode.external


def _conversation(episode: Item) -> str | None:
    """Return the id of the conversation in which an episode was said; None when it is no message, or of none."""
    where = episode.memory["metadata"]
    return text_of(where.get("session") or where.get("group")) if episode.rest.get("source") == "message" else None


def _episode(place: str, row: Mapping[str, Any]) -> Found:
    uuid, content = _id(row), text_of(row.get("content"))
    if uuid is None or content is None:
        return Failed(place, "an episode without uuid or content")
    return Item(
        external=uuid,
        place=place,
        memory={
            "content": content,
            "category": "episodes",
            "type": "observation",
            "source": text_of(row.get("source_description")),
            "source_class": _CLASSES.get(text_of(row.get("source")) or "", "unknown"),
            "metadata": without({"group": row.get("group_id"), "session": row.get("session_id")}),
            "event_at": when(row.get("valid_at")),
            "created_at": when(row.get("created_at")),
        },
        rest=without(row, "content", "source_description", "group_id", "valid_at", "created_at"),
    )


def _entity(place: str, row: Mapping[str, Any], known: dict[str, str]) -> Found:
    uuid, name = _id(row), text_of(row.get("name"))
    if uuid is None or name is None:
        return Failed(place, "an entity without uuid or name")
    known[uuid] = name
    labels: list[Any] = row["labels"] if isinstance(row.get("labels"), list) else []
    kind = next((label for label in map(text_of, labels) if label not in (None, "Entity")), None)
    summary = text_of(row.get("summary"))
    memory = entity(name, kind, f"{name}: {summary}" if summary else None)
    return Item(
        external=uuid,
        place=place,
        memory={**memory, "source_class": "model", "created_at": when(row.get("created_at"))},
        rest=without(row, "name", "summary", "created_at", *VECTORS),
    )


def _fact(place: str, row: Mapping[str, Any], known: Mapping[str, str]) -> Found:
    """A fact. One that was found to hold no longer is deprecated."""
    uuid, says = _id(row), text_of(row.get("fact"))
    if uuid is None or says is None:
        return Failed(place, "a fact without uuid or text")
    start, end = (
        known.get(uuid, uuid)
        for name in ("source_node_uuid", "target_node_uuid")
        for uuid in (plain(row.get(name) or ""),)
    )
    how = text_of(row.get("name")) or "relates to"
    linked = relation(start, how, end, says) if start and end else {"content": says, "category": "relations"}
    begun, ended = row.get("valid_at"), row.get("invalid_at")
    found_out = when(ended) or when(row.get("expired_at"))
    return Item(
        external=uuid,
        place=place,
        memory={
            **linked,
            "source_class": "model",
            "status": "deprecated" if found_out else "active",
            "event_at": when(begun),
            **validity(begun, ended),
            "created_at": when(row.get("created_at")),
        },
        rest=without(row, "fact", "created_at", *VECTORS),
    )


def _id(row: Mapping[str, Any]) -> str | None:
    return text_of(row.get("uuid")) or text_of(row.get("id"))
