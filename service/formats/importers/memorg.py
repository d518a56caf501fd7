"""Memorg: its SQLite database of sessions, conversations, topics and exchanges.

An exchange, which is what the user said and what was answered, becomes one memory with both messages. It has the id
that its user's message had when each message became a memory of its own. Rows hold nested copies of what is below
them: from those copies comes where an exchange belongs.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal, cast

from muisti.core.model.values import SOURCES_MAX
from muisti.service.formats.importers.dialogues import (
    Conversation,
    conversation_object,
    message,
    name_of,
    named,
    session_object,
    summary,
)
from muisti.service.formats.importers.items import (
    Failed,
    Found,
    Item,
    Skipped,
    retrieved,
    text_of,
    times,
    without,
    words,
)
from muisti.service.formats.importers.shapes import Shape, json_object
from muisti.service.formats.importers.source_files import Source, Tables, tables

Level = Literal["session", "conversation", "topic"]

COLUMNS = ("id", "data", "created_at", "updated_at")
SIDES = (("user_message", "user"), ("system_message", "assistant"))
VECTOR = "embedding"
CUSTOM = "custom_memory"
OWN = (*COLUMNS, "importance_score", "metadata", "view_count", VECTOR, "user_message", "system_message")
# The levels from the top, each with the name of the list of what is below it.
LEVELS: tuple[tuple[Level, str], ...] = (
    ("session", "conversations"), ("conversation", "topics"), ("topic", "exchanges"),
)  # fmt: skip
# The fields that name what a summary is of.
NAMED: Mapping[Level, Sequence[str]] = {
    "session": ("session",), "conversation": ("conversation",), "topic": ("conversation", "topic"),
}  # fmt: skip
HIGH, LOW = 0.7, 0.3  # importance scores; an exchange without a score has 0
SYSTEM = "memorg"  # name of the session of conversations without one


@dataclass(slots=True)
class _Object:
    """A session, conversation or topic as its row tells it, with its parent and the exchanges below it.

    `turns` counts the exchanges of a conversation, `spans` has the turns of a topic. `sources` are external ids.
    """

    level: Level
    id: str
    row: dict[str, Any]
    place: str
    parent: "_Object | None" = None
    topics: "list[_Object]" = field(default_factory=list["_Object"])
    turns: int = 0
    spans: list[list[int]] = field(default_factory=list[list[int]])
    sources: list[str] = field(default_factory=list[str])
    first: Item | None = None

    def take(self, item: Item, turn: int) -> None:
        """Note an exchange that belongs to this object."""
        self.first = self.first or item
        if len(self.sources) < SOURCES_MAX:
            self.sources.append(item.external)
        if self.spans and self.spans[-1][1] == turn - 1:
            self.spans[-1][1] = turn
        else:
            self.spans.append([turn, turn])


class _Hierarchy:
    """The objects of a database by level and id, and the object that each exchange belongs to."""

    def __init__(self) -> None:
        self.objects: dict[tuple[Level, str], _Object] = {}
        self._exchanges: dict[str, _Object] = {}

    def add(self, level: Level, children: str, row: dict[str, Any], place: str) -> None:
        """Add the object of a row, over what nested copies of it say."""
        held = self._noted(level, str(row["id"]), place)
        held.row, held.place = without(row, children, VECTOR), place
        self._below(held, children, row)

    def home(self, exchange: str) -> "_Object | None":
        """Return the lowest object that an exchange is known to belong to."""
        return self._exchanges.get(exchange)

    def conversation(self, home: _Object) -> _Object | None:
        """Return the conversation of an object. One is made for a topic that belongs to none."""
        if home.level == "topic" and home.parent is None:
            made = self._noted("conversation", home.id, home.place)
            made.row = made.row or {"title": home.row.get("title")}
            home.parent = made
            made.topics.append(home)
        return home.parent if home.level == "topic" else home if home.level == "conversation" else None

    def _noted(self, level: Level, id_: str, place: str) -> _Object:
        return self.objects.setdefault((level, id_), _Object(level, id_, {}, place))

    def _below(self, parent: _Object, children: str, row: dict[str, Any]) -> None:
        """Note what is nested in a row, and in what is nested there."""
        for child in _objects(row.get(children)):
            id_ = text_of(child.get("id"))
            if id_ is None:
                continue
            if children == "exchanges":
                self._exchanges[id_] = parent
                continue
            (level, below) = next(one for one in LEVELS if f"{one[0]}s" == children)
            held = self._noted(level, id_, parent.place)
            if held.parent is None:
                held.parent = parent
                parent.topics += [held] if level == "topic" else []
            held.row = held.row or without(child, below, VECTOR)
            self._below(held, below, child)


def detect(shape: Shape) -> bool:
    return {"id", "data"} <= set(shape.tables.get("exchanges", ()))


def read(source: Source) -> Iterator[Found]:
    hierarchy = _Hierarchy()
    with tables(source) as opened:
        for level, children in LEVELS:
            yield from _level(opened, level, children, hierarchy)
        for place, row in opened.rows("exchanges", COLUMNS):
            record = json_object(str(row.get("data") or ""), place)
            yield record if isinstance(record, Failed) else _exchange(place, row, record, hierarchy)
        for place, row in opened.rows(CUSTOM, COLUMNS) if opened.columns(CUSTOM) else ():
            record = json_object(str(row.get("data") or ""), place)
            yield record if isinstance(record, Failed) else _custom(place, {**row, **record})
    for level in ("topic", "conversation", "session"):
        for held in [one for one in hierarchy.objects.values() if one.level == level]:
            yield from _object(held, hierarchy)


def _level(opened: Tables, level: Level, children: str, hierarchy: _Hierarchy) -> Iterator[Failed]:
    """Read a table into the hierarchy; yield its rows that cannot be read."""
    table = f"{level}s"
    for place, row in opened.rows(table, COLUMNS) if opened.columns(table) else ():
        record = json_object(str(row.get("data") or ""), place)
        if isinstance(record, Failed):
            yield record
        else:
            hierarchy.add(level, children, {**row, **record, "id": row.get("id") or record.get("id")}, place)


def _exchange(place: str, row: Mapping[str, Any], record: Mapping[str, Any], hierarchy: _Hierarchy) -> Found:
    id_ = text_of(row.get("id"))
    if id_ is None:
        return Failed(place, "an exchange without an id")
    said = [(role, text) for side, role in SIDES if (text := _text(record.get(side))) is not None]
    if not said:
        return Skipped(place, "no text")
    home = hierarchy.home(id_)
    held = None if home is None else hierarchy.conversation(home)
    (role, content), *answers = said
    user = next(iter(_users(held)), None) if held is not None else None
    number = 1 if held is None else held.turns + 1
    item = message(
        None if held is None else Conversation(held.id, session=SYSTEM),
        number,
        f"{id_}\n{role}",
        place,
        role,
        content,
        record.get("created_at") or row.get("created_at"),
        {"exchange": id_, "importance": record.get("importance_score")},
        answers[0][1] if answers else None,
    )
    item = _completed(item, {**row, **record}, user if role == "user" and user else role)
    if held is not None and home is not None:
        held.turns = number
        for one in {id(held): held, id(home): home}.values():
            one.take(item, number)
    return item


def _custom(place: str, record: dict[str, Any]) -> Found:
    """Return a memory of a type that a program has added. Memorg keeps those beside its conversations."""
    id_, content, own = text_of(record.get("id")), text_of(record.get("content")), record.get("metadata")
    if id_ is None or content is None:
        return Failed(place, "has no id or no content")
    moments, unread = times(record, created_at="created_at", updated_at="updated_at")
    score = record.get("importance_score")
    return Item(
        external=f"custom\n{id_}",
        place=place,
        memory={
            "content": content,
            "importance": _importance(score),
            "tags": words(record.get("tags")),
            "metadata": own if isinstance(own, dict) else {},
            **moments,
        },
        rest=without({
            **without(record, "data", "content", "metadata", "tags", "created_at", "updated_at", VECTOR),
            **({} if isinstance(own, dict) else {"metadata": own}),
            **unread,
        }),
    )  # fmt: skip


def _completed(item: Item, record: dict[str, Any], author: str) -> Item:
    """Return an exchange with what its row says beside the messages."""
    own = record.get("metadata")
    moments, unread = times(record, updated_at="updated_at")
    sides = {role: cast(dict[str, Any], record[side]) for side, role in SIDES if isinstance(record.get(side), dict)}
    parsed = {role: side.get("parsed_content") for role, side in sides.items()}
    entities = [one for each in parsed.values() if isinstance(each, dict) for one in _objects(each.get("entities"))]
    return replace(
        item,
        memory={
            **item.memory,
            **moments,
            "author": author,
            "importance": _importance(record.get("importance_score")),
            "tags": _names(entities),
            "metadata": own if isinstance(own, dict) else {},
        },
        rest=without({
            **without(record, *OWN),
            **{
                role: without({
                    **without(side, "raw_content", "parsed_content", VECTOR), "parsed": _without_vectors(parsed[role]),
                })
                for role, side in sides.items()
            },
            **({} if isinstance(own, dict) else {"metadata": own}),
            **item.rest,
            **unread,
        }),
        retrieved=retrieved(record.get("view_count"), record.get("updated_at"), record.get("created_at")),
    )  # fmt: skip


def _object(held: _Object, hierarchy: _Hierarchy) -> Iterator[Item]:
    """Yield the memory of an object, and that of its summary."""
    row, own = held.row, held.row.get("metadata")
    moments, unread = times(row, created_at="created_at", updated_at="updated_at")
    rest = {
        **without(row, *COLUMNS, "metadata", "summary", "title", "user_id"),
        **unread,
        **({} if isinstance(own, dict) else without({"metadata": own})),
    }
    made = _bare(held, hierarchy, rest)
    metadata = {**(own if isinstance(own, dict) else {}), **made.memory.get("metadata", {})}
    tags = _names(_objects(row.get("key_entities")))
    yield replace(made, memory={**made.memory, **without(moments), "metadata": metadata, "tags": tags})
    if (text := text_of(row.get("summary"))) is not None:
        where = {name: made.memory[name] for name in NAMED[held.level]}
        last = held.spans[-1][1] if held.spans else 0
        said = summary(held.level, text, f"{held.level}\n{held.id}", held.place, where, _sources(held), last)
        yield replace(said, memory={**said.memory, **without(moments), "tags": tags})


def _bare(held: _Object, hierarchy: _Hierarchy, rest: dict[str, Any]) -> Item:
    if held.level == "session":
        return session_object(held.id, _users(held), held.place, rest)
    if held.level == "conversation":
        session = SYSTEM if held.parent is None else held.parent.id
        users = _users(held)
        record = Conversation(held.id, session, text_of(held.row.get("title")), users=users, rest=rest)
        return conversation_object(record, held.place, held.first)
    conversation = hierarchy.conversation(held)
    assert conversation is not None  # a topic without one has made one
    made = named("topic", held.id, text_of(held.row.get("title")), held.id, held.place, rest)
    structure = {**made.memory["structure"], "bounds": "given", "spans": held.spans}
    where = {"conversation": name_of(conversation.id), "topic": name_of(held.id)}
    return replace(made, memory={**made.memory, **where, "structure": structure})


def _sources(held: _Object) -> Sequence[str]:
    """Return what a summary is derived from: the summaries of its topics if all have one, else exchanges."""
    if held.topics and all(text_of(one.row.get("summary")) for one in held.topics):
        return [f"topic\n{one.id}" for one in held.topics]
    return held.sources


def _users(held: _Object) -> list[str]:
    top = held if held.level == "session" else held.parent
    user = None if top is None else text_of(top.row.get("user_id"))
    return [] if user is None else [user]


def _text(said: object) -> str | None:
    return text_of(cast(dict[str, Any], said).get("raw_content")) if isinstance(said, dict) else text_of(said)


def _importance(score: object) -> str:
    """Return the importance for a score between 0 and 1.

    >>> [_importance(score) for score in (0.8, 0.5, 0.1, 0, None)]
    ['high', 'medium', 'low', 'medium', 'medium']
    """
    if isinstance(score, bool) or not isinstance(score, int | float) or not score > 0:
        return "medium"
    return "high" if score >= HIGH else "low" if score < LOW else "medium"


def _objects(value: object) -> Sequence[dict[str, Any]]:
    listed = cast(list[object], value) if isinstance(value, list) else []
    return [cast(dict[str, Any], one) for one in listed if isinstance(one, dict)]


def _names(entities: Sequence[dict[str, Any]]) -> list[str]:
    return [name for one in entities if (name := text_of(one.get("name")))]


def _without_vectors(parsed: object) -> object:
    return without(cast(dict[str, Any], parsed), VECTOR) if isinstance(parsed, dict) else parsed
