"""The SQL of conversations: objects and exchanges by name, their sizes, and plans that end them.

A name is looked up in one category: names of another category, or of none, are other names.
"""

from collections.abc import Sequence
from typing import cast

from muisti.core.conversations.model import Counted
from muisti.core.model.places import Level
from muisti.core.model.times import from_us
from muisti.core.model.values import Memory
from muisti.core.query.points import Point
from muisti.core.store.database import Refusal, Row, Scalar, Statement, refuse
from muisti.core.store.sql.hierarchy import (
    AT_PLACES,
    OF_SESSION,
    Condition,
    current_objects,
    in_category,
    lived_as,
    rows_at,
)
from muisti.core.store.sql.spaces import SpaceRow
from muisti.core.store.sql.version_rows import COLUMNS, UNEXPIRED, WIDTH, lived, raw, said
from muisti.core.text.terms import fold

_SAID_AT = "coalesce({0}.event_at, {0}.created_at)"

# What of other rows counts for a row `v` of an object: the same space and category, at the same point of history.
_EXCHANGES = (
    "FROM versions e WHERE e.space_id = v.space_id AND e.conversation = v.conversation AND e.kind = 'exchange' "
    "AND e.turn IS NOT NULL AND e.category_folded IS v.category_folded AND {said} "
    "AND (e.expires_at IS NULL OR e.expires_at > ?) AND {then}"
)


_ENDS = "v.died IS NULL AND (v.status <> 'superseded' OR v.kind = 'exchange')"  # with the object that it belongs to


def session_of(space: SpaceRow, category: str | None, conversation: str, otherwise: str) -> Statement:
    """Select the current session of a conversation, or the one named `otherwise` when there is no conversation."""
    folded = fold(category or "")
    return Statement(
        f"SELECT {COLUMNS} FROM versions v WHERE v.space_id = ? AND coalesce(v.category_folded, '') = ? "
        "AND v.place = 'session/' || coalesce((SELECT c.session FROM versions c WHERE c.space_id = ? "
        "AND coalesce(c.category_folded, '') = ? AND c.place = ? AND c.died IS NULL AND c.status <> 'superseded' "
        f"AND c.place IS NOT NULL), ?) AND {AT_PLACES}",
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
    (where, args), (sizes, bound) = current_objects(space, level, conditions, point), _sizes(level, point)
    return Statement(f"SELECT {COLUMNS}, {sizes} FROM versions v WHERE {where}", (*bound, *args))


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
    (where, args), (sizes, bound) = current_objects(space, level, conditions, point), _sizes(level, point)
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
    where, args = current_objects(space, level, conditions, point)
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


def in_state(state: str) -> Condition:
    return Condition("coalesce(v.structure ->> '$.state', 'open') = ?", (state,))


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


def refuse_gone(space: SpaceRow, memory: Memory) -> Statement:
    """Refuse with `stale` when an object is not in this version any more."""
    return Statement(
        f"{refuse(Refusal.STALE)} WHERE NOT EXISTS (SELECT 1 FROM versions WHERE memory_id = ? AND version = ? "
        "AND space_id = ? AND died IS NULL)",
        (raw(memory.id), memory.version, space.id),
    )


def refuse_there(space: SpaceRow, category: str | None, places: Sequence[str]) -> Statement:
    """Refuse with `stale` when something has come to a place since it was read as empty."""
    superseded, current = rows_at(space, category, places)
    return Statement(
        f"{refuse(Refusal.STALE)} WHERE EXISTS (SELECT 1 {superseded.sql}) OR EXISTS (SELECT 1 {current.sql})",
        (*superseded.args, *current.args),
    )


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


def _turns(level: Level, point: Point) -> tuple[str, tuple[Scalar, ...]]:
    then, numbers = lived_as(point, "e")
    turns = _EXCHANGES.format(then=then, said=said("e", point))
    if level == "session":
        own, others = lived_as(point, "c")
        talks = f"SELECT c.conversation {OF_SESSION.format('c', then=own)}"
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
    then, numbers = lived_as(point, "t")
    return (
        "(SELECT count(*) FROM versions t WHERE t.space_id = v.space_id AND t.conversation = v.conversation "
        "AND t.kind = 'topic' AND t.category_folded IS v.category_folded AND t.status <> 'superseded' "
        f"AND {then})",
        numbers,
    )


def _talks(level: Level, point: Point) -> tuple[str, tuple[Scalar, ...]]:
    if level != "session":
        return "0", ()
    then, numbers = lived_as(point, "c")
    return f"(SELECT count(*) {OF_SESSION.format('c', then=then)})", numbers


def _order(level: Level, by: str, point: Point) -> tuple[str, tuple[Scalar, ...]]:
    """Return the value that objects are sorted by; that of `last_at` is the time of the last turn, or of creation."""
    if by == "name":
        return f"v.{level}", ()
    if by == "created_at" or level != "conversation":
        return "+v.created_at", ()
    then, numbers = lived_as(point, "e")
    turns = _EXCHANGES.format(then=then, said=said("e", point))
    last = f"SELECT {_SAID_AT.format('e')} {turns} ORDER BY e.turn DESC LIMIT 1"
    return f"coalesce(({last}), v.created_at)", (point.time, *numbers)


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
