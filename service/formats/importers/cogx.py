"""COGX 0.1, Cognee's format for memory that moves: a manifest and a file of lines for each kind of record."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import PurePosixPath
from typing import Any, cast

import msgspec

from muisti.service.formats.importers.dialogues import Conversation, message, with_object
from muisti.service.formats.importers.items import (
    Failed,
    Found,
    Item,
    Skipped,
    Unreadable,
    entity,
    plain,
    relation,
    text_of,
    validity,
    when,
    without,
    words,
)
from muisti.service.formats.importers.shapes import Shape, json_lines
from muisti.service.formats.importers.source_files import Part, Source

FILES = (
    "documents.jsonl", "episodes.jsonl", "entities.jsonl", "facts.jsonl", "memories.jsonl", "memory_blocks.jsonl",
)  # fmt: skip
SCOPES = ("user_id", "agent_id", "session_id", "run_id")


def detect(shape: Shape) -> bool:
    names = {PurePosixPath(one).name for one in shape.members}
    return shape.is_many and "manifest.json" in names and bool(names & {*FILES, "nodes.jsonl"})


def read(source: Source) -> Iterator[Found]:
    with source.parts() as parts:
        named = {PurePosixPath(part.name).name: part for part in parts}
        if "manifest.json" not in named:
            raise Unreadable(f"{source.name}: has no manifest.json")
        _check(named["manifest.json"])
        known: dict[str, str] = {}  # names of entities, by id
        for name in sorted(named.keys() & set(FILES), key=lambda name: (name == "facts.jsonl", name)):
            for place, row in json_lines(replace(named[name], name=name)):
                yield from [row] if isinstance(row, Failed) else _records(place, row, known)
        for name in sorted(named.keys() - {"manifest.json", *FILES}):
            yield Skipped(
                named[name].name, "graph nodes as they are stored there" if name == "nodes.jsonl" else "unknown"
            )


def _check(manifest: Part) -> None:
    """Raise `Unreadable` when the manifest has an unknown version."""
    try:
        contents = msgspec.json.decode(manifest.head(), type=dict[str, Any])
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
        raise Unreadable(f"{manifest.name}: is no manifest ({error})") from None
    version = str(contents.get("cogx_version", ""))
    if version.partition(".")[0] != "0":
        raise Unreadable(f"{manifest.name}: has version {version[:20]!r} of COGX; known is 0.1")


def _records(place: str, row: Mapping[str, Any], known: dict[str, str]) -> Iterator[Found]:
    external, kind = text_of(row.get("external_id")), row.get("kind")
    if external is None:
        yield Failed(place, "has no external_id")
    elif kind == "episode":
        yield from _episode(place, external, row)
    elif kind == "entity" and (name := text_of(row.get("name"))) is not None:
        known[external] = name
        says = text_of(row.get("description"))
        memory = entity(name, text_of(row.get("entity_type")), f"{name}: {says}" if says else None)
        yield _item(place, external, row, memory, "name", "entity_type", "description")
    elif kind == "fact":
        yield _fact(place, external, row, known)
    elif kind in ("memory", "document") and (content := text_of(row.get("content"))) is not None:
        memory = {"content": content, "tags": words(row.get("categories")), "source": text_of(row.get("title"))}
        yield _item(place, external, row, memory, "content", "categories", "title")
    elif kind == "memory_block" and (value := text_of(row.get("value"))) is not None:
        memory = {"content": value, "category": "blocks", "tags": words([row.get("label")])}
        yield _item(place, external, row, memory, "value")
    else:
        yield Failed(place, f"is no record with a text ({plain(kind)[:40]})")


def _fact(place: str, external: str, row: Mapping[str, Any], known: Mapping[str, str]) -> Found:
    ends = [text_of(row.get(name)) for name in ("subject_ref", "predicate", "object_ref")]
    if None in ends:
        return Failed(place, "a fact without subject, predicate or object")
    start, how, end = map(str, ends)
    memory = relation(known.get(start, start), how, known.get(end, end), text_of(row.get("fact_text")))
    begun, ended = row.get("valid_at"), row.get("invalid_at")
    dated = {"event_at": when(begun), "status": "deprecated" if when(ended) else "active", **validity(begun, ended)}
    return _item(place, external, row, {**memory, **dated}, "fact_text", "subject_ref", "predicate", "object_ref")


def _episode(place: str, external: str, row: Mapping[str, Any]) -> Iterator[Found]:
    turns, scope = row.get("turns"), _scope(row)
    if not isinstance(turns, list):
        yield Failed(place, "an episode without turns")
        return
    own = row.get("metadata")
    conversation = Conversation(
        id=external,
        session=text_of(scope.get("session_id")) or "cogx",
        title=text_of(row.get("title")),
        users=words([scope.get("user_id")]),
        metadata={**(cast(Mapping[str, Any], own) if isinstance(own, dict) else {}), **scope},
        times={name: when(row.get(name)) for name in ("created_at", "updated_at")},
    )
    yield from with_object(conversation, _turns(place, cast(list[Any], turns), row.get("created_at"), conversation))


def _turns(place: str, turns: Sequence[Any], otherwise: object, conversation: Conversation) -> Iterator[Found]:
    """Yield the turns of an episode; `otherwise` is the time of those without one."""
    for number, turn in enumerate(turns, start=1):
        where = f"{place} turns[{number - 1}]"
        text = text_of(turn.get("content")) if isinstance(turn, dict) else None
        if text is None:
            yield Failed(where, "a turn without content")
            continue
        external, role = f"{conversation.id}\n{number}", text_of(turn.get("role")) or "unknown"
        yield message(conversation, number, external, where, role, text, turn.get("occurred_at") or otherwise, {})


def _item(place: str, external: str, row: Mapping[str, Any], memory: Mapping[str, Any], *read_already: str) -> Item:
    own = row.get("metadata")
    metadata = {
        **memory.get("metadata", {}),
        **(cast(Mapping[str, Any], own) if isinstance(own, dict) else {}),
        **_scope(row),
    }
    return Item(
        external=f"{row['kind']}\n{external}",
        place=place,
        memory={
            **memory,
            "metadata": metadata,
            "created_at": when(row.get("created_at")),
            "updated_at": when(row.get("updated_at")),
        },
        rest=without(row, "metadata", "scope", "created_at", "updated_at", *read_already),
    )


def _scope(row: Mapping[str, Any]) -> Mapping[str, Any]:
    scope = row.get("scope")
    return {name: scope[name] for name in SCOPES if scope.get(name)} if isinstance(scope, dict) else {}
