"""Topics: stretches of the turns of a conversation."""

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
    StateParameter,
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
    TopicBody,
    TopicPatch,
)
from muisti.service.schemas.conversations import (
    EndedReply,
    TopicReply,
    TopicsReply,
)
from muisti.service.schemas.erasure import ErasureReply

_CHANGES = ["place_taken", "conversation_closed", "sensitive_content"]


def _named(name: str, conversation: str, category: str | None) -> ObjectName:
    return ObjectName(level="topic", name=name, conversation=conversation, category=category)


@get(
    "/conversations/{conversation:str}/topics",
    operation_id="listTopics",
    tags=["conversations"],
    needs="read",
    problems=PAST,
)
async def list_topics(
    request: Request,
    space: FromPath[str],
    conversation: FromPath[str],
    backend: NamedDependency[Backend],
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
        state=cast(Any, in_state),
        category=category,
        sort=sort,
        limit=limit,
        cursor=cursor,
    )
    return await listed(request, backend, space, wanted, as_of, TopicsReply.of)


@post(
    "/conversations/{conversation:str}/topics",
    operation_id="createTopic",
    tags=["conversations"],
    needs="append",
    screens=True,
    problems=_CHANGES,
)
async def create_topic(
    request: Request,
    space: FromPath[str],
    conversation: FromPath[str],
    data: JSONBody[TopicBody],
    backend: NamedDependency[Backend],
    category: CategoryParameter = None,
    idempotency_key: IdempotencyKeyHeader = None,
    dry_run: DryRunParameter = False,
) -> Response[TopicReply]:
    """Make a topic of a conversation: stretches of its turns under one title. The key must read, as well."""
    new, reply = data.new(category), TopicReply.of
    return await made(
        request,
        backend,
        space,
        "topic",
        new,
        reply,
        idempotency_key,
        dry_run=dry_run,
        conversation=conversation,
    )


@get(
    "/conversations/{conversation:str}/topics/{topic:str}",
    operation_id="getTopic",
    tags=["conversations"],
    needs="read",
    problems=PAST,
)
async def get_topic(
    request: Request,
    space: FromPath[str],
    conversation: FromPath[str],
    topic: FromPath[str],
    backend: NamedDependency[Backend],
    category: CategoryParameter = None,
    as_of: AsOfParameter = None,
) -> Response[TopicReply]:
    """Read a topic with its stretches of turns and its sizes."""
    return await shown(request, backend, space, _named(topic, conversation, category), as_of, TopicReply.of)


@patch(
    "/conversations/{conversation:str}/topics/{topic:str}",
    operation_id="updateTopic",
    tags=["conversations"],
    needs="write",
    screens=True,
    problems=_CHANGES,
)
async def update_topic(
    request: Request,
    space: FromPath[str],
    conversation: FromPath[str],
    topic: FromPath[str],
    data: JSONBody[TopicPatch],
    backend: NamedDependency[Backend],
    category: CategoryParameter = None,
    if_match: IfMatchHeader = None,
    idempotency_key: IdempotencyKeyHeader = None,
    dry_run: DryRunParameter = False,
) -> Response[TopicReply]:
    """Change a topic: its title, its stretches of turns, metadata, tags or state."""
    name, change = _named(topic, conversation, category), data.change()
    reply = TopicReply.of
    return await revised(request, backend, space, name, change, reply, if_match, idempotency_key, dry_run=dry_run)


@delete(
    "/conversations/{conversation:str}/topics/{topic:str}",
    status_code=200,
    operation_id="deleteTopic",
    tags=["conversations"],
    needs="delete",
)
async def delete_topic(
    request: Request,
    space: FromPath[str],
    conversation: FromPath[str],
    topic: FromPath[str],
    backend: NamedDependency[Backend],
    category: CategoryParameter = None,
    purge: PurgeParameter = None,
    dry_run: DryRunParameter = False,
) -> Response[EndedReply] | Response[ErasureReply]:
    """Delete a topic. The exchanges stay in their conversation.

    An undo of the request brings it back. With `purge` nothing stays, and the answer is a signed report.
    """
    return await deleted(request, backend, space, _named(topic, conversation, category), purge=purge, dry_run=dry_run)


ROUTES = (list_topics, create_topic, get_topic, update_topic, delete_topic)
