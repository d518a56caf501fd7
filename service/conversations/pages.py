"""Conversations and the sessions that they belong to: lists, a dialogue to read, and what may be changed."""

import asyncio
from collections.abc import Mapping, Sequence
from itertools import accumulate
from typing import Any

from litestar import Response

from muisti.client import calls
from muisti.service.console.answers import Model, does, done, shows
from muisti.service.console.render import segment
from muisti.service.console.visit import Visit

Item = Mapping[str, Any]
DRAWN = 200_000  # characters of a page that are read as Markdown
BANDS = 6  # colours of topics


def said(memory: Item) -> list[Model]:
    """Return the messages of a turn: one, or that of a user with the reply to it.

    >>> said({"author": "user", "content": "Who?\\n\\nAnn.", "structure": {"reply_at": 6, "replier": "assistant"}})
    [{'who': 'user', 'text': 'Who?'}, {'who': 'assistant', 'text': 'Ann.'}]
    """
    content, at = memory["content"], memory["structure"].get("reply_at")
    who = memory["author"] or "somebody"
    if at is None:
        return [{"who": who, "text": content}]
    return [
        {"who": who, "text": content[:at].rstrip()},
        {"who": memory["structure"].get("replier") or "assistant", "text": content[at:]},
    ]


def turns(items: Sequence[Item], topics: Sequence[Model]) -> list[Model]:
    """Return the turns of a page, each with its topic, and with the topics of which it is the first on the page.

    `topics` are those of `outline`. A `plain` turn is not read as Markdown, since its page is long.
    """
    begins: dict[int, list[Model]] = {}
    of_turn: dict[int, Model] = {}
    for topic in topics:
        for first, last in topic["bounds"]:
            here = [one["turn"] for one in items if first <= one["turn"] <= last]
            of_turn |= dict.fromkeys(here, topic)
            if here:
                begins.setdefault(here[0], []).append(topic)
    lengths = accumulate(len(one["content"]) for one in items)
    return [
        {
            **one,
            "said": said(one),
            "begins": begins.get(one["turn"], ()),
            "band": of_turn[one["turn"]]["band"] if one["turn"] in of_turn else None,
            "plain": length > DRAWN,
        }
        for one, length in zip(items, lengths, strict=True)
    ]


def outline(topics: Sequence[Item], summaries: Sequence[Item]) -> list[Model]:
    """Return the topics in the order of their turns, with their summaries and the colours of their bands."""
    known = {one["topic"]: one for one in summaries if one["of"] == "topic"}
    found = sorted(
        (_topic(one, known.get(one["name"])) for one in topics), key=lambda one: (one["first"] is None, one["first"])
    )
    return [{**one, "band": number % BANDS} for number, one in enumerate(found)]


def _topic(topic: Item, summary: Item | None) -> Model:
    spans = topic["spans"]
    return {
        **topic,
        "bounds": spans,
        "spans": [str(first) if first == last else f"{first} to {last}" for first, last in spans],
        "first": min((first for first, _ in spans), default=None),
        "summary": None if summary is None else summary["text"],
        "stale": summary is not None and summary["stale"],
    }


PAGE = 50
STATES = ("open", "closed")
SESSIONS, TOPICS = 100, 100  # that a page shows


@shows("conversations", "conversations.html", states=STATES)
async def list_conversations(visit: Visit, space: str) -> Model:
    """Show the conversations, those with the latest turn first, and the sessions that they belong to."""
    asked = visit.asked
    given: dict[str, Any] = {name: asked.get(name) or None for name in ("session", "user", "state")}
    found, sessions = await asyncio.gather(
        visit.api.list_conversations(space, limit=PAGE, cursor=asked.get("cursor") or None, **given, **visit.at),
        visit.api.list_sessions(space, limit=SESSIONS, **visit.at),
    )
    items: Any = sessions["items"]
    return {
        "conversations": found["items"],
        "total": found["total"],
        "next": found["next_cursor"],
        "sessions": items,
        "more_sessions": sessions["total"] - len(items),
        "given": {name: value for name, value in given.items() if value},
        "session": next((one for one in items if one["name"] == given["session"]), None),
    }


@shows("conversations/{name}", "conversation.html")
async def show_conversation(visit: Visit, space: str, name: str) -> Model:
    """Show a page of turns beside the outline of topics."""
    asked = visit.asked
    category = asked.get("category") or None
    first = first_of(asked.get("turn"))
    found, listed = await asyncio.gather(
        visit.api.get_conversation(space, name, category=category, **visit.at),
        visit.api.list_topics(space, name, limit=TOPICS, category=category, **visit.at),
    )
    read: Any = await visit.api.list_exchanges(
        space, name, from_=first, limit=PAGE, cursor=asked.get("cursor") or None, category=category, **visit.at
    )
    now: Any = {"summaries": [], "working": None}
    if visit.as_of is None:
        summaries, working = await asyncio.gather(
            visit.api.list_summaries(space, name, category=category),
            visit.api.get_working_memory(space, name, category=category),
        )
        now = {"summaries": summaries["items"], "working": working}
    topics = outline(listed["items"], now["summaries"])
    authors = found["users"] or [one["author"] for one in read["items"][:1]]
    return {
        "conversation": found,
        "category": category,
        "right": authors[0] if authors else None,
        "marked": int(asked["turn"]) if (asked.get("turn") or "").isdecimal() else None,
        "turns": turns(read["items"], topics),
        "next": read["next_cursor"],
        "earlier": first > 0 or bool(asked.get("cursor")),
        "topics": topics,
        "summary": next((one for one in now["summaries"] if one["of"] == "conversation"), None),
        "working": now["working"],
    }


def first_of(turn: str | None) -> int:
    """Return the first turn to show, so that the one that a URL names is not at the very top.

    >>> first_of("40"), first_of("1"), first_of(None), first_of("x")
    (38, 0, 0, 0)
    """
    return max(0, int(turn) - 2) if turn and turn.isdecimal() and len(turn) < 17 else 0


def _declare(level: str, read: Any, update: Any, delete: Any, said: str) -> None:
    """Declare the pages that change and delete a conversation, or a session, by the requests for it."""

    @does(f"{level}/{{name}}")
    async def change(visit: Visit, space: str, name: str) -> Response[None]:
        """Rename it, close it or reopen it."""
        changes = {field: visit.field(field).strip() for field in ("title", "state") if visit.field(field)}
        category = visit.field("category") or None
        made = await visit.send(update(space, name, changes, category=category))
        if level == "sessions":
            return done(visit, "conversations", "saved", undo=made.request, session=name)
        return done(visit, f"{level}/{segment(name)}", "saved", undo=made.request, category=category)

    @shows(f"{level}/{{name}}/delete", "conversation_delete.html")
    async def show_deletion(visit: Visit, space: str, name: str) -> Model:
        """Show what goes with it, with the counts of a dry run."""
        category = visit.asked.get("category") or None
        found = (await visit.send(read(space, name, category=category))).data
        plan: Any = None
        if visit.may_change("delete"):
            plan = (await visit.send(delete(space, name, category=category, dry_run=True))).data
        counts = {} if plan is None else plan["answer"]
        return {
            "path": f"{level}/{segment(name)}",
            "found": found,
            "goes": [(name, count) for name, count in counts.items() if count and name != "total"],
            "plan": plan,
            "category": category,
        }

    @does(f"{level}/{{name}}/delete")
    async def delete_all(visit: Visit, space: str, name: str) -> Response[None]:
        """Delete it with what belongs to it, as one step that can be undone."""
        made = await visit.send(delete(space, name, category=visit.field("category") or None))
        return done(visit, "conversations", said, undo=made.request)


_declare(
    *("conversations", calls.get_conversation, calls.update_conversation, calls.delete_conversation),
    said="deleted_conversation",
)
_declare("sessions", calls.get_session, calls.update_session, calls.delete_session, said="deleted_session")
