"""Sessions: groups of conversations."""

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
    SessionBody,
    SessionPatch,
)
from muisti.service.schemas.conversations import (
    EndedReply,
    SessionReply,
    SessionsReply,
)
from muisti.service.schemas.erasure import ErasureReply

_CHANGES = ["place_taken", "conversation_closed", "sensitive_content"]


def _named(name: str, category: str | None) -> ObjectName:
    return ObjectName(level="session", name=name, category=category)


@get("/sessions", operation_id="listSessions", tags=["conversations"], needs="read", problems=PAST)
async def list_sessions(
    request: Request,
    space: FromPath[str],
    backend: NamedDependency[Backend],
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
        level="session", user=user, state=cast(Any, in_state), category=category, sort=sort, limit=limit, cursor=cursor
    )
    return await listed(request, backend, space, wanted, as_of, SessionsReply.of)


@post(
    "/sessions", operation_id="createSession", tags=["conversations"], needs="append", screens=True, problems=_CHANGES
)
async def create_session(
    request: Request,
    space: FromPath[str],
    data: JSONBody[SessionBody],
    backend: NamedDependency[Backend],
    idempotency_key: IdempotencyKeyHeader = None,
    dry_run: DryRunParameter = False,
) -> Response[SessionReply]:
    """Make a session. Streaming turns in makes a missing one, too. The key must read, as well."""
    new = data.new()
    return await made(request, backend, space, "session", new, SessionReply.of, idempotency_key, dry_run=dry_run)


@get("/sessions/{session:str}", operation_id="getSession", tags=["conversations"], needs="read", problems=PAST)
async def get_session(
    request: Request,
    space: FromPath[str],
    session: FromPath[str],
    backend: NamedDependency[Backend],
    category: CategoryParameter = None,
    as_of: AsOfParameter = None,
) -> Response[SessionReply]:
    """Read a session with the sizes of its conversations."""
    return await shown(request, backend, space, _named(session, category), as_of, SessionReply.of)


@patch(
    "/sessions/{session:str}",
    operation_id="updateSession",
    tags=["conversations"],
    needs="write",
    screens=True,
    problems=_CHANGES,
)
async def update_session(
    request: Request,
    space: FromPath[str],
    session: FromPath[str],
    data: JSONBody[SessionPatch],
    backend: NamedDependency[Backend],
    category: CategoryParameter = None,
    if_match: IfMatchHeader = None,
    idempotency_key: IdempotencyKeyHeader = None,
    dry_run: DryRunParameter = False,
) -> Response[SessionReply]:
    """Change a session: title, users, metadata, tags, or its state.

    Conversations of a closed session take no turns.
    """
    name, change = _named(session, category), data.change()
    reply = SessionReply.of
    return await revised(request, backend, space, name, change, reply, if_match, idempotency_key, dry_run=dry_run)


@delete(
    "/sessions/{session:str}", status_code=200, operation_id="deleteSession", tags=["conversations"], needs="delete"
)
async def delete_session(
    request: Request,
    space: FromPath[str],
    session: FromPath[str],
    backend: NamedDependency[Backend],
    category: CategoryParameter = None,
    purge: PurgeParameter = None,
    dry_run: DryRunParameter = False,
) -> Response[EndedReply] | Response[ErasureReply]:
    """Delete a session with its conversations, their topics and exchanges, as one step.

    Histories keep all of it, and an undo of the request brings it back. With `purge` nothing stays, and the answer is
    a signed report.
    """
    return await deleted(request, backend, space, _named(session, category), purge=purge, dry_run=dry_run)


ROUTES = (list_sessions, create_session, get_session, update_session, delete_session)
