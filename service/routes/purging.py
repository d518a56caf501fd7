"""Purges of sessions, conversations and topics, with a signed report."""

from litestar import Response

from muisti.core.model.conversations import ObjectName
from muisti.service.auth.middleware import access_of
from muisti.service.http.decode import Request
from muisti.service.http.objects import ended
from muisti.service.http.respond import planned
from muisti.service.routes.erasure import reported
from muisti.service.runtime.workers import Backend
from muisti.service.schemas.conversations import EndedReply
from muisti.service.schemas.erasure import ErasureReply


async def deleted(
    request: Request, backend: Backend, space: str, name: ObjectName, *, purge: bool | None, dry_run: bool
) -> Response[EndedReply] | Response[ErasureReply]:
    """Delete an object with all that belongs to it; a purge erases it with its history."""
    if not purge:
        return await ended(request, backend, space, name, dry_run=dry_run)
    eraser, caller = backend.engine.eraser, access_of(request.scope).caller(request.scope.get("request_id"))
    if dry_run:
        return planned(await backend.store(eraser.plan_conversation, space, name, caller), Response(ErasureReply()))
    return await reported(request, backend, lambda: eraser.conversation(space, name, caller))
