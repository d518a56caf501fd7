"""The SQL of places in the hierarchy of conversations: what is there, what an object holds, and where a name is.

A name is looked up in one category: names of another category, or of none, are other names.
"""

import json
from collections.abc import Sequence
from typing import NamedTuple

from muisti.core.model.places import Level
from muisti.core.query.points import Point
from muisti.core.store.database import Refusal, Scalar, Statement, refuse, slots
from muisti.core.store.sql import version_rows
from muisti.core.store.sql.spaces import SpaceRow
from muisti.core.store.sql.version_rows import (
    COLUMNS,
    CURRENT,
    IDS,
    UNEXPIRED,
    id_list,
    lived,
    raw,
    structural,
)
from muisti.core.text.terms import fold

_OBJECTS = structural("v")
AT_PLACES = "v.died IS NULL AND v.status <> 'superseded' AND v.place IS NOT NULL"  # that of `versions_place`
_TURN = "exchange/"  # a place of a turn begins so


OF_SESSION = (
    "FROM versions {0} WHERE {0}.space_id = v.space_id AND {0}.kind = 'conversation' "
    f"AND {structural('{0}')} AND {{0}}.session = v.session AND {{0}}.category_folded IS v.category_folded "
    "AND {0}.status <> 'superseded' AND {then}"
)


_OPEN = "c.died IS NULL AND c.status <> 'superseded'"
_LAST = "c.version = (SELECT max(l.version) FROM versions l WHERE l.memory_id = c.memory_id)"


class Condition(NamedTuple):
    """A condition on the row `v` of an object, and the values of its placeholders."""

    sql: str
    args: tuple[Scalar, ...] = ()


def in_category(category: str | None) -> Condition:
    """Return the condition that a row is in a category; None for those of no category."""
    if category is None:
        return Condition("v.category_folded IS NULL")
    return Condition("v.category_folded = ?", (fold(category),))


def at_places(space: SpaceRow, category: str | None, places: Sequence[str]) -> Statement:
    """Select what is at places in the hierarchy of a category, expired or not: superseded turns, then the current."""
    superseded, current = rows_at(space, category, places)
    sql = f"SELECT {COLUMNS} {superseded.sql} UNION ALL SELECT {COLUMNS} {current.sql}"
    return Statement(sql, (*superseded.args, *current.args))


def plain(space: SpaceRow, level: Level, conditions: Sequence[Condition], point: Point, limit: int) -> Statement:
    """Select objects of a level that meet all conditions, without their sizes."""
    where, args = current_objects(space, level, conditions, point)
    return Statement(f"SELECT {COLUMNS} FROM versions v WHERE {where} LIMIT ?", (*args, limit))


def or_of_id(condition: Condition, ids: Sequence[str]) -> Condition:
    """Return the condition that an object has one of these ids, or meets another condition."""
    raws = tuple(map(raw, ids))
    return Condition(f"({condition.sql} OR v.memory_id IN ({', '.join('?' * len(raws))}))", (*condition.args, *raws))


def named(level: Level, name: str) -> Condition:
    """Return the condition that an object has a name; of topics, that they belong to a conversation see `within`."""
    return Condition(f"v.{level} = ?", (name,))


def members(
    space: SpaceRow, level: Level, names: tuple[str, str | None], category: str | None, *, ended: bool = False
) -> Condition:
    """Return the condition that a version belongs to an object or is that object.

    `names` are the name of the object and, of a topic, that of its conversation. Exchanges belong to no topic: a topic
    that ends leaves them in their conversation. `ended`: deleted conversations still belong to their session.
    """
    (own, args), (name, conversation) = in_category(category), names
    if level == "conversation":
        return Condition(f"v.space_id = ? AND v.conversation = ? AND {own}", (space.id, name, *args))
    if level == "topic":
        where = f"v.space_id = ? AND v.conversation = ? AND v.topic = ? AND {own}"
        return Condition(where, (space.id, conversation, name, *args))
    below = (
        f"SELECT m.id FROM versions m WHERE m.space_id = ? AND {structural('m')} AND m.session = ? UNION ALL "
        "SELECT m.id FROM versions c JOIN versions m ON m.space_id = c.space_id AND m.conversation = c.conversation "
        f"WHERE c.space_id = ? AND c.kind = 'conversation' AND {structural('c')} AND c.session = ? "
        f"AND {_LAST if ended else _OPEN} AND {own.replace('v.', 'c.')}"
    )
    return Condition(f"v.id IN ({below}) AND {own}", (space.id, name, space.id, name, *args, *args))


def erasable(belongs: Condition) -> Statement:
    """Select the ids of all memories whose last version belongs to an object, deleted ones too."""
    return Statement(
        f"SELECT DISTINCT v.memory_id FROM versions v WHERE {belongs.sql} "
        "AND v.version = (SELECT max(l.version) FROM versions l WHERE l.memory_id = v.memory_id) ORDER BY 1",
        belongs.args,
    )


def held(among: str) -> str:
    """Return the condition that `v` is a session or a conversation with something in it that is not `among` the ids."""
    turns = (
        "EXISTS (SELECT 1 FROM versions o WHERE o.space_id = {0}.space_id AND o.conversation = {0}.conversation "
        f"AND o.category_folded IS {{0}}.category_folded AND o.died IS NULL AND o.memory_id NOT IN ({among}))"
    )
    talks = OF_SESSION.format("c", then="c.died IS NULL")
    others = f"(c.memory_id NOT IN ({among}) OR {turns.format('c')})"
    return (
        f"(v.kind = 'conversation' AND {turns.format('v')} "
        f"OR v.kind = 'session' AND EXISTS (SELECT 1 {talks} AND {others}))"
    )


def holding(space: SpaceRow, ids: Sequence[bytes]) -> Statement:
    """Select (id, kind, name) of those sessions and conversations among memories that hold something besides them."""
    return Statement(
        f"SELECT v.memory_id, v.kind, coalesce(v.conversation, v.session) {_HOLDING}", (id_list(ids), space.id)
    )


def refuse_holding(space: SpaceRow, ids: Sequence[bytes], number: int) -> Statement:
    """Refuse with `stale` unless `holding` selects `number` of these memories."""
    wrong = f"(SELECT count(*) {_HOLDING}) <> ?"
    return Statement(f"{refuse(Refusal.STALE)} WHERE {wrong}", (id_list(ids), space.id, number))


_HOLDING = (
    f"FROM (WITH m AS MATERIALIZED {IDS.replace('unhex(value)', 'unhex(value) AS id')} SELECT v.* FROM versions v "
    f"WHERE v.memory_id IN (SELECT id FROM m) AND v.space_id = ? AND v.died IS NULL AND {held('SELECT id FROM m')}) v"
)


def rows_at(space: SpaceRow, category: str | None, places: Sequence[str]) -> tuple[Condition, Condition]:
    """Return the rows `v` of superseded turns at places, then of what is current there: each has an index."""
    folded, own = fold(category or ""), "v.space_id = ? AND coalesce(v.category_folded, '') = ?"
    turns = [place.removeprefix(_TURN).split("\x1f") for place in places if place.startswith(_TURN)]
    superseded = (
        f"FROM json_each(?) j CROSS JOIN versions v WHERE {own} AND v.conversation = j.value ->> 0 "
        "AND v.kind = 'exchange' AND v.turn = CAST(j.value ->> 1 AS INTEGER) AND v.died IS NULL "
        "AND v.status = 'superseded'"
    )
    current = f"FROM versions v WHERE {own} AND v.place IN (SELECT value FROM json_each(?)) AND {AT_PLACES}"
    return (
        Condition(superseded, (json.dumps(turns), space.id, folded)),
        Condition(current, (space.id, folded, json.dumps([*places]))),
    )


def current_objects(
    space: SpaceRow, level: Level, conditions: Sequence[Condition], point: Point
) -> tuple[str, tuple[Scalar, ...]]:
    then, numbers = lived_as(point, "v")
    where = [
        f"v.space_id = ? AND v.kind = '{level}' AND {_OBJECTS} AND {then} AND v.status <> 'superseded' AND {UNEXPIRED}"
    ]
    where += (f"({one.sql})" for one in conditions)
    args = (space.id, *numbers, point.time, *(value for one in conditions for value in one.args))
    return " AND ".join(where), args


def lived_as(point: Point, row: str) -> tuple[str, tuple[Scalar, ...]]:
    then, numbers = lived(point)
    return then.replace("v.born", "+v.born").replace("v.", f"{row}."), numbers


def categories(space: SpaceRow, level: Level, name: str, conversation: str | None, point: Point) -> Statement:
    """Select the folded category of each object of a name, null for none."""
    conditions = [named(level, name)]
    if conversation is not None:
        conditions.append(named("conversation", conversation))
    where, args = current_objects(space, level, conditions, point)
    return Statement(f"SELECT v.category_folded FROM versions v WHERE {where} LIMIT 20", args)


def above(space: SpaceRow, names: Sequence[str], point: Point) -> Statement:
    """Select (conversation, folded category, session, topic, spans) of conversations and of their topics."""
    then, numbers = lived(point)
    return Statement(
        "SELECT v.conversation, v.category_folded, v.session, v.topic, v.structure ->> '$.spans' "
        "FROM json_each(?) j CROSS JOIN versions v WHERE v.space_id = ? AND v.conversation = j.value "
        f"AND v.kind IN ('conversation', 'topic') AND {then} AND v.status <> 'superseded'",
        (json.dumps([*names]), space.id, *numbers),
    )


def topic_of_id(space: SpaceRow, memory_id: bytes, point: Point) -> Statement:
    """Select (topic, conversation, category) of the topic with an id."""
    then, numbers = lived(point)
    return Statement(
        f"SELECT v.topic, v.conversation, v.category FROM versions v WHERE v.memory_id = ? AND +v.space_id = ? "
        f"AND v.kind = 'topic' AND {then}",
        (memory_id, space.id, *numbers),
    )


def exchanges(
    space: SpaceRow, category: str | None, conversation: str, turns: tuple[int, int], now: int, limit: int
) -> Statement:
    """Select the first exchanges with turns from the first to the second, in order."""
    of, args = turns_of(space, category, conversation, turns, now)
    return Statement(f"SELECT {COLUMNS} FROM versions v WHERE {of} ORDER BY v.turn LIMIT ?", (*args, limit))


def objects(space: SpaceRow, category: str | None, conversation: str, now: int, *kinds: str) -> Statement:
    """Select the objects of some kinds that belong to a conversation, oldest first."""
    of, args = of_conversation(space, category, conversation)
    return Statement(
        f"SELECT {COLUMNS} FROM versions v WHERE {of} AND v.kind IN {slots(kinds)} AND {CURRENT} AND {UNEXPIRED} "
        "ORDER BY v.memory_id",
        (*args, *kinds, now),
    )


def of_conversation(space: SpaceRow, category: str | None, conversation: str) -> tuple[str, tuple[Scalar, ...]]:
    where = "v.space_id = ? AND v.conversation = ? AND coalesce(v.category_folded, '') = ?"
    return where, (space.id, conversation, fold(category or ""))


def turns_of(
    space: SpaceRow, category: str | None, conversation: str, turns: tuple[int, int], now: int
) -> tuple[str, tuple[Scalar, ...]]:
    of, args = of_conversation(space, category, conversation)
    said = f"v.died IS NULL AND {version_rows.said('v', Point(None, now))} AND {UNEXPIRED}"
    where = f"{of} AND v.kind = 'exchange' AND v.turn >= ? AND v.turn <= ? AND {said}"
    return where, (*args, *turns, now)
