"""Memorg: its SQLite database, in which an exchange is what the user said and what was answered.

An exchange becomes two memories, which share its id in their metadata. Sessions, conversations and topics hold nested
copies of what is below them: from those copies comes where an exchange belongs. Summaries are memories of their own.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, cast

from muisti.service.formats.importers.databases import Tables, tables
from muisti.service.formats.importers.dialogues import Session, message
from muisti.service.formats.importers.items import (
    Failed,
    Found,
    Item,
    Json,
    Skipped,
    retrieved,
    text_of,
    times,
    without,
)
from muisti.service.formats.importers.jsons import json_object
from muisti.service.formats.importers.shapes import Shape
from muisti.service.formats.importers.source_files import Source

COLUMNS = ("id", "data", "created_at", "updated_at")
SIDES = (("user_message", "user"), ("system_message", "assistant"))
VECTOR = "embedding"
OWN = ("id", "created_at", "updated_at", "importance_score", "metadata", "view_count", VECTOR)
LEVELS = (("sessions", "conversations"), ("conversations", "topics"), ("topics", "exchanges"))
HIGH, LOW = 0.7, 0.3  # importance scores; an exchange without a score has 0


@dataclass(frozen=True, slots=True)
class _Home:
    """Where an exchange belongs: ids and titles by level, and what else is known of the session."""

    ids: Mapping[str, str] = field(default_factory=dict[str, str])
    titles: Mapping[str, str] = field(default_factory=dict[str, str])
    user: str | None = None
    session: Mapping[str, Any] = field(default_factory=dict[str, Any])

    def below(self, level: str, row: Mapping[str, Any]) -> "_Home":
        """Return the home of the children of a row of a level."""
        title = text_of(row.get("title"))
        titles = {**self.titles, level: title} if title else self.titles
        own = replace(self, ids={**self.ids, level: str(row["id"])}, titles=titles)
        if level != "session":
            return own
        known = without(row, "id", "conversations", "user_id", VECTOR)
        return replace(own, user=text_of(row.get("user_id")), session=known)


def detect(shape: Shape) -> bool:
    return {"id", "data"} <= set(shape.tables.get("exchanges", ()))


def read(source: Source) -> Iterator[Found]:
    with tables(source) as opened:
        homes: dict[str, _Home] = {}
        for table, children in LEVELS:
            yield from _level(opened, table, children, homes)
        turns: dict[str, int] = {}
        for place, row in opened.rows("exchanges", COLUMNS):
            record = json_object(str(row.get("data") or ""), place)
            if isinstance(record, Failed):
                yield record
            else:
                yield from _exchange(place, row, record, homes, turns)


def _level(opened: Tables, table: str, children: str, homes: dict[str, _Home]) -> Iterator[Found]:
    """Yield the summaries of a table. Notes the home of each child in `homes`, by the kind and id of the child."""
    level, below = table.removesuffix("s"), children.removesuffix("s")
    for place, row in opened.rows(table, COLUMNS) if opened.columns(table) else ():
        record = json_object(str(row.get("data") or ""), place)
        if isinstance(record, Failed):
            yield record
            continue
        record = {**record, "id": row.get("id") or record.get("id")}
        home = homes.get(f"{level} {record['id']}", _Home()).below(level, record)
        for child in _objects(record.get(children)):
            homes[f"{below} {child.get('id')}"] = home
        if (summary := text_of(record.get("summary"))) is not None:
            yield _summary(place, level, summary, {**row, **record}, home, children)


def _summary(place: str, level: str, text: str, record: Json, home: _Home, children: str) -> Item:
    entities = _objects(record.get("key_entities"))
    moments, unread = times(record, created_at="created_at", updated_at="updated_at")
    own = record.get("metadata")
    return Item(
        external=f"{level}\n{record['id']}",
        place=place,
        memory={
            "content": text,
            "category": "summaries",
            "type": "observation",
            "source_class": "model",
            "tags": _names(entities),
            "metadata": {**(own if isinstance(own, dict) else {}), **_metadata(home)},
            **moments,
        },
        rest={
            **without(record, *COLUMNS, "metadata", "summary", "title", children, VECTOR),
            **unread,
            **({} if isinstance(own, dict) else without({"metadata": own})),
        },
    )


def _exchange(
    place: str, row: Mapping[str, Any], record: Mapping[str, Any], homes: Mapping[str, _Home], turns: dict[str, int]
) -> Iterator[Found]:
    exchange = text_of(row.get("id"))
    if exchange is None:
        yield Failed(place, "an exchange without an id")
        return
    home = homes.get(f"exchange {exchange}", _Home())
    where = _metadata(home)
    session = Session(next(iter(home.ids.values()), exchange), None, {**where, "exchange": exchange})
    for side, role in SIDES:
        said = record.get(side)
        text = text_of(said.get("raw_content")) if isinstance(said, dict) else text_of(said)
        if text is None:
            yield Skipped(f"{place} {side}", "no text")
            continue
        turns[session.id] = turns.get(session.id, 0) + 1
        at = record.get("created_at") or row.get("created_at")
        rest = {"exchange": exchange, "importance": record.get("importance_score"), "session": home.session}
        item = message(session, turns[session.id], f"{exchange}\n{role}", f"{place} {side}", role, text, at, rest)
        yield _completed(item, cast(Json, said) if isinstance(said, dict) else {}, {**row, **record}, home, role)


def _completed(item: Item, said: Json, record: Json, home: _Home, role: str) -> Item:
    """Return the message with the fields of its exchange and of its session."""
    parsed = said.get("parsed_content")
    entities = _objects(cast(Json, parsed).get("entities")) if isinstance(parsed, dict) else []
    own = record.get("metadata")
    moments, unread = times(record, updated_at="updated_at")
    sides = [side for side, _ in SIDES]
    return replace(
        item,
        memory={
            **item.memory,
            **moments,
            "author": home.user if role == "user" and home.user else role,
            "importance": _importance(record.get("importance_score")),
            "tags": _names(entities),
            "metadata": {**(own if isinstance(own, dict) else {}), **item.memory["metadata"]},
        },
        rest=without({
            **without(record, *OWN, "data", *sides),
            **without(said, "raw_content", "parsed_content", VECTOR),
            "parsed": _without_vectors(parsed),
            **({} if isinstance(own, dict) else {"metadata": own}),
            **item.rest,
            **unread,
        }),
        retrieved=retrieved(record.get("view_count"), record.get("updated_at"), record.get("created_at")),
    )  # fmt: skip


def _metadata(home: _Home) -> Json:
    """Return the metadata that says where a memory belongs, in names for filters."""
    titles = {f"{level}_title": title for level, title in home.titles.items()}
    return without({**home.ids, **titles, "title": home.titles.get("topic"), "user_id": home.user})


def _importance(score: object) -> str:
    """Return the importance for a score between 0 and 1.

    >>> [_importance(score) for score in (0.8, 0.5, 0.1, 0, None)]
    ['high', 'medium', 'low', 'medium', 'medium']
    """
    if isinstance(score, bool) or not isinstance(score, int | float) or not score > 0:
        return "medium"
    return "high" if score >= HIGH else "low" if score < LOW else "medium"


def _objects(value: object) -> Sequence[Json]:
    listed = cast(list[object], value) if isinstance(value, list) else []
    return [cast(Json, one) for one in listed if isinstance(one, dict)]


def _names(entities: Sequence[Json]) -> list[str]:
    return [name for one in entities if (name := text_of(one.get("name")))]


def _without_vectors(parsed: object) -> object:
    return without(cast(Json, parsed), VECTOR) if isinstance(parsed, dict) else parsed
