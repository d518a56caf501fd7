"""Names of the hierarchy of conversations: the category of each, and what filters by session and topic mean.

A session and the stretches of a topic are said by objects. A filter on them becomes one on conversations and turns, as
those objects are or were at the point of history that is read. Turns that are read get their names from there.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import groupby
from typing import cast

from msgspec import json, structs

from muisti.core.identity.caller import Caller
from muisti.core.model.errors import Conflict, InvalidInput
from muisti.core.model.ids import id_bytes
from muisti.core.model.messages import sound
from muisti.core.model.places import ObjectName
from muisti.core.model.values import Memory
from muisti.core.query.filters import And, Filter, Leaf, Not, Or, fields_of
from muisti.core.query.points import AsOf, Point
from muisti.core.read.reading import find_space, point_of
from muisti.core.store.database import Database
from muisti.core.store.sql import hierarchy, version_rows
from muisti.core.store.sql.filters import where
from muisti.core.store.sql.spaces import SpaceRow
from muisti.core.text.terms import fold

_NOWHERE = Leaf("conversation", "eq", "\x1f")  # no name: unknown of memories without a conversation, else false
NAMES_MAX = 10_000  # conversations or stretches of turns to which a filter may resolve

NAMED = 5  # topics that a refusal lists

Ask = Callable[[Leaf, Sequence[Leaf]], Sequence[Memory]]


def namespace(caller: Caller, category: str | None) -> str | None:
    """Return the category in which a caller's names are looked up.

    Raises:
        Forbidden: the caller works in another category only.
    """
    if category is not None:
        caller.check(category)
    return category if caller.category is None else caller.category


def home(database: Database, space: SpaceRow, name: ObjectName, caller: Caller, point: Point) -> ObjectName:
    """Return the name of an object with the category in which it is.

    That is the caller's own, or the one that the name says. Otherwise an object without a category comes first, then
    the one category that has the name. The id of a topic is replaced by its name.

    Raises:
        Forbidden: the caller works in another category only.
        Conflict: several categories have the name.
    """
    if name.level == "topic" and (raw := id_bytes(name.name)) is not None:
        (rows,) = database.read([hierarchy.topic_of_id(space, raw, point)])
        for topic, conversation, category in cast("list[tuple[str, str, str | None]]", rows):
            is_home = name.category is None or fold(name.category) == fold(category or "")
            if conversation == name.conversation and caller.shows(category) and is_home:
                return structs.replace(name, name=topic, category=category)
    if caller.category is not None or name.category is not None:
        return structs.replace(name, category=namespace(caller, name.category))
    (rows,) = database.read([hierarchy.categories(space, name.level, name.name, name.conversation, point)])
    found = [None if row[0] is None else str(row[0]) for row in rows]
    if len(found) > 1 and None not in found:
        told = ", ".join(map(str, found))
        raise Conflict(f"{name.level} {str(name)!r} is in {len(found)} categories ({told}); name one")
    return structs.replace(name, category=None if not found or None in found else found[0])


def is_about_objects(filter: Filter | None) -> bool:
    """Return whether a filter names a session or a topic, so that objects must be read for it."""
    return filter is not None and not fields_of(filter).isdisjoint(("session", "topic"))


def resolved(database: Database, space: SpaceRow, filter: Filter | None, point: Point) -> Filter | None:
    """Return the filter with conditions on conversations and turns in place of those on sessions and topics.

    Objects themselves keep the meaning that the filter says.

    Raises:
        InvalidInput: the filter names more conversations than one may, or a topic whose name several have.
    """
    if filter is None or not is_about_objects(filter):
        return filter
    return _resolved(filter, lambda leaf, within: _objects(database, space, leaf, within, point))


def resolved_at(database: Database, space: str, filter: Filter | None, as_of: AsOf | None, now: int) -> Filter | None:
    """Return the filter as `resolved` does, by the objects of a space as they are or were at a point.

    Raises:
        NotFound: there is no such space.
        EpochGone, PastRetention, PointAhead: it cannot be shown as it was then.
        InvalidInput: the filter names more conversations than one may, or a topic whose name several have.
    """
    if not is_about_objects(filter):
        return filter
    point = Point(None, now) if as_of is None else point_of(database, space, as_of, now)
    return resolved(database, find_space(database, space), filter, point)


def _resolved(filter: Filter, ask: Ask, within: tuple[Leaf, ...] = ()) -> Filter:
    """Return the filter as `resolved` does; `within` are the conditions beside it on conversation or category."""
    match filter:
        case Leaf(field, "exists") if field in ("session", "topic"):
            there = Or((Leaf(field, "exists", True), *_anywhere(field, ask, within)))
            return there if filter.value is True else Not(there)
        case Leaf(field) if field in ("session", "topic"):
            own = And((Leaf(field, "exists", True), filter))
            missing = Leaf(field, "exists", False)
            found = ask(filter, within)
            objects = [_itself(one) for one in found if field == "topic" and one.topic not in filter.operands]
            return Or((own, *objects, *(And((missing, part)) for part in (_NOWHERE, *_below(field, found)))))
        case Leaf():
            return filter
        case Not(part):
            return Not(_resolved(part, ask, within))
        case And(parts):
            beside = [one for one in parts if isinstance(one, Leaf) and one.op in ("eq", "in")]
            within += tuple(one for one in beside if one.field in ("conversation", "category"))
            return And(tuple(_resolved(part, ask, within) for part in parts))
        case Or(parts):
            return Or(tuple(_resolved(part, ask, within) for part in parts))


def _objects(database: Database, space: SpaceRow, leaf: Leaf, within: Sequence[Leaf], point: Point) -> Sequence[Memory]:
    level = "conversation" if leaf.field == "session" else "topic"
    condition = hierarchy.Condition(*where(leaf))
    ids = [str(one) for one in leaf.operands if id_bytes(str(one)) is not None] if level == "topic" else []
    if ids and leaf.op in ("eq", "in"):
        condition = hierarchy.or_of_id(condition, ids)
    conditions = [condition, *(hierarchy.Condition(*where(one)) for one in within)]
    (rows,) = database.read([hierarchy.plain(space, level, conditions, point, NAMES_MAX + 1)])
    if len(rows) > NAMES_MAX:
        raise InvalidInput.at("$.filter", f"{leaf.field} stands for more than {NAMES_MAX:,} {level}s; narrow it down")
    found = [version_rows.memory(row, space.space.name) for row in rows]
    if level == "topic" and leaf.op in ("eq", "in"):
        _check_one(found, leaf)
    return found


def _check_one(found: Sequence[Memory], leaf: Leaf) -> None:
    """Raise `InvalidInput` when a name is that of topics of several conversations."""
    for name in leaf.operands:
        same = [one for one in found if one.topic == name]
        if len(same) > 1:
            told = ", ".join(f"{one.id} of {one.conversation!r}" for one in same[:NAMED])
            more = f" and {len(same) - NAMED:,} more" if len(same) > NAMED else ""
            message = (
                f"{name!r} is the name of {len(same):,} topics ({told}{more}); give an id, or the `conversation` too"
            )
            raise InvalidInput.at("$.filter.topic", message)


def _itself(topic: Memory) -> Filter:
    """Return the condition that is true of a topic and its summary."""
    name, talk = Leaf("topic", "eq", topic.topic or ""), Leaf("conversation", "eq", topic.conversation or "")
    return And((Leaf("topic", "exists", True), name, _home(fold(topic.category or "")), talk))


def _anywhere(field: str, ask: Ask, within: tuple[Leaf, ...]) -> list[Filter]:
    """Return conditions that are true of what belongs to any session or topic, and false of all else."""
    talk = Leaf("conversation", "exists", True)
    if field == "session":
        return [talk]
    found = ask(Leaf(field, "exists", True), within)
    return [And((talk, Leaf("turn", "exists", True), part)) for part in _below(field, found)]


def _below(field: str, objects: Iterable[Memory]) -> list[Filter]:
    """Return conditions for each category of the objects: that a memory belongs to one of them.

    A condition is unknown of memories that belong to no conversation.
    """
    found: list[Filter] = []
    ordered = sorted(objects, key=lambda memory: fold(memory.category or ""))
    for category, group in groupby(ordered, key=lambda memory: fold(memory.category or "")):
        home = _home(category)
        if field == "session":
            names = tuple(dict.fromkeys(memory.conversation or "" for memory in group))
            found.append(And((home, Leaf("conversation", "in", names))))
        else:
            found += (And((home, *stretch)) for memory in group for stretch in _stretches(memory))
    return found


def _home(category: str) -> Filter:
    """Return the condition that a memory is in a category, or in none when that is empty."""
    if not category:
        return Leaf("category", "exists", False)
    return And((Leaf("category", "exists", True), Leaf("category", "eq", category)))


def situated(database: Database, space: SpaceRow, memories: Iterable[Memory], point: Point) -> list[Memory]:
    """Return memories, turns among them with the session and topic that they belong to, and divided right.

    A turn that is stored names its conversation only: conversations move, and topics are found later.
    """
    found = [*memories]
    names = {one.conversation for one in found if one.kind == "exchange" and one.conversation is not None}
    if not names:
        return found
    (rows,) = database.read([hierarchy.above(space, sorted(names), point)])
    sessions: dict[tuple[str, str], str] = {}
    topics: dict[tuple[str, str], list[tuple[int, int, str]]] = {}
    for row in rows:
        name, category, session, topic, spans = cast("tuple[str, str | None, str | None, str | None, str | None]", row)
        if topic is None:
            sessions[name, category or ""] = session or ""
            continue
        stretches: list[list[int]] = json.decode(spans or "[]")
        topics.setdefault((name, category or ""), []).extend((first, last, topic) for first, last in stretches)
    return [_situated(one, sessions, topics) for one in found]


def _situated(
    memory: Memory,
    sessions: Mapping[tuple[str, str], str],
    topics: Mapping[tuple[str, str], Sequence[tuple[int, int, str]]],
) -> Memory:
    if memory.kind != "exchange" or memory.conversation is None:
        return memory
    home, turn = (memory.conversation, fold(memory.category or "")), -1 if memory.turn is None else memory.turn
    topic = next((name for first, last, name in topics.get(home, ()) if first <= turn <= last), None)
    return structs.replace(sound(memory), session=sessions.get(home) or None, topic=topic)


def _stretches(topic: Memory) -> list[tuple[Filter, ...]]:
    """Return the conditions of each stretch of turns of a topic."""
    spans = cast("list[list[int]]", topic.structure.get("spans", []))
    talk = Leaf("conversation", "eq", topic.conversation or "")
    return [(talk, Leaf("turn", "gte", first), Leaf("turn", "lte", last)) for first, last in spans]
