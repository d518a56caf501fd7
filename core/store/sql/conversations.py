"""The SQL of conversations: objects and exchanges by name, their sizes, and plans that end them.

A name is looked up in one category: names of another category, or of none, are other names.
"""

import json
from collections.abc import Sequence
from typing import NamedTuple, cast

from muisti.core.model.conversations import Counted, Level
from muisti.core.model.times import from_us
from muisti.core.model.values import Memory
from muisti.core.query.points import Point
from muisti.core.store.database import Refusal, Row, Scalar, Statement, refuse
from muisti.core.store.sql.spaces import SpaceRow
from muisti.core.store.sql.version_rows import COLUMNS, IDS, UNEXPIRED, WIDTH, id_list, lived, raw, said, structural
from muisti.core.text.terms import fold

_OBJECTS = structural("v")
_AT_PLACES = "v.died IS NULL AND v.status <> 'superseded' AND v.place IS NOT NULL"  # that of `versions_place`
_TURN = "exchange/"  # a place of a turn begins so
_SAID_AT = "coalesce({0}.event_at, {0}.created_at)"

# What of other rows counts for a row `v` of an object: the same space and category, at the same point of history.
_EXCHANGES = (
    "FROM versions e WHERE e.space_id = v.space_id AND e.conversation = v.conversation AND e.kind = 'exchange' "
    "AND e.turn IS NOT NULL AND e.category_folded IS v.category_folded AND {said} "
    "AND (e.expires_at IS NULL OR e.expires_at > ?) AND {then}"
)
_OF_SESSION = (
    "FROM versions {0} WHERE {0}.space_id = v.space_id AND {0}.kind = 'conversation' "
    f"AND {structural('{0}')} AND {{0}}.session = v.session AND {{0}}.category_folded IS v.category_folded "
    "AND {0}.status <> 'superseded' AND {then}"
)


_ENDS = "v.died IS NULL AND (v.status <> 'superseded' OR v.kind = 'exchange')"  # with the object that it belongs to
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
    superseded, current = _at(space, category, places)
    sql = f"SELECT {COLUMNS} {superseded.sql} UNION ALL SELECT {COLUMNS} {current.sql}"
    return Statement(sql, (*superseded.args, *current.args))


def session_of(space: SpaceRow, category: str | None, conversation: str, otherwise: str) -> Statement:
    """Select the current session of a conversation, or the one named `otherwise` when there is no conversation."""
    folded = fold(category or "")
    return Statement(
        f"SELECT {COLUMNS} FROM versions v WHERE v.space_id = ? AND coalesce(v.category_folded, '') = ? "
        "AND v.place = 'session/' || coalesce((SELECT c.session FROM versions c WHERE c.space_id = ? "
        "AND coalesce(c.category_folded, '') = ? AND c.place = ? AND c.died IS NULL AND c.status <> 'superseded' "
        f"AND c.place IS NOT NULL), ?) AND {_AT_PLACES}",
        (space.id, folded, space.id, folded, f"conversation/{conversation}", otherwise),
    )


def last_turn(space: SpaceRow, category: str | None, conversation: str) -> Statement:
    """Select the largest turn of a conversation; no row when it has none."""
    own = in_category(category)
    return Statement(
        "SELECT v.turn FROM versions v WHERE v.space_id = ? AND v.conversation = ? AND v.kind = 'exchange' "
        f"AND {own.sql} AND v.died IS NULL AND v.turn IS NOT NULL "
        "ORDER BY v.turn DESC LIMIT 1",
        (space.id, conversation, *own.args),
    )


def topic_names(space: SpaceRow, category: str | None, conversation: str) -> Statement:
    """Select the names that topics of a conversation have or had."""
    own = in_category(category)
    return Statement(
        "SELECT DISTINCT v.topic FROM versions v WHERE v.space_id = ? AND v.conversation = ? AND v.kind = 'topic' "
        f"AND {own.sql}",
        (space.id, conversation, *own.args),
    )


def exchanges(
    space: SpaceRow, category: str | None, conversation: str, point: Point, within: tuple[int, int], limit: int
) -> Statement:
    """Select exchanges of a conversation with turns from `within[0]` to `within[1]`, in their order."""
    own, (then, numbers) = in_category(category), lived(point)
    return Statement(
        f"SELECT {COLUMNS} FROM versions v WHERE v.space_id = ? AND v.conversation = ? AND v.kind = 'exchange' "
        f"AND v.turn >= ? AND v.turn <= ? AND {own.sql} AND {then} AND {said('v', point)} AND {UNEXPIRED} "
        "ORDER BY v.turn LIMIT ?",
        (space.id, conversation, *within, *own.args, *numbers, point.time, limit),
    )


def exchanges_count(
    space: SpaceRow, category: str | None, conversation: str, point: Point, within: tuple[int, int]
) -> Statement:
    """Count the exchanges of a conversation with turns in a range."""
    own, (then, numbers) = in_category(category), lived(point)
    return Statement(
        "SELECT count(*) FROM versions v WHERE v.space_id = ? AND v.conversation = ? AND v.kind = 'exchange' "
        f"AND v.turn >= ? AND v.turn <= ? AND {own.sql} AND {then} AND {said('v', point)} AND {UNEXPIRED}",
        (space.id, conversation, *within, *own.args, *numbers, point.time),
    )


def objects(space: SpaceRow, level: Level, conditions: Sequence[Condition], point: Point) -> Statement:
    """Select the objects of a level that meet all conditions, with their sizes; `sizes` reads the last columns."""
    (where, args), (sizes, bound) = _current(space, level, conditions, point), _sizes(level, point)
    return Statement(f"SELECT {COLUMNS}, {sizes} FROM versions v WHERE {where}", (*bound, *args))


def plain(space: SpaceRow, level: Level, conditions: Sequence[Condition], point: Point, limit: int) -> Statement:
    """Select objects of a level that meet all conditions, without their sizes."""
    where, args = _current(space, level, conditions, point)
    return Statement(f"SELECT {COLUMNS} FROM versions v WHERE {where} LIMIT ?", (*args, limit))


def page(
    space: SpaceRow,
    level: Level,
    conditions: Sequence[Condition],
    point: Point,
    sort: str,
    after: tuple[Scalar, bytes] | None,
    limit: int,
) -> Statement:
    """Select a page of the objects of a level: (columns, sizes, value that they are sorted by)."""
    (where, args), (sizes, bound) = _current(space, level, conditions, point), _sizes(level, point)
    (by, by_args), way = _order(level, sort.lstrip("-"), point), "DESC" if sort.startswith("-") else "ASC"
    beyond = "" if after is None else f"WHERE (o.by, o.memory_id) {'<' if way == 'DESC' else '>'} (?, ?)"
    chosen = f"SELECT v.id, v.memory_id, {by} AS by FROM versions v WHERE {where}"
    return Statement(
        f"SELECT {COLUMNS}, {sizes}, o.by FROM (SELECT * FROM ({chosen}) o {beyond} "
        f"ORDER BY o.by {way}, o.memory_id {way} LIMIT ?) o JOIN versions v ON v.id = o.id "
        f"ORDER BY o.by {way}, o.memory_id {way}",
        (*bound, *by_args, *args, *(after or ()), limit),
    )


def total(space: SpaceRow, level: Level, conditions: Sequence[Condition], point: Point) -> Statement:
    """Count the objects of a level that meet all conditions."""
    where, args = _current(space, level, conditions, point)
    return Statement(f"SELECT count(*) FROM versions v WHERE {where}", args)


def counted(row: Row) -> Counted:
    """Return the sizes in a row of `objects` or `page`."""
    given = cast(tuple[int, int, int, int, int | None, int | None, int | None], row[WIDTH : WIDTH + 7])
    turns, topics, conversations, tokens, first, last, last_turn = given
    return Counted(
        turns=turns,
        topics=topics,
        conversations=conversations,
        tokens=tokens,
        first_at=None if first is None else from_us(first),
        last_at=None if last is None else from_us(last),
        last_turn=last_turn,
    )


SORTED = WIDTH + 7  # place in a row of `page` of the value that it is sorted by


def of_user(user: str) -> Condition:
    """Return the condition that an object has a user: its author, or one that it names."""
    return Condition(
        "(v.author_folded = ? OR EXISTS (SELECT 1 FROM json_each(v.structure, '$.users') u WHERE u.value = ?))",
        (fold(user), user),
    )


def or_of_id(condition: Condition, ids: Sequence[str]) -> Condition:
    """Return the condition that an object has one of these ids, or meets another condition."""
    raws = tuple(map(raw, ids))
    return Condition(f"({condition.sql} OR v.memory_id IN ({', '.join('?' * len(raws))}))", (*condition.args, *raws))


def in_state(state: str) -> Condition:
    return Condition("coalesce(v.structure ->> '$.state', 'open') = ?", (state,))


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


def kinds_of(belongs: Condition) -> Statement:
    """Count the current memories that belong to an object, by kind."""
    return Statement(
        f"SELECT v.kind, count(*) FROM versions v WHERE {_ENDS} AND {belongs.sql} GROUP BY v.kind",
        belongs.args,
    )


def plan_ends(belongs: Condition, expected: int) -> list[Statement]:
    """Plan that all current memories that belong to an object end; refuse with `stale` unless so many are `expected`.

    What is below another object ends before it.
    """
    order = "CASE v.kind WHEN 'session' THEN 3 WHEN 'conversation' THEN 2 WHEN 'topic' THEN 1 ELSE 0 END"
    return [
        Statement(
            "INSERT INTO turns (memory_id, version, living, source) SELECT v.memory_id, v.version, 1, NULL "
            f"FROM versions v WHERE {_ENDS} AND {belongs.sql} "
            f"ORDER BY {order}, v.born",
            belongs.args,
        ),
        Statement(f"{refuse(Refusal.STALE)} WHERE (SELECT count(*) FROM turns) <> ?", (expected,)),
    ]


def held(among: str) -> str:
    """Return the condition that `v` is a session or a conversation with something in it that is not `among` the ids."""
    turns = (
        "EXISTS (SELECT 1 FROM versions o WHERE o.space_id = {0}.space_id AND o.conversation = {0}.conversation "
        f"AND o.category_folded IS {{0}}.category_folded AND o.died IS NULL AND o.memory_id NOT IN ({among}))"
    )
    talks = _OF_SESSION.format("c", then="c.died IS NULL")
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


def refuse_gone(space: SpaceRow, memory: Memory) -> Statement:
    """Refuse with `stale` when an object is not in this version any more."""
    return Statement(
        f"{refuse(Refusal.STALE)} WHERE NOT EXISTS (SELECT 1 FROM versions WHERE memory_id = ? AND version = ? "
        "AND space_id = ? AND died IS NULL)",
        (raw(memory.id), memory.version, space.id),
    )


def refuse_there(space: SpaceRow, category: str | None, places: Sequence[str]) -> Statement:
    """Refuse with `stale` when something has come to a place since it was read as empty."""
    superseded, current = _at(space, category, places)
    return Statement(
        f"{refuse(Refusal.STALE)} WHERE EXISTS (SELECT 1 {superseded.sql}) OR EXISTS (SELECT 1 {current.sql})",
        (*superseded.args, *current.args),
    )


def _at(space: SpaceRow, category: str | None, places: Sequence[str]) -> tuple[Condition, Condition]:
    """Return the rows `v` of superseded turns at places, then of what is current there: each has an index."""
    folded, own = fold(category or ""), "v.space_id = ? AND coalesce(v.category_folded, '') = ?"
    turns = [place.removeprefix(_TURN).split("\x1f") for place in places if place.startswith(_TURN)]
    superseded = (
        f"FROM json_each(?) j CROSS JOIN versions v WHERE {own} AND v.conversation = j.value ->> 0 "
        "AND v.kind = 'exchange' AND v.turn = CAST(j.value ->> 1 AS INTEGER) AND v.died IS NULL "
        "AND v.status = 'superseded'"
    )
    current = f"FROM versions v WHERE {own} AND v.place IN (SELECT value FROM json_each(?)) AND {_AT_PLACES}"
    return (
        Condition(superseded, (json.dumps(turns), space.id, folded)),
        Condition(current, (space.id, folded, json.dumps([*places]))),
    )


def _current(
    space: SpaceRow, level: Level, conditions: Sequence[Condition], point: Point
) -> tuple[str, tuple[Scalar, ...]]:
    then, numbers = _then(point, "v")
    where = [
        f"v.space_id = ? AND v.kind = '{level}' AND {_OBJECTS} AND {then} AND v.status <> 'superseded' AND {UNEXPIRED}"
    ]
    where += (f"({one.sql})" for one in conditions)
    args = (space.id, *numbers, point.time, *(value for one in conditions for value in one.args))
    return " AND ".join(where), args


def _sizes(level: Level, point: Point) -> tuple[str, tuple[Scalar, ...]]:
    """Return seven columns: turns, topics, conversations, tokens, times of the first and the last turn, last turn."""
    turns, args = _turns(level, point)
    at = _SAID_AT.format("e")
    topics, more = _topics(level, point)
    talks, last = _talks(level, point)
    each = (
        (f"(SELECT count(*) {turns})", args),
        (topics, more),
        (talks, last),
        (f"(SELECT coalesce(sum(e.tokens), 0) {turns})", args),
        (f"(SELECT min({at}) {turns})", args),
        (f"(SELECT max({at}) {turns})", args),
        (f"(SELECT max(e.turn) {turns})" if level != "session" else "NULL", args if level != "session" else ()),
    )
    return ", ".join(sql for sql, _ in each), tuple(value for _, values in each for value in values)


def _then(point: Point, row: str) -> tuple[str, tuple[Scalar, ...]]:
    then, numbers = lived(point)
    return then.replace("v.born", "+v.born").replace("v.", f"{row}."), numbers


def _turns(level: Level, point: Point) -> tuple[str, tuple[Scalar, ...]]:
    then, numbers = _then(point, "e")
    turns = _EXCHANGES.format(then=then, said=said("e", point))
    if level == "session":
        own, others = _then(point, "c")
        talks = f"SELECT c.conversation {_OF_SESSION.format('c', then=own)}"
        among = turns.replace("e.conversation = v.conversation", f"e.conversation IN ({talks})")
        return among, (*others, point.time, *numbers)
    if level == "topic":
        spans = (
            " AND EXISTS (SELECT 1 FROM json_each(v.structure, '$.spans') s "
            "WHERE e.turn >= s.value ->> 0 AND e.turn <= s.value ->> 1)"
        )
        return turns + spans, (point.time, *numbers)
    return turns, (point.time, *numbers)


def _topics(level: Level, point: Point) -> tuple[str, tuple[Scalar, ...]]:
    if level != "conversation":
        return "0", ()
    then, numbers = _then(point, "t")
    return (
        "(SELECT count(*) FROM versions t WHERE t.space_id = v.space_id AND t.conversation = v.conversation "
        "AND t.kind = 'topic' AND t.category_folded IS v.category_folded AND t.status <> 'superseded' "
        f"AND {then})",
        numbers,
    )


def _talks(level: Level, point: Point) -> tuple[str, tuple[Scalar, ...]]:
    if level != "session":
        return "0", ()
    then, numbers = _then(point, "c")
    return f"(SELECT count(*) {_OF_SESSION.format('c', then=then)})", numbers


def _order(level: Level, by: str, point: Point) -> tuple[str, tuple[Scalar, ...]]:
    """Return the value that objects are sorted by; that of `last_at` is the time of the last turn, or of creation."""
    if by == "name":
        return f"v.{level}", ()
    if by == "created_at" or level != "conversation":
        return "+v.created_at", ()
    then, numbers = _then(point, "e")
    turns = _EXCHANGES.format(then=then, said=said("e", point))
    last = f"SELECT {_SAID_AT.format('e')} {turns} ORDER BY e.turn DESC LIMIT 1"
    return f"coalesce(({last}), v.created_at)", (point.time, *numbers)


def categories(space: SpaceRow, level: Level, name: str, conversation: str | None, point: Point) -> Statement:
    """Select the folded category of each object of a name, null for none."""
    conditions = [named(level, name)]
    if conversation is not None:
        conditions.append(named("conversation", conversation))
    where, args = _current(space, level, conditions, point)
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


def adoptable(space: SpaceRow, category: str | None, now: int) -> Statement:
    """Select (row, category, conversation, session, turn) of memories whose metadata names their session and turn.

    They belong to no conversation yet, and come in the order of turns. `metadata.conversation` is the conversation,
    which the session groups with others; without it the session is the conversation, and null comes as session. A turn
    is a whole number from 0: a memory without one may be a note about the session.
    """
    only, args = ("", ()) if category is None else (" AND v.category_folded = ?", (fold(category),))
    return Statement(
        "SELECT v.id, v.category_folded, coalesce(c.value, s.value) AS talk, "
        "CASE WHEN c.value IS NOT NULL THEN s.value END, t.turn FROM versions v "
        "JOIN metadata s ON s.version_id = v.id AND s.path = 'session' AND s.position = 0 AND s.type <> 'boolean' "
        "LEFT JOIN metadata c ON c.version_id = v.id AND c.path = 'conversation' AND c.position = 0 "
        "AND c.type <> 'boolean' "
        "JOIN (SELECT version_id, CAST(value AS INTEGER) AS turn FROM metadata WHERE path = 'turn' "
        "AND position = 0 AND type = 'number' AND value >= 0 AND value = CAST(value AS INTEGER)) t "
        "ON t.version_id = v.id "
        f"WHERE v.space_id = ? AND v.died IS NULL AND v.status <> 'superseded' AND {UNEXPIRED} "
        f"AND v.kind IN ('memory', 'exchange') AND v.conversation IS NULL{only} "
        f"ORDER BY v.category_folded, talk, t.turn, {_SAID_AT.format('v')}, v.memory_id",
        (space.id, now, *args),
    )
