"""Answers about one memory, shared by the routes that name it by id and those that name it by category and key."""

from litestar import Response

from muisti.core.model.errors import InvalidInput
from muisti.core.model.values import Name
from muisti.core.query.points import parse
from muisti.service.auth.access import check
from muisti.service.auth.middleware import access_of, memories
from muisti.service.http.decode import Request
from muisti.service.http.headers import expected, is_known, request_key
from muisti.service.http.parameters import HISTORY_CHARACTERS, version_in
from muisti.service.http.preferences import preferred
from muisti.service.http.reading import reading
from muisti.service.http.respond import deleted, followed, found, planned, read, tried, unchanged, written
from muisti.service.routes.erasure import reported
from muisti.service.runtime.workers import Backend
from muisti.service.schemas.erasure import ErasureReply
from muisti.service.schemas.replies import HistoryReply, MemoryReply, TelemetryReply, WrittenReply
from muisti.service.schemas.requests import FeedbackBody, PatchBody, RestoreBody, SupersedeBody


async def got(
    request: Request,
    backend: Backend,
    space: str,
    name: Name,
    as_of: str | None,
    if_none_match: str | None,
    *,
    no_touch: bool,
) -> Response[MemoryReply] | Response[None]:
    """Read a memory; 304 when the caller has this version."""
    with reading(request.scope, backend, "get") as noted:
        get = memories(request, backend).read.get
        one = await backend.store(get, space, name, as_of=parse(as_of), no_touch=no_touch)
        noted.found(space, one.seq, 1)
    return unchanged(one) if is_known(if_none_match, one.memory.etag) else found(one)


async def updated(
    request: Request,
    backend: Backend,
    space: str,
    name: Name,
    data: PatchBody,
    if_match: str | None,
    idempotency_key: str | None,
    *,
    dry_run: bool,
) -> Response[WrittenReply]:
    """Change fields of a memory."""
    changed = await backend.store(
        memories(request, backend, dry_run=dry_run).write.update,
        space,
        name,
        data.changes(),
        if_match=expected(request, if_match),
        request=await request_key(request, space, idempotency_key),
    )
    return preferred(request, written(changed))


async def superseded(
    request: Request,
    backend: Backend,
    space: str,
    name: Name,
    data: SupersedeBody,
    if_match: str | None,
    idempotency_key: str | None,
    *,
    dry_run: bool,
) -> Response[WrittenReply]:
    """Put a new memory in place of one."""
    stored = await backend.store(
        memories(request, backend, dry_run=dry_run).write.supersede,
        space,
        name,
        data.draft(),
        if_match=expected(request, if_match),
        request=await request_key(request, space, idempotency_key),
    )
    return preferred(request, written(stored))


async def restored(
    request: Request,
    backend: Backend,
    space: str,
    name: Name,
    data: RestoreBody,
    if_match: str | None,
    idempotency_key: str | None,
    *,
    dry_run: bool,
) -> Response[WrittenReply]:
    """Restore an earlier version of a memory."""
    stored = await backend.store(
        memories(request, backend, dry_run=dry_run).write.restore,
        space,
        name,
        data.version,
        if_match=expected(request, if_match),
        request=await request_key(request, space, idempotency_key),
    )
    return preferred(request, written(stored))


async def ended(
    request: Request,
    backend: Backend,
    space: str,
    name: Name,
    if_match: str | None,
    idempotency_key: str | None,
    *,
    dry_run: bool,
) -> Response[None]:
    """Delete a memory; its versions stay in its history."""
    done = await backend.store(
        memories(request, backend, dry_run=dry_run).write.delete,
        space,
        name,
        if_match=expected(request, if_match),
        request=await request_key(request, space, idempotency_key),
    )
    return deleted(done)


async def purged(
    request: Request,
    backend: Backend,
    space: str,
    name: Name,
    if_match: str | None,
    idempotency_key: str | None,
    *,
    dry_run: bool,
) -> Response[ErasureReply]:
    """Erase a memory with its history, and answer with the signed report."""
    if if_match is not None or idempotency_key is not None:
        raise InvalidInput.at("$.purge", "takes no If-Match or Idempotency-Key, because repeating it is harmless")
    eraser, caller = backend.engine.eraser, access_of(request.scope).caller(request.scope.get("request_id"))
    if dry_run:
        return planned(await backend.store(eraser.plan_memory, space, name, caller), Response(ErasureReply()))
    return await reported(request, backend, lambda: eraser.memory(space, name, caller))


async def history_of(
    request: Request, backend: Backend, space: str, name: Name, limit: int, cursor: str | None
) -> Response[HistoryReply]:
    """Read a page of the versions of a memory."""
    before = None if cursor is None else version_in(cursor)
    ask = memories(request, backend).read.history
    history = await backend.store(ask, space, name, most=limit, characters=HISTORY_CHARACTERS, before=before)
    reply = HistoryReply.of(history)
    return followed(request, read(reply, history.seq), reply.next_cursor)


async def telemetry_of(request: Request, backend: Backend, space: str, name: Name) -> Response[TelemetryReply]:
    """Read how often a memory was retrieved, when last, and its feedback."""
    used = await backend.store(memories(request, backend).review.telemetry, space, name)
    return read(TelemetryReply.of(used), used.seq)


async def feedback_on(
    request: Request, backend: Backend, space: str, name: Name, data: FeedbackBody, *, dry_run: bool
) -> Response[TelemetryReply]:
    """Store the caller's verdict on a memory."""
    check(access_of(request.scope), "read")
    seen = memories(request, backend, dry_run=dry_run)
    used = await backend.store(seen.review.give_feedback, space, name, data.verdict)
    return tried(dry_run, read(TelemetryReply.of(used), used.seq))
