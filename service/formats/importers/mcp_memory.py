"""The reference memory server of MCP: entities with observations, and relations."""

import hashlib
from collections.abc import Iterator, Mapping
from typing import Any, cast

from muisti.service.formats.importers.items import (
    Failed,
    Found,
    Item,
    Json,
    entity,
    plain,
    relation,
    text_of,
    times,
    without,
)
from muisti.service.formats.importers.shapes import Shape, json_items, json_lines
from muisti.service.formats.importers.source_files import Source

NAMES = ("name", "entityName", "id")
KINDS = ("entityType", "entity_type")
FROM, TO = ("from", "from_id", "from_entity", "source"), ("to", "to_id", "to_entity", "target")
HOW = ("relationType", "relation_type", "relation")
TEXTS, TIMES = ("text", "content", "observation"), ("timestamp", "created_at", "createdAt")


def detect(shape: Shape) -> bool:
    return shape.has("entities", "relations") or any(_kind(line) is not None for line in shape.lines)


def _kind(row: Mapping[str, Any]) -> str | None:
    """Return whether a line is an entity or a relation, by its type or, without one, by its other fields."""
    stated = row.get("type")
    if stated is not None:
        return str(stated) if stated in ("entity", "relation") else None
    if _first(row, FROM) and _first(row, TO) and _first(row, HOW):
        return "relation"
    return "entity" if _first(row, NAMES) and (_first(row, KINDS) or "observations" in row) else None


def read(source: Source) -> Iterator[Found]:
    head = source.head().removeprefix(b"\xef\xbb\xbf").lstrip()
    if b'"entities"' in head.split(b":", 1)[0] or b'"relations"' in head.split(b":", 1)[0]:
        for name in ("entities", "relations"):
            for place, row in json_items(source, f"{name}.item"):
                yield from _of(place, row, name == "relations")
        return
    for place, row in json_lines(source):
        if isinstance(row, Failed):
            yield row
        elif (kind := _kind(row)) is None:
            yield Failed(place, f"is neither an entity nor a relation, but {plain(row.get('type'))[:40]!r}")
        else:
            yield from _of(place, row, kind == "relation")


def _of(place: str, row: object, is_relation: bool) -> Iterator[Found]:
    if not isinstance(row, dict):
        yield Failed(place, "is no object")
    elif is_relation:
        yield _relation(place, row)
    else:
        yield from _entity(place, row)


def _entity(place: str, row: Mapping[str, Any]) -> Iterator[Found]:
    name, kind = _first(row, NAMES), _first(row, KINDS)
    if name is None:
        yield Failed(place, "an entity without a name")
        return
    listed = row.get("observations")
    observations = [one for one in (listed if isinstance(listed, list) else [listed]) if one not in (None, "", {})]
    rest = without(row, *NAMES, *KINDS, "observations", "type")
    if not observations:
        yield Item(external=name, place=place, memory=entity(name, kind), rest=rest)
    for one in observations:
        text, more = _observation(one)
        moments, unread = times(more, created_at=next((field for field in TIMES if field in more), ""))
        digest = hashlib.sha1(text.encode("utf-8", "surrogatepass"), usedforsecurity=False).hexdigest()
        yield Item(
            external=f"{name}#{digest}",
            place=place,
            memory={**entity(name, kind, text), **moments},
            rest={**rest, **without(more, *TIMES), **unread},
        )


def _relation(place: str, row: Mapping[str, Any]) -> Found:
    ends = [_first(row, names) for names in (FROM, HOW, TO)]
    if None in ends:
        return Failed(place, "a relation without `from`, `to` or `relationType`")
    start, how, end = map(str, ends)
    return Item(
        external="\n".join(("relation", start, how, end)),
        place=place,
        memory=relation(start, how, end),
        rest=without(row, *FROM, *TO, *HOW, "type"),
    )


def _first(row: Mapping[str, Any], names: tuple[str, ...]) -> str | None:
    return next((text for name in names if (text := text_of(row.get(name)))), None)


def _observation(value: object) -> tuple[str, Json]:
    """Return the text of an observation and its other fields. One without a known text is kept as JSON."""
    if not isinstance(value, dict):
        return plain(value), {}
    row = cast(Json, value)
    name = next((name for name in TEXTS if text_of(row.get(name))), None)
    return (plain(row), {}) if name is None else (str(row[name]), without(row, name))
