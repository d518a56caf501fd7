"""Memories, one at a time, and lists of them."""

from litestar import Response, delete, get, patch, post, put
from litestar.di import NamedDependency
from litestar.params import FromPath, JSONBody
from litestar.types import Scope

from muisti.core.model.outcomes import Written
from muisti.core.model.values import RequestKey
from muisti.core.query.filters import parse_params
from muisti.core.query.points import parse
from muisti.service.asgi.sending import PlainResponse
from muisti.service.auth.access import check
from muisti.service.auth.middleware import access_of, memories, seen
from muisti.service.http.decode import Request
from muisti.service.http.headers import IdempotencyKeyHeader, IfMatchHeader, IfNoneMatchHeader, request_key
from muisti.service.http.parameters import (
    PAST,
    AsOfParameter,
    CursorParameter,
    DryRunParameter,
    LimitParameter,
    NoTouchParameter,
    OnConflictParameter,
    PurgeParameter,
    SortParameter,
)
from muisti.service.http.preferences import preferred
from muisti.service.http.reading import reading
from muisti.service.http.respond import added, followed, read, stored
from muisti.service.routes.named import (
    ended,
    feedback_on,
    got,
    history_of,
    purged,
    restored,
    superseded,
    telemetry_of,
    updated,
)
from muisti.service.runtime.workers import Backend
from muisti.service.schemas.erasure import ErasureReply
from muisti.service.schemas.replies import (
    AddedReply,
    HistoryReply,
    MemoryReply,
    PageReply,
    TelemetryReply,
    WrittenReply,
)
from muisti.service.schemas.requests import AddBody, FeedbackBody, PatchBody, RestoreBody, SupersedeBody, on_conflict_of


@post(
    "/memories",
    operation_id="addMemory",
    tags=["memories"],
    needs="append",
    prefers=True,
    screens=True,
    problems=["duplicate", "contradiction", "echo", "address_taken", "sensitive_content"],
)
async def add_memory(
    request: Request,
    space: FromPath[str],
    data: JSONBody[AddBody],
    backend: NamedDependency[Backend],
    on_conflict: OnConflictParameter = None,
    idempotency_key: IdempotencyKeyHeader = None,
    dry_run: DryRunParameter = False,
) -> Response[AddedReply]:
    """Add a memory.

    When the answer arrives, the memory is on disk and every search finds it. A memory that repeats or contradicts a
    current one is refused, unless `on_conflict` says otherwise. `keep` stores it beside the others. `supersede` puts it
    in place of the closest of them, which needs the scope `write`.
    """
    key = await request_key(request, space, idempotency_key)
    one = await _added(request.scope, space, data, backend, on_conflict, key, dry_run=dry_run)
    return preferred(request, added(one))


async def add_plain(scope: Scope, space: str, data: AddBody, backend: Backend) -> PlainResponse:
    """Add a memory, for a request of the fast path, which has no parameters and no headers that decide."""
    return stored(await _added(scope, space, data, backend))


async def _added(
    scope: Scope,
    space: str,
    data: AddBody,
    backend: Backend,
    on_conflict: str | None = None,
    key: RequestKey | None = None,
    *,
    dry_run: bool = False,
) -> Written:
    choice = on_conflict_of(data.on_conflict, on_conflict, "reject")
    if choice == "supersede":
        check(access_of(scope), "write")
    return await backend.add(seen(scope, backend, dry_run=dry_run), space, data.draft(), choice, key)


@get("/memories", operation_id="listMemories", tags=["memories"], needs="read", filters=True, problems=PAST)
async def list_memories(
    request: Request,
    space: FromPath[str],
    backend: NamedDependency[Backend],
    limit: LimitParameter = 50,
    sort: SortParameter = None,
    cursor: CursorParameter = None,
    as_of: AsOfParameter = None,
) -> Response[PageReply]:
    """List memories, newest first unless `sort` names another order.

    Every other parameter is a filter: `tags=a,b`, `created_at.gte=2026-01-01`, `metadata.team=core`, or
    `filter=` with JSON. All must hold.
    """
    own = ("limit", "sort", "cursor", "as_of")
    filters = {name: texts for name, texts in request.query_params.dict().items() if name not in own}
    with reading(request.scope, backend, "list") as noted:
        page = await backend.store(
            memories(request, backend).read.list,
            space,
            filter=parse_params(filters),
            limit=limit,
            sort=sort,
            cursor=cursor,
            as_of=parse(as_of),
        )
        noted.found(space, page.seq, len(page.items))
    return followed(request, read(PageReply.of(page), page.seq), page.next_cursor)


@get(
    "/memories/{memory_id:str}",
    operation_id="getMemory",
    tags=["memories"],
    needs="read",
    statuses=[304],
    problems=PAST,
)
async def get_memory(
    request: Request,
    space: FromPath[str],
    memory_id: FromPath[str],
    backend: NamedDependency[Backend],
    as_of: AsOfParameter = None,
    if_none_match: IfNoneMatchHeader = None,
    no_touch: NoTouchParameter = False,
) -> Response[MemoryReply] | Response[None]:
    """Read a memory.

    That counts as a retrieval unless `no_touch` is true.
    """
    return await got(request, backend, space, memory_id, as_of, if_none_match, no_touch=no_touch)


@patch(
    "/memories/{memory_id:str}",
    operation_id="updateMemory",
    tags=["memories"],
    needs="write",
    prefers=True,
    screens=True,
    problems=["address_taken", "sensitive_content"],
)
async def update_memory(
    request: Request,
    space: FromPath[str],
    memory_id: FromPath[str],
    data: JSONBody[PatchBody],
    backend: NamedDependency[Backend],
    if_match: IfMatchHeader = None,
    idempotency_key: IdempotencyKeyHeader = None,
    dry_run: DryRunParameter = False,
) -> Response[WrittenReply]:
    """Change a memory.

    Absent fields stay, null clears; `tags` and `metadata` are replaced as a whole. Each change makes a new version.
    """
    return await updated(request, backend, space, memory_id, data, if_match, idempotency_key, dry_run=dry_run)


@post(
    "/memories/{memory_id:str}/supersede",
    operation_id="supersedeMemory",
    tags=["memories"],
    needs="write",
    screens=True,
    problems=["address_taken", "sensitive_content"],
)
async def supersede_memory(
    request: Request,
    space: FromPath[str],
    memory_id: FromPath[str],
    data: JSONBody[SupersedeBody],
    backend: NamedDependency[Backend],
    if_match: IfMatchHeader = None,
    idempotency_key: IdempotencyKeyHeader = None,
    dry_run: DryRunParameter = False,
) -> Response[WrittenReply]:
    """Put a new memory in place of a current one.

    Both change in one step. The old memory gets a last version that names the new one in `superseded_by`, gives up its
    address and is no longer found. The new memory names the old one in `supersedes`, and takes over its category and
    key when the body has none.
    """
    return await superseded(request, backend, space, memory_id, data, if_match, idempotency_key, dry_run=dry_run)


@post(
    "/memories/{memory_id:str}/restore",
    status_code=200,
    operation_id="restoreMemory",
    tags=["memories"],
    needs="write",
    screens=True,
    problems=["address_taken", "sensitive_content"],
)
async def restore_memory(
    request: Request,
    space: FromPath[str],
    memory_id: FromPath[str],
    data: JSONBody[RestoreBody],
    backend: NamedDependency[Backend],
    if_match: IfMatchHeader = None,
    idempotency_key: IdempotencyKeyHeader = None,
    dry_run: DryRunParameter = False,
) -> Response[WrittenReply]:
    """Restore an earlier version of a memory.

    That makes a new version, so that nothing is lost. Deleted and superseded memories can be restored, unless their
    address belongs to another memory now. An expiry time that has passed is left out. Text that is not current in the
    memory passes the policy of the space as if it were new.
    """
    return await restored(request, backend, space, memory_id, data, if_match, idempotency_key, dry_run=dry_run)


@delete(
    "/memories/{memory_id:str}",
    status_code=200,
    operation_id="deleteMemory",
    tags=["memories"],
    needs="delete",
    statuses=[204],
)
async def delete_memory(
    request: Request,
    space: FromPath[str],
    memory_id: FromPath[str],
    backend: NamedDependency[Backend],
    purge: PurgeParameter = None,
    if_match: IfMatchHeader = None,
    idempotency_key: IdempotencyKeyHeader = None,
    dry_run: DryRunParameter = False,
) -> Response[ErasureReply] | Response[None]:
    """Delete a memory.

    Its versions stay in its history. With `purge` nothing stays, and the answer is a signed report of the places that
    were searched. A purge takes no If-Match and no Idempotency-Key: it erases all versions and can be repeated.
    """
    end = purged if purge else ended
    return await end(request, backend, space, memory_id, if_match, idempotency_key, dry_run=dry_run)


@get("/memories/{memory_id:str}/history", operation_id="getHistory", tags=["memories"], needs="read")
async def get_history(
    request: Request,
    space: FromPath[str],
    memory_id: FromPath[str],
    backend: NamedDependency[Backend],
    limit: LimitParameter = 100,
    cursor: CursorParameter = None,
) -> Response[HistoryReply]:
    """Read versions of a memory, newest first, and what each has changed.

    A deleted or superseded memory has its history too. A page has about a million characters of text at most.
    """
    return await history_of(request, backend, space, memory_id, limit, cursor)


@get("/memories/{memory_id:str}/telemetry", operation_id="getTelemetry", tags=["memories"], needs="read")
async def get_telemetry(
    request: Request,
    space: FromPath[str],
    memory_id: FromPath[str],
    backend: NamedDependency[Backend],
) -> Response[TelemetryReply]:
    """Read how often a memory was retrieved, when last, and its feedback.

    This request does not count as a retrieval.
    """
    return await telemetry_of(request, backend, space, memory_id)


@put("/memories/{memory_id:str}/feedback", operation_id="giveFeedback", tags=["memories"], needs="append")
async def give_feedback(
    request: Request,
    space: FromPath[str],
    memory_id: FromPath[str],
    data: JSONBody[FeedbackBody],
    backend: NamedDependency[Backend],
    dry_run: DryRunParameter = False,
) -> Response[TelemetryReply]:
    """Say that a memory was useful, or that it was not.

    Only the last verdict of each key counts; null withdraws it. It changes the rank of the memory, within bounds, and
    makes neither a version nor a change. Needs the scopes `read` and `append`.
    """
    return await feedback_on(request, backend, space, memory_id, data, dry_run=dry_run)


ROUTES = (
    add_memory,
    list_memories,
    get_memory,
    update_memory,
    supersede_memory,
    restore_memory,
    delete_memory,
    get_history,
    get_telemetry,
    give_feedback,
)
