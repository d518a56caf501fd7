"""Sessions, conversations and topics: lists, titles, moves, states, deletions."""

from collections.abc import Callable, Mapping
from typing import Annotated, Any, TypeVar

from litestar import Response
from litestar.params import FromPath, JSONBody

from muisti.core.conversations.model import CONVERSATION_SORTS, Change, Kept, NewObject, Object
from muisti.core.conversations.view import Wanted
from muisti.core.model.errors import InvalidInput
from muisti.core.model.places import Level, ObjectName
from muisti.core.query.points import parse
from muisti.service.asgi.header_names import SEQ
from muisti.service.conversations.replies import (
    ConversationReply,
    ConversationsReply,
    EndedReply,
    SessionReply,
    SessionsReply,
    TopicReply,
    TopicsReply,
)
from muisti.service.conversations.requests import (
    ConversationBody,
    ConversationPatch,
    SessionBody,
    SessionPatch,
    TopicBody,
    TopicPatch,
)
from muisti.service.erasure.routes import reported
from muisti.service.erasure.schemas import ErasureReply
from muisti.service.http.parameters import (
    DRY,
    GUARDED,
    KEYED,
    PAST,
    AsOfParameter,
    CategoryParameter,
    CursorParameter,
    LimitParameter,
    PurgeParameter,
    query,
)
from muisti.service.http.request import Request
from muisti.service.http.respond import committed, followed, planned, written_headers
from muisti.service.http.routing import Routes

ObjectSortParameter = Annotated[
    str | None,
    query(
        "Order of the list; `-` turns it round. Without it that of the cursor, else `-last_at`.",
        enum=CONVERSATION_SORTS,
    ),
]
SessionParameter = Annotated[str | None, query("Only those of this session.")]
UserParameter = Annotated[str | None, query("Only those in which this user takes part.")]
StateParameter = Annotated[
    str | None, query("Only those that are open, or closed.", name="state", enum=["open", "closed"])
]
T = TypeVar("T")
Reply = Callable[[Object], Any]

routes = Routes("conversations")

SESSION, CONVERSATION = "/sessions/{session:str}", "/conversations/{conversation:str}"
TOPIC = f"{CONVERSATION}/topics/{{topic:str}}"
_REPLIES: Mapping[Level, Reply] = {
    "session": SessionReply.of,
    "conversation": ConversationReply.of,
    "topic": TopicReply.of,
}
_ENDING: Mapping[str, Any] = {"status_code": 200, "needs": "delete", "standard": DRY}
_CHANGE: Mapping[str, Any] = {
    "screens": True,
    "problems": ["place_taken", "conversation_closed", "sensitive_content"],
}
_NEW: Mapping[str, Any] = {"needs": "append", "standard": KEYED, **_CHANGE}
_REVISION: Mapping[str, Any] = {"needs": "write", "standard": GUARDED, **_CHANGE}


@routes.get("/sessions", needs="read", problems=PAST)
async def list_sessions(
    request: Request,
    limit: LimitParameter = 50,
    sort: ObjectSortParameter = None,
    cursor: CursorParameter = None,
    user: UserParameter = None,
    in_state: StateParameter = None,
    category: CategoryParameter = None,
    as_of: AsOfParameter = None,
) -> Response[SessionsReply]:
    """List the sessions with their sizes, the newest first; `total` counts those on all pages."""
    wanted = Wanted(
        level="session", user=user, state=_state(in_state), category=category, sort=sort, limit=limit, cursor=cursor
    )
    return await _listed(request, wanted, as_of, SessionsReply.of)


@routes.get("/conversations", needs="read", problems=PAST)
async def list_conversations(
    request: Request,
    limit: LimitParameter = 50,
    sort: ObjectSortParameter = None,
    cursor: CursorParameter = None,
    session: SessionParameter = None,
    user: UserParameter = None,
    in_state: StateParameter = None,
    category: CategoryParameter = None,
    as_of: AsOfParameter = None,
) -> Response[ConversationsReply]:
    """List conversations with their sizes, those with the latest turn first; `total` counts those on all pages."""
    wanted = Wanted(
        level="conversation",
        session=session,
        user=user,
        state=_state(in_state),
        category=category,
        sort=sort,
        limit=limit,
        cursor=cursor,
    )
    return await _listed(request, wanted, as_of, ConversationsReply.of)


@routes.get(f"{CONVERSATION}/topics", needs="read", problems=PAST)
async def list_topics(
    request: Request,
    conversation: FromPath[str],
    limit: LimitParameter = 50,
    sort: ObjectSortParameter = None,
    cursor: CursorParameter = None,
    in_state: StateParameter = None,
    category: CategoryParameter = None,
    as_of: AsOfParameter = None,
) -> Response[TopicsReply]:
    """List the topics of a conversation with their sizes; `total` counts those on all pages."""
    wanted = Wanted(
        level="topic",
        conversation=conversation,
        state=_state(in_state),
        category=category,
        sort=sort,
        limit=limit,
        cursor=cursor,
    )
    return await _listed(request, wanted, as_of, TopicsReply.of)


@routes.post("/sessions", **_NEW)
async def create_session(request: Request, data: JSONBody[SessionBody]) -> Response[SessionReply]:
    """Make a session. Streaming turns in makes a missing one, too. The key must read, as well."""
    return await _made(request, "session", data.new())


@routes.post("/conversations", **_NEW)
async def create_conversation(request: Request, data: JSONBody[ConversationBody]) -> Response[ConversationReply]:
    """Make a conversation. Streaming turns in makes a missing one, too. The key must read, as well."""
    return await _made(request, "conversation", data.new())


@routes.post(f"{CONVERSATION}/topics", **_NEW)
async def create_topic(
    request: Request, conversation: FromPath[str], data: JSONBody[TopicBody], category: CategoryParameter = None
) -> Response[TopicReply]:
    """Make a topic of a conversation: stretches of its turns under one title. The key must read, as well."""
    return await _made(request, "topic", data.new(category), conversation)


@routes.get(
    SESSION,
    name="get_session",
    needs="read",
    problems=PAST,
    answer=SessionReply,
    doc="Read a session with the sizes of its conversations.",
)
@routes.get(
    CONVERSATION,
    name="get_conversation",
    needs="read",
    problems=PAST,
    answer=ConversationReply,
    doc="Read a conversation: its title, users and state, and how many turns, tokens and topics it has.",
)
@routes.get(
    TOPIC,
    name="get_topic",
    needs="read",
    problems=PAST,
    answer=TopicReply,
    doc="Read a topic with its stretches of turns and its sizes.",
)
async def get_object(
    request: Request, category: CategoryParameter = None, as_of: AsOfParameter = None
) -> Response[Any]:
    """Read a session, a conversation or a topic."""
    name = _named(request, category)
    found, seq = await request.ask(request.memories.conversations.get, name, as_of=parse(as_of))
    return Response(_REPLIES[name.level](found), headers={SEQ: str(seq), "ETag": found.memory.etag})


@routes.patch(SESSION, **_REVISION)
async def update_session(
    request: Request, data: JSONBody[SessionPatch], category: CategoryParameter = None
) -> Response[SessionReply]:
    """Change a session: title, users, metadata, tags, or its state.

    Conversations of a closed session take no turns.
    """
    return await _revised(request, category, data.change())


@routes.patch(CONVERSATION, **_REVISION)
async def update_conversation(
    request: Request, data: JSONBody[ConversationPatch], category: CategoryParameter = None
) -> Response[ConversationReply]:
    """Change a conversation: rename it by `title`, move it by `session`, close or reopen it by `state`.

    Its name stays, because exchanges name it. A session that is not there is made. A closed conversation takes no
    turns.
    """
    return await _revised(request, category, data.change())


@routes.patch(TOPIC, **_REVISION)
async def update_topic(
    request: Request, data: JSONBody[TopicPatch], category: CategoryParameter = None
) -> Response[TopicReply]:
    """Change a topic: its title, its stretches of turns, metadata, tags or state."""
    return await _revised(request, category, data.change())


@routes.delete(
    SESSION,
    name="delete_session",
    **_ENDING,
    doc="""Delete a session with its conversations, their topics and exchanges, as one step.

    Histories keep all of it, and an undo of the request brings it back. With `purge` nothing stays, and the answer is
    a signed report.
    """,
)
@routes.delete(
    CONVERSATION,
    name="delete_conversation",
    **_ENDING,
    doc="""Delete a conversation with its topics and exchanges, as one step.

    Histories keep all of it, and an undo of the request brings it back. With `purge` nothing stays, and the answer is
    a signed report.
    """,
)
@routes.delete(
    TOPIC,
    name="delete_topic",
    **_ENDING,
    doc="""Delete a topic. The exchanges stay in their conversation.

    An undo of the request brings it back. With `purge` nothing stays, and the answer is a signed report.
    """,
)
async def delete_object(
    request: Request, category: CategoryParameter = None, purge: PurgeParameter = None
) -> Response[EndedReply] | Response[ErasureReply]:
    """Delete an object with all that belongs to it; a purge erases it with its history."""
    name = _named(request, category)
    if not purge:
        return committed(await request.ask(request.memories.conversations.delete, name), EndedReply.of)
    space, eraser, caller = request.space, request.engine.eraser, request.named_caller
    if request.dry_run:
        return planned(await request.ask(eraser.plan_conversation, name, caller), Response(ErasureReply()))
    return await reported(request, lambda: eraser.conversation(space, name, caller))


def _named(request: Request, category: str | None) -> ObjectName:
    """Return the object in the path of a request."""
    given = request.path_params
    if "topic" in given:
        return ObjectName(level="topic", name=given["topic"], conversation=given["conversation"], category=category)
    level: Level = "conversation" if "conversation" in given else "session"
    return ObjectName(level=level, name=given[level], category=category)


def _state(given: str | None) -> Any:
    if given not in (None, "open", "closed"):
        raise InvalidInput.at("$.state", f"{given[:40]!r} is none of open, closed")
    return given


async def _listed(request: Request, wanted: Wanted, as_of: str | None, reply: Callable[[Any], T]) -> Response[T]:
    page = await request.ask(request.memories.conversations.page, wanted, as_of=parse(as_of))
    return followed(request, Response(reply(page), headers={SEQ: str(page.seq)}), page.next_cursor)


async def _made(request: Request, level: Level, new: NewObject, conversation: str | None = None) -> Response[Any]:
    create = request.memories.conversations.create
    kept = await request.ask(create, level, new, conversation=conversation, request=await request.key())
    return _kept(kept, level, 201)


async def _revised(request: Request, category: str | None, change: Change) -> Response[Any]:
    name = _named(request, category)
    kept = await request.ask(request.memories.conversations.change, name, change, **await request.conditions())
    return _kept(kept, name.level, 200)


def _kept(kept: Kept, level: Level, status: int) -> Response[Any]:
    headers = {**written_headers(kept.written), "ETag": kept.found.memory.etag}
    return planned(kept.written.plan, Response(_REPLIES[level](kept.found), status_code=status, headers=headers))
