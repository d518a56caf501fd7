"""Memories by their address: a category and a key. Each route does what the one by id does."""

from litestar import Response, delete, get, patch, post, put
from litestar.di import NamedDependency
from litestar.params import FromPath, JSONBody

from muisti.core.model.values import Address
from muisti.service.auth.middleware import memories
from muisti.service.http.decode import Request
from muisti.service.http.headers import IdempotencyKeyHeader, IfMatchHeader, IfNoneMatchHeader, expected, request_key
from muisti.service.http.parameters import (
    PAST,
    AsOfParameter,
    CursorParameter,
    DryRunParameter,
    LimitParameter,
    NoTouchParameter,
    PurgeParameter,
)
from muisti.service.http.preferences import preferred
from muisti.service.http.respond import written
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
from muisti.service.schemas.replies import HistoryReply, MemoryReply, TelemetryReply, WrittenReply
from muisti.service.schemas.requests import EntryBody, FeedbackBody, PatchBody, RestoreBody, SupersedeBody

PATH = "/entries/{category:str}/{key:str}"


@get(PATH, operation_id="getEntry", tags=["entries"], needs="read", statuses=[304], problems=PAST)
async def get_entry(
    request: Request,
    space: FromPath[str],
    category: FromPath[str],
    key: FromPath[str],
    backend: NamedDependency[Backend],
    as_of: AsOfParameter = None,
    if_none_match: IfNoneMatchHeader = None,
    no_touch: NoTouchParameter = False,
) -> Response[MemoryReply] | Response[None]:
    """Read the memory at an address.

    A slash within a category or key is written %2F.
    """
    return await got(request, backend, space, Address(category, key), as_of, if_none_match, no_touch=no_touch)


@put(
    PATH,
    operation_id="putEntry",
    tags=["entries"],
    needs="write",
    prefers=True,
    screens=True,
    statuses=[201],
    problems=["echo", "sensitive_content"],
)
async def put_entry(
    request: Request,
    space: FromPath[str],
    category: FromPath[str],
    key: FromPath[str],
    data: JSONBody[EntryBody],
    backend: NamedDependency[Backend],
    if_match: IfMatchHeader = None,
    idempotency_key: IdempotencyKeyHeader = None,
    dry_run: DryRunParameter = False,
) -> Response[WrittenReply]:
    """Store a memory at an address, in place of what is there.

    201 when nothing was there. A memory that is there keeps its id and gets a new version, in which nothing of the old
    one is left.
    """
    stored = await backend.store(
        memories(request, backend, dry_run=dry_run).write.put,
        space,
        data.entry(category, key),
        if_match=expected(request, if_match),
        request=await request_key(request, space, idempotency_key),
    )
    return preferred(request, written(stored))


@patch(
    PATH,
    operation_id="updateEntry",
    tags=["entries"],
    needs="write",
    prefers=True,
    screens=True,
    problems=["address_taken", "sensitive_content"],
)
async def update_entry(
    request: Request,
    space: FromPath[str],
    category: FromPath[str],
    key: FromPath[str],
    data: JSONBody[PatchBody],
    backend: NamedDependency[Backend],
    if_match: IfMatchHeader = None,
    idempotency_key: IdempotencyKeyHeader = None,
    dry_run: DryRunParameter = False,
) -> Response[WrittenReply]:
    """Change the memory at an address.

    Absent fields stay, null clears; `tags` and `metadata` are replaced as a whole. Each change makes a new version.
    """
    name = Address(category, key)
    return await updated(request, backend, space, name, data, if_match, idempotency_key, dry_run=dry_run)


@post(
    f"{PATH}/supersede",
    operation_id="supersedeEntry",
    tags=["entries"],
    needs="write",
    screens=True,
    problems=["address_taken", "sensitive_content"],
)
async def supersede_entry(
    request: Request,
    space: FromPath[str],
    category: FromPath[str],
    key: FromPath[str],
    data: JSONBody[SupersedeBody],
    backend: NamedDependency[Backend],
    if_match: IfMatchHeader = None,
    idempotency_key: IdempotencyKeyHeader = None,
    dry_run: DryRunParameter = False,
) -> Response[WrittenReply]:
    """Put a new memory in place of the one at an address.

    A body without category and key takes over the address.
    """
    name = Address(category, key)
    return await superseded(request, backend, space, name, data, if_match, idempotency_key, dry_run=dry_run)


@post(
    f"{PATH}/restore",
    status_code=200,
    operation_id="restoreEntry",
    tags=["entries"],
    needs="write",
    screens=True,
    problems=["address_taken", "sensitive_content"],
)
async def restore_entry(
    request: Request,
    space: FromPath[str],
    category: FromPath[str],
    key: FromPath[str],
    data: JSONBody[RestoreBody],
    backend: NamedDependency[Backend],
    if_match: IfMatchHeader = None,
    idempotency_key: IdempotencyKeyHeader = None,
    dry_run: DryRunParameter = False,
) -> Response[WrittenReply]:
    """Restore an earlier version of the memory at an address.

    The memory at the address now is restored, expired or not, else the last one that was there, even if deleted.
    """
    name = Address(category, key)
    return await restored(request, backend, space, name, data, if_match, idempotency_key, dry_run=dry_run)


@delete(PATH, status_code=200, operation_id="deleteEntry", tags=["entries"], needs="delete", statuses=[204])
async def delete_entry(
    request: Request,
    space: FromPath[str],
    category: FromPath[str],
    key: FromPath[str],
    backend: NamedDependency[Backend],
    purge: PurgeParameter = None,
    if_match: IfMatchHeader = None,
    idempotency_key: IdempotencyKeyHeader = None,
    dry_run: DryRunParameter = False,
) -> Response[ErasureReply] | Response[None]:
    """Delete the memory at an address.

    With `purge` it is erased with its history, and the answer is the signed report. A purge takes the memory that is
    there now, expired or not, and never one that was there before. Repeat a purge by the id in its report.
    """
    end = purged if purge else ended
    name = Address(category, key)
    return await end(request, backend, space, name, if_match, idempotency_key, dry_run=dry_run)


@get(f"{PATH}/history", operation_id="getEntryHistory", tags=["entries"], needs="read")
async def get_entry_history(
    request: Request,
    space: FromPath[str],
    category: FromPath[str],
    key: FromPath[str],
    backend: NamedDependency[Backend],
    limit: LimitParameter = 100,
    cursor: CursorParameter = None,
) -> Response[HistoryReply]:
    """Read versions of the memory at an address, newest first, and what each has changed.

    The memory is the one at the address now, expired or not, else the last one that was there.
    """
    return await history_of(request, backend, space, Address(category, key), limit, cursor)


@get(f"{PATH}/telemetry", operation_id="getEntryTelemetry", tags=["entries"], needs="read")
async def get_entry_telemetry(
    request: Request,
    space: FromPath[str],
    category: FromPath[str],
    key: FromPath[str],
    backend: NamedDependency[Backend],
) -> Response[TelemetryReply]:
    """Read how often the memory at an address was retrieved, when last, and its feedback.

    This request does not count as a retrieval.
    """
    return await telemetry_of(request, backend, space, Address(category, key))


@put(f"{PATH}/feedback", operation_id="giveEntryFeedback", tags=["entries"], needs="append")
async def give_entry_feedback(
    request: Request,
    space: FromPath[str],
    category: FromPath[str],
    key: FromPath[str],
    data: JSONBody[FeedbackBody],
    backend: NamedDependency[Backend],
    dry_run: DryRunParameter = False,
) -> Response[TelemetryReply]:
    """Say that the memory at an address was useful, or that it was not.

    Only the last verdict of each key counts; null withdraws it. Needs the scopes `read` and `append`.
    """
    return await feedback_on(request, backend, space, Address(category, key), data, dry_run=dry_run)


ROUTES = (
    get_entry,
    put_entry,
    update_entry,
    supersede_entry,
    restore_entry,
    delete_entry,
    get_entry_history,
    get_entry_telemetry,
    give_entry_feedback,
)
