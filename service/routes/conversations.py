"""Conversations: lists, titles, moves, states, deletions."""

from typing import Any, cast

from litestar import Response, delete, get, patch, post
from litestar.di import NamedDependency
from litestar.params import FromPath, JSONBody

from muisti.core.model.conversations import ObjectName
from muisti.core.views.conversations import Wanted
from muisti.service.http.decode import Request
from muisti.service.http.headers import IdempotencyKeyHeader, IfMatchHeader
from muisti.service.http.objects import (
    CategoryParameter,
    ObjectSortParameter,
    SessionParameter,
    StateParameter,
    UserParameter,
    listed,
    made,
    revised,
    shown,
)
from muisti.service.http.parameters import (
    PAST,
    AsOfParameter,
    CursorParameter,
    DryRunParameter,
    LimitParameter,
    PurgeParameter,
)
from muisti.service.routes.erasure import deleted
from muisti.service.runtime.workers import Backend
from muisti.service.schemas.conversation_requests import (
    ConversationBody,
    ConversationPatch,
)
from muisti.service.schemas.conversations import (
    ConversationReply,
    ConversationsReply,
    EndedReply,
)
from muisti.service.schemas.erasure import ErasureReply

_CHANGES = ["place_taken", "conversation_closed", "sensitive_content"]


def _named(name: str, category: str | None) -> ObjectName:
    return ObjectName(level="conversation", name=name, category=category)


@get("/conversations", operation_id="listConversations", tags=["conversations"], needs="read", problems=PAST)
async def list_conversations(
    request: Request,
    space: FromPath[str],
    backend: NamedDependency[Backend],
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
        state=cast(Any, in_state),
        category=category,
        sort=sort,
        limit=limit,
        cursor=cursor,
    )
    return await listed(request, backend, space, wanted, as_of, ConversationsReply.of)


@post(
    "/conversations",
    operation_id="createConversation",
    tags=["conversations"],
    needs="append",
    screens=True,
    problems=_CHANGES,
)
async def create_conversation(
    request: Request,
    space: FromPath[str],
    data: JSONBody[ConversationBody],
    backend: NamedDependency[Backend],
    idempotency_key: IdempotencyKeyHeader = None,
    dry_run: DryRunParameter = False,
) -> Response[ConversationReply]:
    """Make a conversation. Streaming turns in makes a missing one, too. The key must read, as well."""
    new = data.new()
    return await made(
        request, backend, space, "conversation", new, ConversationReply.of, idempotency_key, dry_run=dry_run
    )


@get(
    "/conversations/{conversation:str}",
    operation_id="getConversation",
    tags=["conversations"],
    needs="read",
    problems=PAST,
)
async def get_conversation(
    request: Request,
    space: FromPath[str],
    conversation: FromPath[str],
    backend: NamedDependency[Backend],
    category: CategoryParameter = None,
    as_of: AsOfParameter = None,
) -> Response[ConversationReply]:
    """Read a conversation: its title, users and state, and how many turns, tokens and topics it has."""
    return await shown(request, backend, space, _named(conversation, category), as_of, ConversationReply.of)


@patch(
    "/conversations/{conversation:str}",
    operation_id="updateConversation",
    tags=["conversations"],
    needs="write",
    screens=True,
    problems=_CHANGES,
)
async def update_conversation(
    request: Request,
    space: FromPath[str],
    conversation: FromPath[str],
    data: JSONBody[ConversationPatch],
    backend: NamedDependency[Backend],
    category: CategoryParameter = None,
    if_match: IfMatchHeader = None,
    idempotency_key: IdempotencyKeyHeader = None,
    dry_run: DryRunParameter = False,
) -> Response[ConversationReply]:
    """Change a conversation: rename it by `title`, move it by `session`, close or reopen it by `state`.

    Its name stays, because exchanges name it. A session that is not there is made. A closed conversation takes no
    turns.
    """
    name, change = _named(conversation, category), data.change()
    reply = ConversationReply.of
    return await revised(request, backend, space, name, change, reply, if_match, idempotency_key, dry_run=dry_run)


@delete(
    "/conversations/{conversation:str}",
    status_code=200,
    operation_id="deleteConversation",
    tags=["conversations"],
    needs="delete",
)
async def delete_conversation(
    request: Request,
    space: FromPath[str],
    conversation: FromPath[str],
    backend: NamedDependency[Backend],
    category: CategoryParameter = None,
    purge: PurgeParameter = None,
    dry_run: DryRunParameter = False,
) -> Response[EndedReply] | Response[ErasureReply]:
    """Delete a conversation with its topics and exchanges, as one step.

    Histories keep all of it, and an undo of the request brings it back. With `purge` nothing stays, and the answer is
    a signed report.
    """
    return await deleted(request, backend, space, _named(conversation, category), purge=purge, dry_run=dry_run)


ROUTES = (list_conversations, create_conversation, get_conversation, update_conversation, delete_conversation)
