"""Commands about conversations: list, show, add, rename, move, close, reopen, delete, adopt."""

import sys
from collections.abc import Iterator, Mapping, Sequence
from importlib import import_module
from typing import Any

import click

from muisti.client import calls
from muisti.core.model.choices import LIMIT_MAX
from muisti.service.terminal.base import USAGE, Failure, Globals
from muisti.service.terminal.calling import Operations, category
from muisti.service.terminal.options import (
    Moment,
    allow_secrets,
    as_of,
    dry_run,
    group,
    if_version,
    integer,
    option,
)
from muisti.service.terminal.output import answer, revised, talk
from muisti.service.terminal.session import session as open_session
from muisti.service.terminal.values import STDIN
from muisti.service.terminal.views import (
    Shown,
    View,
    ago,
    ago_of,
    brief,
    cell,
    fields,
    grid,
    lines,
    listed,
    stack,
    stated,
    tabbed,
)

AT_ONCE = 1_000  # turns in one request

conversations = Operations(
    "conversations",
    examples=(
        'muisti conversations add c-42 "I moved to Turku" --author ann',
        "muisti conversations show c-42",
        "muisti conversations list --session work",
    ),
    help="Store and read conversations turn by turn.\n\nEach turn is a memory, so `muisti search` finds it. A "
    "conversation has a name that you choose, and belongs to a session.",
)

_session = option("--session", "The session of a new conversation.  [default: default]")
_how = group(category, if_version, dry_run)


def _added(data: Any) -> str:
    there = len(data["items"]) - data["created"]
    before = f", {there:,} there already" if there else ""
    return f"Added {data['created']:,} to {data['conversation']}{before}; the next turn is {data['next_turn']}."


CONVERSATIONS = listed(
    {
        "conversation": "name",
        "turns": lambda one: f"{one['turns']:,}",
        "last turn": ago_of("last_at"),
        "session": "session",
        "title": lambda one: cell(brief(one["title"]), "dim" if one["state"] == "closed" else ""),
    },
    ("name", "turns", "last_at", "session", "state", "title"),
    right=("turns",),
    none="There are no conversations yet: muisti conversations add NAME TEXT",
)
ADDED = View(lambda data: cell(_added(data)), lines("turn", "id", lambda one: "replayed" if one["replayed"] else None))
ADOPTED = listed(
    {"turns": "exchanges", "conversations": "conversations", "sessions": "sessions", "left as they are": "left"},
    ("exchanges", "conversations", "sessions", "left"),
    among="adopted",
)


conversations.call(
    "list --session --user --state --limit --cursor --category --as-of",
    calls.list_conversations,
    CONVERSATIONS,
    "muisti conversations list",
    "muisti conversations list --user ann",
    help="List conversations, the latest first.",
    prints="name, turns, time of the last turn, session, state and title of each",
    then=lambda _, data: (
        talk(f"{data['total']:,} in all; more with --cursor {data['next_cursor']}") if data["next_cursor"] else None
    ),
)


@conversations.has("muisti conversations show c-42", "muisti conversations show c-42 --from 17")
@click.argument("name")
@integer("--from first", "The first turn to show.", 0, metavar="TURN")
@integer("--to last", "The last turn to show.", 0, metavar="TURN")
@category
@as_of
def show(
    options: Globals, name: str, *, first: int | None, last: int | None, category: str | None, as_of: str | None
) -> None:
    """Show a conversation and its turns.

    Prints turn, time, speaker and text of each message: a turn with a reply has two. A superseded turn stays.
    """
    with open_session(options, reads=True) as opened:
        found = opened.client.send(calls.get_conversation(opened.space, name, category=category, as_of=as_of))
        given: dict[str, Any] = {"category": category, "as_of": as_of, "limit": LIMIT_MAX, "from_": first, "to": last}
        turns = opened.whole(lambda cursor: calls.list_exchanges(opened.space, name, cursor=cursor, **given)).data[
            "items"
        ]
        answer(
            options,
            revised(found, {**found.data, "exchanges": turns}),
            lambda data: stack(_about(data), _turns(turns)),
            lambda _: [
                tabbed(one["turn"], one["event_at"] or one["created_at"], who, text)
                for one in turns
                for who, text in _messages(one)
            ],
        )


@conversations.has(
    'muisti conversations add c-42 "I moved to Turku" --author ann',
    'muisti conversations add c-42 "I moved to Turku" --reply "Noted!" --turn 17',
    "muisti conversations add c-42 - --session work < turns.ndjson",
)
@click.argument("name")
@click.argument("text")
@option("--reply", "What was answered; both make one turn.", metavar="TEXT")
@option("--author", "Who says it.")
@integer("--turn", "Its place.  [default: the next]", 0, metavar="NUMBER")
@option("--at", "When it was said.", Moment())
@_session
@category
@allow_secrets
@dry_run
def add(
    options: Globals, name: str, text: str, *, session: str | None, category: str | None, dry_run: bool, **said: Any
) -> None:
    """Add turns to a conversation, which is made if it is missing.

    TEXT is what was said; - reads turns from standard input, one JSON object a line. A line is an exchange,
    {"turn": 17, "user": "I moved.", "system": "Noted!"}, or a turn alone, {"author": "ann", "content": "I moved."}.

    A turn that is there already with the same text is left alone. Prints turn and memory ID of each.
    """
    given = {key: value for key, value in {"session": session, "category": category}.items() if value is not None}
    requests = [[_said(text, said)]] if text != STDIN else _read()
    with open_session(options, create=not dry_run, reads=dry_run) as opened:
        for items in requests:
            request = calls.add_exchanges(opened.space, name, {"items": items, **given}, dry_run=dry_run)
            reply = opened.write(lambda request=request: opened.client.send(request))
            answer(options, reply, *ADDED)


@conversations.has('muisti conversations rename c-42 "The move to Turku"')
@click.argument("name")
@click.argument("title")
@_how
def rename(options: Globals, name: str, title: str, **how: Any) -> None:
    """Give a conversation another title. Its NAME stays, because its turns name it."""
    _change(options, name, {"title": title}, **how)


@conversations.has("muisti conversations move c-42 work")
@click.argument("name")
@click.argument("session")
@_how
def move(options: Globals, name: str, session: str, **how: Any) -> None:
    """Move a conversation to another session, which is made if it is missing."""
    _change(options, name, {"session": session}, **how)


@conversations.has("muisti conversations close c-42")
@click.argument("name")
@_how
def close(options: Globals, name: str, **how: Any) -> None:
    """Close a conversation: it takes no more turns."""
    _change(options, name, {"state": "closed"}, **how)


@conversations.has("muisti conversations reopen c-42")
@click.argument("name")
@_how
def reopen(options: Globals, name: str, **how: Any) -> None:
    """Open a closed conversation again."""
    _change(options, name, {"state": "open"}, **how)


conversations.call(
    "delete NAME=conversation --category --dry-run",
    calls.delete_conversation,
    lambda given: stated(
        f"Deleted {given['conversation']} with {{exchanges:,}} turns. Back: muisti undo --last {{total}}",
        *("total", "exchanges", "topics"),
    ),
    "muisti conversations delete c-42 --dry-run",
    "muisti conversations delete c-42",
    help="""Delete a conversation with all its turns.

    Prints how many memories were deleted, and how many of them were turns and topics. `muisti undo --last N` with the
    first number brings all of it back.
    """,
)


@conversations.has("muisti conversations adopt --dry-run", "muisti conversations adopt")
@dry_run
def adopt(options: Globals, dry_run: bool) -> None:
    """Make conversations of memories that name a session.

    Memories whose metadata has a `session` and a `turn` become its turns; their texts stay as they are.
    Prints how many turns, conversations and sessions were made, and how many memories stay as they are.
    """
    with open_session(options) as opened:
        request = calls.adopt_conversations(opened.space, dry_run=dry_run)
        reply = opened.client.send(request)
        done = reply.data["answer"] if dry_run else reply.data
        for one in done["items"]:
            talk(f"{one['id']} stays: {one['why']}")
        answer(options, revised(reply, done), *ADOPTED)


def _change(
    options: Globals, name: str, body: Any, *, category: str | None, if_version: int | None, dry_run: bool
) -> None:
    with open_session(options) as opened:
        if_match = None
        if if_version is not None:
            found = opened.client.send(calls.get_conversation(opened.space, name, category=category))
            if_match = f'"{found.data["id"]}.{if_version}"'
        request = calls.update_conversation(
            opened.space, name, body, category=category, if_match=if_match, dry_run=dry_run
        )
        reply = opened.client.send(request)
        answer(options, reply, _about, CONVERSATIONS.plain)


def _said(text: str, said: Mapping[str, Any]) -> dict[str, Any]:
    both = {"user": text, "system": said["reply"]} if said["reply"] is not None else {"content": text}
    given = {key: said[key] for key in ("author", "turn", "at") if said[key] is not None}
    return {**both, **({"author": "user"} if "content" in both else {}), **given}


def _read() -> Iterator[list[Any]]:
    """Yield turns from standard input, at most `AT_ONCE` at a time.

    Raises:
        Failure: a line is no JSON.
    """
    decode = import_module("msgspec").json.decode
    items: list[Any] = []
    for number, line in enumerate(sys.stdin.buffer, 1):
        if not line.strip():
            continue
        try:
            items.append(decode(line))
        except ValueError as error:
            raise Failure(f"line {number} is no JSON: {error}", USAGE) from None
        if len(items) == AT_ONCE:
            yield items
            items = []
    if items:
        yield items


def _about(data: Any) -> Shown:
    users = ", ".join(data["users"])
    said = f"{data['turns']:,} turns, {data['topics']:,} topics, {data['tokens']:,} tokens"
    rows = [("title", data["title"]), ("session", data["session"]), ("users", users), ("state", data["state"])]
    rows += [("holds", said), ("last turn", ago(data["last_at"]))]
    return fields([(cell(name, "bold"), cell(brief(value or ""))) for name, value in rows])


def _messages(turn: Any) -> list[tuple[str | None, str]]:
    """Return speaker and text of each message of a turn: one, or that of a user and the reply to it."""
    content, said = turn["content"], turn["structure"]
    at = said.get("reply_at")
    if at is None:
        return [(turn["author"], content)]
    return [(turn["author"], content[:at].rstrip()), (said.get("replier") or "assistant", content[at:])]


def _turns(turns: Sequence[Any]) -> Shown:
    rows: list[tuple[Any, ...]] = []
    for one in turns:
        by = one["superseded_by"]
        for place, (who, text) in enumerate(_messages(one)):
            rows.append(("" if place else one["turn"], cell(who, "cyan"), cell(text, "dim" if by else "")))
        rows += [("", "", cell(f"superseded by {by}", "dim"))] if by else []
    return grid(None, "turn", "speaker", "text", right=("turn",), rows=rows)
