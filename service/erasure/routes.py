"""Permanent erasure, with signed reports that prove it."""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import msgspec
from litestar import Response
from litestar.params import JSONBody
from msgspec import UNSET

from muisti.core.model.errors import InvalidInput
from muisti.core.model.operations import Erasure
from muisti.core.support.lazy import Lazy
from muisti.service.asgi.header_names import SEQ
from muisti.service.erasure.schemas import ErasureReply, PurgeBody, ReportReply, SigningKeysReply
from muisti.service.http.parameters import DryRunParameter, TaskParameter
from muisti.service.http.request import Request
from muisti.service.http.respond import accepted, planned
from muisti.service.http.routing import Routes
from muisti.service.schemas.tasks import TaskReply

if TYPE_CHECKING:
    from muisti.service.auth import signing
else:  # 45 ms: cryptography, with the first report
    signing = Lazy("muisti.service.auth.signing")

routes = Routes("erasure")
everywhere = Routes("erasure", "")


@routes.post("/purge", status_code=200, needs="admin", statuses=[202], standard=("Idempotency-Key",))
async def purge(
    request: Request, data: JSONBody[PurgeBody], dry_run: DryRunParameter = False, task: TaskParameter = False
) -> Response[ErasureReply] | Response[TaskReply]:
    """Erase memories for good: of an author, of a source, by a filter, by age, or everything.

    Erased are all versions, vectors, segments, stored answers, the write-ahead log and the free space of the file. Then
    every place is searched again, and the answer is the signed report of that search. `everything` needs the name of
    the space as `confirm`; the space stays, empty, with a new epoch.

    With `task=true` the answer is 202 with a task that erases the memories that exist now, a hundred at a time. The
    report is its result.
    """
    caller = request.named_caller
    eraser = request.engine.eraser
    if data.everything:
        data.check_everything(request.space)
        if task:
            raise InvalidInput.at("$.task", "everything is erased in one batch; leave task out")
        if dry_run:
            return planned(await request.ask(eraser.plan_space, keep=True), Response(ErasureReply()))
        return await reported(request, lambda: eraser.space(request.space, caller, keep=True))
    subject = data.subject(request.engine.now())
    if task and not dry_run:
        key = await request.key()
        made, replayed = await request.ask(request.engine.purge, subject, data.what(), caller, key)
        return accepted(made, replayed=replayed)
    if dry_run:
        return planned(await request.ask(eraser.plan, subject), Response(ErasureReply()))
    return await reported(request, lambda: eraser.subject(request.space, subject, data.what(), caller))


@everywhere.get("/v1/signing-keys", needs="nothing")
async def get_signing_keys(request: Request) -> SigningKeysReply:
    """Read the public keys that reports are signed with.

    A set of JSON web keys (RFC 7517, Ed25519).
    """
    found = await request.backend.store(request.engine.signing_keys.public)
    return SigningKeysReply(keys=[msgspec.json.decode(one) for one in found])


async def reported(request: Request, erase: Callable[[], Erasure]) -> Response[Any]:
    """Erase, and answer with the signed report."""
    backend = request.backend
    erasure = await backend.store(erase)
    engines = backend.engines
    report = ReportReply.of(erasure, database=engines.home(erasure.space) if engines.several else UNSET)
    key_file = request.app.state.settings.signing_key_file
    signed = await backend.store(signing.sign, backend.main, key_file, msgspec.json.encode(report))
    headers = {} if erasure.seq is None else {SEQ: str(erasure.seq)}
    return Response(ErasureReply(report=report, signed=signed), headers=headers)
