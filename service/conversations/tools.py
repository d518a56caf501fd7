"""The tools of conversations: turns come in, and conversations are listed, named, moved, closed and deleted."""

from typing import Any, Literal

from msgspec import Raw, json

from muisti.core.conversations.model import Change, NewObject, Object
from muisti.core.conversations.view import Wanted
from muisti.core.model.errors import InvalidInput
from muisti.core.model.places import ObjectName, spans_of
from muisti.service.auth.access import check
from muisti.service.conversations.requests import ExchangesBody, turns_of
from muisti.service.schemas.policy import flagged
from muisti.service.tools.arguments import WRITING, InSpace
from muisti.service.tools.catalog import tool
from muisti.service.tools.rendering import counted, more, one_line, plain
from muisti.service.tools.session import Call, Json, Outcome

_SHOWN = 20

Action = Literal["list", "get", "rename", "move", "close", "reopen", "topic", "delete"]


class AddExchanges(InSpace, frozen=True, kw_only=True, forbid_unknown_fields=True):
    conversation: str
    items: list[dict[str, Any]]
    session: str | None = None
    idempotency_key: str | None = None
    dry_run: bool = False

    def body(self) -> ExchangesBody:
        """Return the request in the form that HTTP takes; its items are decoded one by one."""
        items = [Raw(json.encode(item)) for item in self.items]
        return ExchangesBody(items=items, session=self.session)


class Conversations(InSpace, frozen=True, kw_only=True, forbid_unknown_fields=True):
    action: Action
    conversation: str | None = None
    title: str | None = None
    session: str | None = None
    turns: list[int] = []
    cursor: str | None = None
    dry_run: bool = False


@tool("append", "idempotent", group="conversations", words={"conversation": "A name of your choice"})
async def add_exchanges(call: Call, given: AddExchanges) -> Outcome:
    """Store turns of a conversation, which is made if new. The same again is harmless."""
    body = given.body()
    streamed = await call.ask(
        call.memories.conversations.add_exchanges,
        body.stream(given.conversation, turns_of(body), None, None),
        request=call.once("add_exchanges", given.idempotency_key),
    )
    turns = [one.memory.turn for one in streamed.items]
    structured: Json = {
        "conversation": streamed.conversation,
        "turns": turns,
        "created": streamed.made,
        "next_turn": streamed.next_turn,
    }
    if streamed.flags:
        structured["flags"] = [{"code": flag.code, "path": flag.path} for flag in flagged(streamed.flags)]
    if streamed.plan is not None:
        return Outcome({**structured, "dry_run": True}, "Dry run, nothing was stored.")
    again = len(turns) - streamed.made
    repeated = f", {again} {'was' if again == 1 else 'were'} there already" if again else ""
    told = f"{counted(streamed.made, 'turn', 'turns')} added to {one_line(streamed.conversation)}{repeated}."
    return Outcome(structured, f"{told} Next turn: {streamed.next_turn}.")


@tool(
    "read",
    "destructive",
    group="conversations",
    words={"session": "Group of conversations, for list and move", "action": "topic: a new one"},
)
async def conversations(call: Call, given: Conversations) -> Outcome:
    """List conversations, or get or change one."""
    need = WRITING.get(given.action)
    if need is not None:
        check(call.access, need, call.space)
    if given.action == "list":
        return await _listed(call, given)
    if given.conversation is None:
        raise InvalidInput.at("$.conversation", f"is required to {given.action}")
    name = ObjectName(level="conversation", name=given.conversation)
    if given.action == "get":
        found, _ = await call.ask(call.memories.conversations.get, name)
        page = await call.ask(
            call.memories.conversations.page, Wanted(level="topic", conversation=found.name, limit=_SHOWN)
        )
        topics = [{"id": one.memory.id, **shown(one), "spans": spans_of(one.memory)} for one in page.items]
        lines = [line(found), *(f"Topic {one.memory.id} {line(one)}" for one in page.items)]
        return Outcome({"conversation": shown(found), "topics": topics}, "\n".join(lines))
    if given.action == "delete":
        ending = await call.ask(call.memories.conversations.delete, name)
        done = "would be deleted" if given.dry_run else "deleted"
        kinds = ", ".join(f"{number} {kind}" for kind, number in ending.counts.items())
        return Outcome({"counts": dict(ending.counts), "dry_run": given.dry_run}, f"{kinds} {done}.")
    if given.action == "topic":
        return await _new_topic(call, given, given.conversation)
    kept = await call.ask(call.memories.conversations.change, name, _change(given))
    return Outcome({"conversation": shown(kept.found)}, line(kept.found))


async def _listed(call: Call, given: Conversations) -> Outcome:
    wanted = Wanted(level="conversation", session=given.session, limit=_SHOWN, cursor=given.cursor)
    page = await call.ask(call.memories.conversations.page, wanted)
    structured: Json = {
        "conversations": [shown(one) for one in page.items],
        "total": page.total,
        "next_cursor": page.next_cursor,
    }
    lines = [f"{counted(page.total, 'conversation', 'conversations')}.", *(line(one) for one in page.items)]
    return Outcome(structured, "\n".join([*lines, *more(page.total, len(page.items), page.next_cursor)]))


async def _new_topic(call: Call, given: Conversations, conversation: str) -> Outcome:
    if len(given.turns) not in (0, 2):
        raise InvalidInput.at("$.turns", f"has {len(given.turns)} numbers; give the first and the last turn")
    spans = ((given.turns[0], given.turns[1]),) if given.turns else ()
    new = NewObject(title=given.title, spans=spans)
    kept = await call.ask(call.memories.conversations.create, "topic", new, conversation=conversation)
    return Outcome({"topic": {"id": kept.found.memory.id, **shown(kept.found)}}, f"Topic {line(kept.found)}")


def _change(given: Conversations) -> Change:
    """Return the change that an action asks for.

    Raises:
        InvalidInput: the argument that says it is missing.
    """
    if given.action == "rename":
        if given.title is None:
            raise InvalidInput.at("$.title", "is required to rename")
        return Change(title=given.title)
    if given.action == "move":
        if given.session is None:
            raise InvalidInput.at("$.session", "is required to move: it says where to")
        return Change(session=given.session)
    return Change(state="closed" if given.action == "close" else "open")


def shown(found: Object) -> Json:
    """Return what a model needs to know of a conversation or topic."""
    given: Json = {
        "name": found.name,
        "title": found.memory.content,
        "session": found.memory.session,
        "state": found.state,
        "users": list(found.users),
        "turns": found.counted.turns,
        "last_at": plain(found.counted.last_at),
    }
    return {name: value for name, value in given.items() if value not in (None, [])}


def line(found: Object) -> str:
    """Return a conversation or topic in one line, with its title in quotes."""
    closed = ", closed" if found.state == "closed" else ""
    title = one_line(found.memory.content).replace('"', "'")
    turns = counted(found.counted.turns, "turn", "turns")
    return f'{one_line(found.name)} "{title}": {turns}{closed}'
