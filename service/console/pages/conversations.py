"""Conversations and the sessions that they belong to: lists, a dialogue to read, and what may be changed."""

import asyncio
from typing import Any

from litestar import Request, Response, get, post
from litestar.di import NamedDependency
from litestar.params import FromPath

from muisti.client import calls
from muisti.service.console.answers import done, long_page, page
from muisti.service.console.dialogue import outline, summary_of, turns
from muisti.service.console.mount import ROOT
from muisti.service.console.render import View, segment
from muisti.service.console.visit import Visit

SPACE = f"{ROOT}/spaces/{{space:str}}"
PATH = f"{SPACE}/conversations/{{name:str}}"
SESSION = f"{SPACE}/sessions/{{name:str}}"
PAGE = 50
STATES = ("open", "closed")
SESSIONS, TOPICS = 100, 100  # that a page shows


@get(f"{SPACE}/conversations")
async def list_conversations(space: FromPath[str], visit: NamedDependency[Visit]) -> Response[str]:
    """Show the conversations, those with the latest turn first, and the sessions that they belong to."""
    asked = visit.request.query_params
    given: dict[str, Any] = {name: asked.get(name) or None for name in ("session", "user", "state")}
    found, sessions = await asyncio.gather(
        visit.api.list_conversations(space, limit=PAGE, cursor=asked.get("cursor") or None, **given, **visit.at),
        visit.api.list_sessions(space, limit=SESSIONS, **visit.at),
    )
    items: Any = sessions["items"]
    model = {
        "conversations": found["items"],
        "total": found["total"],
        "next": found["next_cursor"],
        "sessions": items,
        "more_sessions": sessions["total"] - len(items),
        "given": {name: value for name, value in given.items() if value},
        "states": STATES,
        "session": next((one for one in items if one["name"] == given["session"]), None),
    }
    return page(visit, View("conversations.html", model))


@get(PATH)
async def show_conversation(space: FromPath[str], name: FromPath[str], visit: NamedDependency[Visit]) -> Response[str]:
    """Show a page of turns beside the outline of topics."""
    asked = visit.request.query_params
    category = asked.get("category") or None
    first = first_of(asked.get("turn"))
    found, topics = await asyncio.gather(
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
    model = {
        "conversation": found,
        "category": category,
        "marked": int(asked["turn"]) if (asked.get("turn") or "").isdecimal() else None,
        "turns": turns(read["items"], topics["items"]),
        "next": read["next_cursor"],
        "earlier": first > 0 or bool(asked.get("cursor")),
        "topics": outline(topics["items"], now["summaries"]),
        "summary": summary_of("conversation", now["summaries"]),
        "working": now["working"],
    }
    return await long_page(visit, View("conversation.html", model))


def first_of(turn: str | None) -> int:
    """Return the first turn to show, so that the one that a URL names is not at the very top.

    >>> first_of("40"), first_of("1"), first_of(None), first_of("x")
    (38, 0, 0, 0)
    """
    return max(0, int(turn) - 2) if turn and turn.isdecimal() and len(turn) < 17 else 0


@post(PATH)
async def change_conversation(
    request: Request, space: FromPath[str], name: FromPath[str], visit: NamedDependency[Visit]
) -> Response[None]:
    """Rename a conversation, close it or reopen it."""
    form = await request.form()
    category = str(form.get("category", "")) or None
    made = await visit.send(calls.update_conversation(space, name, _changes(form), category=category))
    return done(visit, f"conversations/{segment(name)}", "saved", undo=made.request, category=category)


@post(SESSION)
async def change_session(
    request: Request, space: FromPath[str], name: FromPath[str], visit: NamedDependency[Visit]
) -> Response[None]:
    """Rename a session, close it or reopen it."""
    form = await request.form()
    category = str(form.get("category", "")) or None
    made = await visit.send(calls.update_session(space, name, _changes(form), category=category))
    return done(visit, "conversations", "saved", undo=made.request, session=name)


def _changes(form: Any) -> dict[str, str]:
    return {field: str(form[field]).strip() for field in ("title", "state") if form.get(field)}


@get(f"{PATH}/delete")
async def show_deletion(space: FromPath[str], name: FromPath[str], visit: NamedDependency[Visit]) -> Response[str]:
    """Show what goes with a conversation."""
    category = visit.request.query_params.get("category") or None
    found: Any = await visit.api.get_conversation(space, name, category=category)
    plan: Any = None
    if visit.may_change("delete"):
        plan = await visit.api.delete_conversation(space, name, category=category, dry_run=True)
    return page(visit, _deletion(f"conversations/{segment(name)}", found, plan, category))


@post(f"{PATH}/delete")
async def delete_conversation(
    request: Request, space: FromPath[str], name: FromPath[str], visit: NamedDependency[Visit]
) -> Response[None]:
    """Delete a conversation with its topics and turns, as one step that can be undone."""
    category = str((await request.form()).get("category", "")) or None
    made = await visit.send(calls.delete_conversation(space, name, category=category))
    return done(visit, "conversations", "deleted_conversation", undo=made.request)


@get(f"{SESSION}/delete")
async def show_session_deletion(
    space: FromPath[str], name: FromPath[str], visit: NamedDependency[Visit]
) -> Response[str]:
    """Show what goes with a session."""
    category = visit.request.query_params.get("category") or None
    found: Any = await visit.api.get_session(space, name, category=category)
    plan: Any = None
    if visit.may_change("delete"):
        plan = await visit.api.delete_session(space, name, category=category, dry_run=True)
    return page(visit, _deletion(f"sessions/{segment(name)}", found, plan, category))


@post(f"{SESSION}/delete")
async def delete_session(
    request: Request, space: FromPath[str], name: FromPath[str], visit: NamedDependency[Visit]
) -> Response[None]:
    """Delete a session with its conversations, as one step that can be undone."""
    category = str((await request.form()).get("category", "")) or None
    made = await visit.send(calls.delete_session(space, name, category=category))
    return done(visit, "conversations", "deleted_session", undo=made.request)


def _deletion(path: str, found: Any, plan: Any, category: str | None) -> View:
    """Return the page that asks before a session or conversation is deleted, with the counts of a dry run."""
    goes = (
        [] if plan is None else [(name, count) for name, count in plan["answer"].items() if count and name != "total"]
    )
    model = {"path": path, "found": found, "goes": goes, "plan": plan, "category": category}
    return View("conversation_delete.html", model)


ROUTES = (
    list_conversations,
    show_conversation,
    change_conversation,
    change_session,
    show_deletion,
    delete_conversation,
    show_session_deletion,
    delete_session,
)
