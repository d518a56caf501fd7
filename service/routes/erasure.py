"""Permanent erasure, with signed reports that prove it."""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import msgspec
from litestar import Response, get, post
from litestar.di import NamedDependency
from litestar.params import FromPath, JSONBody

from muisti.core.model.conversations import ObjectName
from muisti.core.model.errors import InvalidInput
from muisti.core.model.operations import Erasure
from muisti.core.support.lazy import Lazy
from muisti.service.auth.middleware import access_of
from muisti.service.http.accepted import accepted
from muisti.service.http.decode import Request
from muisti.service.http.headers import SEQ, IdempotencyKeyHeader, request_key
from muisti.service.http.objects import ended
from muisti.service.http.parameters import DryRunParameter, TaskParameter
from muisti.service.http.respond import planned
from muisti.service.runtime.workers import Backend
from muisti.service.schemas.conversations import EndedReply
from muisti.service.schemas.erasure import ErasureReply, PurgeBody, ReportReply, SigningKeysReply
from muisti.service.schemas.tasks import TaskReply

if TYPE_CHECKING:
    from muisti.service.auth import signing
else:  # 45 ms: cryptography, with the first report
    signing = Lazy("muisti.service.auth.signing")


@post("/purge", status_code=200, operation_id="purge", tags=["erasure"], needs="admin", statuses=[202])
async def purge(
    request: Request,
    space: FromPath[str],
    data: JSONBody[PurgeBody],
    backend: NamedDependency[Backend],
    dry_run: DryRunParameter = False,
    task: TaskParameter = False,
    idempotency_key: IdempotencyKeyHeader = None,
) -> Response[ErasureReply] | Response[TaskReply]:
    """Erase memories for good: of an author, of a source, by a filter, by age, or everything.

    Erased are all versions, vectors, segments, stored answers, the write-ahead log and the free space of the file. Then
    every place is searched again, and the answer is the signed report of that search. `everything` needs the name of
    the space as `confirm`; the space stays, empty, with a new epoch.

    With `task=true` the answer is 202 with a task that erases the memories that exist now, a hundred at a time. The
    report is its result.
    """
    caller = access_of(request.scope).caller(request.scope.get("request_id"))
    eraser = backend.engine.eraser
    if data.everything:
        data.check_everything(space)
        if task:
            raise InvalidInput.at("$.task", "everything is erased in one batch; leave task out")
        if dry_run:
            return planned(await backend.store(eraser.plan_space, space, keep=True), Response(ErasureReply()))
        return await reported(request, backend, lambda: eraser.space(space, caller, keep=True))
    subject = data.subject(backend.engine.now())
    if task and not dry_run:
        key = await request_key(request, space, idempotency_key)
        made, replayed = await backend.store(backend.engine.purge, space, subject, data.what(), caller, key)
        return accepted(made, replayed=replayed)
    if dry_run:
        return planned(await backend.store(eraser.plan, space, subject), Response(ErasureReply()))
    return await reported(request, backend, lambda: eraser.subject(space, subject, data.what(), caller))


@get("/v1/signing-keys", operation_id="getSigningKeys", tags=["erasure"], needs="nothing")
async def get_signing_keys(backend: NamedDependency[Backend]) -> SigningKeysReply:
    """Read the public keys that reports are signed with.

    A set of JSON web keys (RFC 7517, Ed25519).
    """
    found = await backend.store(backend.engine.signing_keys.public)
    return SigningKeysReply(keys=[msgspec.json.decode(one) for one in found])


async def reported(request: Request, backend: Backend, erase: Callable[[], Erasure]) -> Response[Any]:
    """Erase, and answer with the signed report."""
    erasure = await backend.store(erase)
    report = ReportReply.of(erasure)
    key_file = request.app.state.settings.signing_key_file
    sign = signing.sign
    signed = await backend.store(sign, backend.engine, key_file, msgspec.json.encode(report))
    headers = {} if erasure.seq is None else {SEQ: str(erasure.seq)}
    return Response(ErasureReply(report=report, signed=signed), headers=headers)


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


ROUTES = (get_signing_keys,)
IN_A_SPACE = (purge,)
