"""Memorg: its SQLite database, in which an exchange is what the user said and what was answered."""

from collections.abc import Iterator, Mapping
from typing import Any

from service.importers.databases import Tables, tables
from service.importers.dialogues import Session, message
from service.importers.items import Failed, Found, Skipped, text_of, without
from service.importers.jsons import json_object
from service.importers.shapes import Shape
from service.importers.sources import Source

COLUMNS = ("id", "data", "created_at", "updated_at")
SIDES = (("user_message", "user"), ("system_message", "assistant"))


def detect(shape: Shape) -> bool:
    return {"id", "data"} <= set(shape.tables.get("exchanges", ()))


def read(source: Source) -> Iterator[Found]:
    with tables(source) as opened:
        homes = _homes(opened)
        turns: dict[str, int] = {}
        for place, row in opened.rows("exchanges", COLUMNS):
            told = json_object(str(row.get("data") or ""), place)
            if isinstance(told, Failed):
                yield told
            else:
                yield from _exchange(place, row, told, homes, turns)


def _homes(opened: Tables) -> Mapping[str, tuple[str, str | None]]:
    """By the id of an exchange, the id and the title of its topic. Topics have copies of their exchanges."""
    homes: dict[str, tuple[str, str | None]] = {}
    for place, row in opened.rows("topics", COLUMNS) if opened.columns("topics") else ():
        told = json_object(str(row.get("data") or ""), place)
        exchanges = None if isinstance(told, Failed) else told.get("exchanges")
        for one in exchanges if isinstance(exchanges, list) else ():
            if isinstance(one, dict) and not isinstance(told, Failed):
                homes[str(one.get("id"))] = str(row.get("id")), text_of(told.get("title"))
    return homes


def _exchange(
    place: str, row: Mapping[str, Any], told: Mapping[str, Any], homes: Mapping[str, tuple[str, str | None]],
    turns: dict[str, int],
) -> Iterator[Found]:  # fmt: skip
    exchange = text_of(row.get("id"))
    if exchange is None:
        yield Failed(place, "an exchange without an id")
        return
    topic, title = homes.get(exchange, (exchange, None))
    session = Session(topic, title)
    for side, role in SIDES:
        said = told.get(side)
        text = text_of(said.get("raw_content")) if isinstance(said, dict) else text_of(said)
        if text is None:
            yield Skipped(f"{place} {side}", "no text")
            continue
        turns[topic] = turns.get(topic, 0) + 1
        rest = without({"exchange": exchange, "importance": told.get("importance_score")})
        at = told.get("created_at") or row.get("created_at")
        yield message(session, turns[topic], f"{exchange}\n{role}", f"{place} {side}", role, text, at, rest)
