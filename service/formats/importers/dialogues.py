"""Conversations of other systems: their turns become exchanges, and each level above them an object with a title.

Names of objects are the ids of the other system. A conversation that belongs to no session there gets one that has the
name of the system.
"""

import re
import textwrap
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from hashlib import sha256
from typing import Any

from muisti.core.conversations.model import USERS_MAX
from muisti.core.model.messages import ASSISTANT, joined
from muisti.core.model.places import Level
from muisti.core.model.values import NAME_MAX, REASON_MAX, SOURCES_MAX
from muisti.service.formats.importers.items import Found, Item, clean, when, without

TITLE_LENGTH = 60  # characters of a title that is the beginning of a text
_CLASSES = {"user": "user", "human": "user", "assistant": "model", "ai": "model", "system": "model", "tool": "tool"}
_NO_USERS = frozenset(("assistant", "ai", "system", "tool", "unknown"))
_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f]+")


@dataclass(frozen=True, slots=True)
class Conversation:
    """A conversation of another system. `times` are those of its object, `rest` what only the other system has.

    `id` and `session` are ids of the other system, `users` the people who speak; empty: who says something.
    """

    id: str
    session: str
    title: str | None = None
    summary: str | None = None
    users: Sequence[str] = ()
    metadata: Mapping[str, Any] = field(default_factory=dict[str, Any])
    times: Mapping[str, Any] = field(default_factory=dict[str, Any])
    rest: Mapping[str, Any] = field(default_factory=dict[str, Any])


Talk = tuple[Conversation, Iterator[Found]]  # a conversation, and what is found of its turns


def message(
    conversation: Conversation | None, number: int, external: str, place: str, role: str, content: str, at: object,
    rest: Mapping[str, Any], reply: str | None = None,
) -> Item:  # fmt: skip
    """Return turn `number` of a conversation, from 1; `at` is its time in the form of the other system.

    `reply` is what an assistant answers in the same turn. Such a text is trusted as the words of a model. A reply to
    nothing is a turn of the assistant.
    """
    said = when(at)
    first, second = clean(content), clean(reply or "")
    if not first.strip() and second.strip():
        role, first, second = ASSISTANT, second, ""
    both, pair = joined(first, second if second.strip() else None)
    where = {"kind": "exchange"} if conversation is None else turn_of(conversation.id, number)
    return Item(
        external=external,
        place=place,
        memory={
            "content": both,
            "type": "observation",
            "author": role,
            "source_class": _CLASSES[ASSISTANT] if second else _CLASSES.get(role, "unknown"),
            "event_at": said,
            "created_at": said,
            "structure": pair,
            **where,
        },
        rest={**rest, **({"at": at} if said is None and at not in (None, "") else {})},
    )


def turn_of(conversation: str, number: int) -> Mapping[str, Any]:
    """Return the fields of a memory that is turn `number` of the conversation with an id."""
    return {"kind": "exchange", "conversation": name_of(conversation), "turn": number}


def with_object(conversation: Conversation, found: Iterable[Found]) -> Iterator[Found]:
    """Yield what is found in a conversation, then its object and its summary. Without turns it has none."""
    first: Item | None = None
    turns: list[str] = []
    last = 0
    users: dict[str, None] = dict.fromkeys(conversation.users)
    for one in found:
        if isinstance(one, Item) and one.memory.get("kind") == "exchange":
            first, last = first or one, one.memory["turn"]
            turns += [one.external] if len(turns) < SOURCES_MAX else []
            if not conversation.users and one.memory["author"] not in _NO_USERS:
                users[one.memory["author"]] = None
        yield one
    if first is not None:
        yield conversation_object(replace(conversation, users=tuple(users)), first.place, first)
        if conversation.summary is not None:
            name = name_of(conversation.id)
            external = f"summary\n{conversation.id}"
            where = {"conversation": name}
            yield summary("conversation", conversation.summary, external, first.place, where, turns, last)


def conversation_object(conversation: Conversation, place: str, first: Item | None) -> Item:
    """Return the object of a conversation; `first` is its first turn, if it has any."""
    begins = conversation.id if first is None else textwrap.shorten(
        str(first.memory["content"]), TITLE_LENGTH, placeholder="…"
    )  # fmt: skip
    made = named("conversation", conversation.id, conversation.title, begins, place, conversation.rest)
    users = list(conversation.users)[:USERS_MAX]
    memory = {
        **made.memory,
        "conversation": name_of(conversation.id),
        "session": name_of(conversation.session),
        "author": next(iter(users), None),
        "metadata": dict(conversation.metadata),
        **({} if first is None else {name: first.memory[name] for name in ("event_at", "created_at")}),
        **without(conversation.times),
        "structure": {**made.memory["structure"], "users": users},
    }
    return replace(made, memory=memory)


def session_object(id_: str, users: Sequence[str], place: str, rest: Mapping[str, Any]) -> Item:
    """Return the object of a session. Its title is its name."""
    made = named("session", id_, None, id_, place, rest)
    structure = {**made.memory["structure"], "users": list(users)[:USERS_MAX]}
    author = next(iter(users), None)
    return replace(made, memory={**made.memory, "session": name_of(id_), "author": author, "structure": structure})


def summary(
    of: Level, text: str, external: str, place: str, where: Mapping[str, str], sources: Sequence[str],
    up_to: int,
) -> Item:  # fmt: skip
    """Return another system's summary of an object; `sources` are what it is derived from.

    `where` names the object: its conversation, its topic or its session. `up_to` is the last turn that it has.
    """
    return Item(
        external=external,
        place=place,
        memory={
            "content": text,
            "kind": "summary",
            "type": "observation",
            "source_class": "model",
            "structure": {"of": of, "method": "abstractive", **without({"up_to": up_to or None})},
            **where,
        },
        sources=sources,
    )


def named(level: Level, id_: str, title: str | None, otherwise: str, place: str, rest: Mapping[str, Any]) -> Item:
    """Return an object with a title: that of the other system, or the text `otherwise`."""
    heading = clean(title or "").strip() or otherwise
    return Item(
        external=f"object\n{level}\n{id_}",
        place=place,
        memory={
            "content": heading[:REASON_MAX],
            "kind": level,
            "structure": {"state": "open", "title": "given" if heading != otherwise else "derived"},
        },
        rest={**rest, **({"title": heading} if len(heading) > REASON_MAX else {})},
    )


def with_sessions(found: Iterable[Found]) -> Iterator[Found]:
    """Yield what an importer has found, and last the sessions that its conversations name and that it has not found."""
    here: set[str] = set()
    missing: dict[str, Item] = {}
    for one in found:
        if isinstance(one, Item) and one.memory.get("kind") == "session":
            here.add(one.memory["session"])
        elif isinstance(one, Item) and one.memory.get("kind") == "conversation":
            missing.setdefault(one.memory["session"], one)
        yield one
    for name, one in missing.items():
        if name not in here:
            made = session_object(name, one.memory["structure"]["users"], one.place, {})
            yield replace(made, memory={**made.memory, "created_at": one.memory.get("created_at")})


def name_of(id_: str) -> str:
    """Return the name that an object of another system gets here: its id there, made to fit.

    >>> name_of("c-42"), name_of("one\\ntwo"), len(name_of("long " * 100))
    ('c-42', 'one two', 176)
    """
    name = _CONTROL.sub(" ", clean(id_)).strip()
    if name and len(name) <= NAME_MAX:
        return name
    return f"{name[:160].rstrip()} {sha256(clean(id_).encode()).hexdigest()[:16]}".strip()
