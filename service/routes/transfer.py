"""Export of a space as lines, and import."""

import re
from collections.abc import AsyncIterator
from typing import Annotated

from litestar import Response
from litestar.params import FromPath
from litestar.response import Stream

from muisti.core.model.errors import InvalidInput
from muisti.core.model.operations import ImportReport
from muisti.core.model.outcomes import Plan
from muisti.core.model.tasks import Task
from muisti.core.model.values import RequestKey
from muisti.core.tasks.tasks import Submission
from muisti.core.views.write import Import
from muisti.service.asgi.header_names import SEQ
from muisti.service.auth.access import check
from muisti.service.auth.middleware import caller_of
from muisti.service.formats.line_stream import PIECE, TASK, KeptLines, Lines, compressed, encoded
from muisti.service.http.decode import LINES
from muisti.service.http.parameters import DRY, DryRunParameter, TaskParameter, query
from muisti.service.http.request import Request, on_threads
from muisti.service.http.respond import accepted, planned
from muisti.service.http.routing import Routes
from muisti.service.runtime.workers import Backend
from muisti.service.schemas.errors import HttpError
from muisti.service.schemas.tasks import TaskReply
from muisti.service.schemas.transfer import ImportedReply, ImportReply, ImportsReply
from muisti.service.version import installed_version

routes = Routes("moving")

ZSTD = "application/zstd"

VectorsParameter = Annotated[bool, query("With passages and vectors, so that nothing must be embedded again.")]
CompressionParameter = Annotated[
    str | None, query("`zstd`: a file of a third of the size, as application/zstd.", enum=["zstd"])
]
WholeParameter = Annotated[
    bool, query("All of the file or nothing; false imports the good lines and reports the others.")
]


@routes.get("/export", needs="read", media=LINES, packed=ZSTD, problems=["invalid_input"])
async def export_space(
    request: Request, vectors: VectorsParameter = True, compression: CompressionParameter = None
) -> Stream:
    """Export a space, with its history and its vectors.

    The answer has lines of JSON, in the format of docs/how-to/export.md. They show one point of history, whatever is
    written meanwhile. The last line counts the others; a file without it is incomplete. Needs a key that sees all of
    the space.
    """
    if compression not in (None, "zstd"):
        raise InvalidInput.at("$.compression", f"{compression[:40]!r} is unknown; there is zstd")
    export = await request.ask(request.memories.read.export, installed_version(), vectors=vectors)
    parts = (encoded(page) for page in export.pages())
    return Stream(
        on_threads(request.backend, compressed(parts) if compression else parts),
        media_type=ZSTD if compression else LINES,
        headers={
            SEQ: str(export.seq),
            "Content-Disposition": f'attachment; filename="{request.space}.ndjson{".zst" if compression else ""}"',
        },
    )


@routes.post(
    "/import",
    status_code=200,
    statuses=[202],
    needs="write",
    takes=LINES,
    screens=True,
    packed=ZSTD,
    problems=["conflict", "model_mismatch", "quota_exceeded", "too_large", "unsupported_media_type", "store_full"],
    request_max_body_size=None,
    standard=("Idempotency-Key",),
)
async def import_memories(
    request: Request, atomic: WholeParameter = True, dry_run: DryRunParameter = False, task: TaskParameter = False
) -> Response[ImportReply] | Response[TaskReply]:
    """Import an export, or the memories of another system.

    The body is a file in the format of docs/how-to/export.md, as application/x-ndjson or application/zstd, of any size.
    A compressed file may grow to 500 times its size and 16 MB more. Known ids are skipped. An empty space gets the
    whole history. Every line passes the policy of the space; `errors` or `failures` names the lines that it refuses.
    Needs a key that sees all of the space.

    With `task=true` the lines are kept, and when all have arrived the answer is 202 with a task that imports them. It
    survives the end of this process. The report is the result of the task. Without a task, the same request with the
    same `Idempotency-Key` goes on where the process has ended.
    """
    if request.content_type[0] not in (LINES, ZSTD):
        raise HttpError(
            "unsupported_media_type", f"Content-Type is {request.content_type[0][:80]!r}; send {LINES} or {ZSTD}"
        )
    stream = request.stream()
    if task:
        if dry_run:
            raise InvalidInput.at("$.task", "a dry run is no task; leave task out")
        return await _kept(request, stream, atomic=atomic)
    key = _key(request)
    digest = None if key is None else f"{key.key} {key.body_hash.hex()}"
    incoming = await request.ask(request.memories.write.begin_import, atomic=atomic, dry_run=dry_run, digest=digest)
    try:
        report = await _taken(request.backend, incoming, stream)
    finally:
        async for _ in stream:  # a client that still sends does not read the answer
            pass
        await request.backend.store(incoming.abandon)
    return Response(ImportReply.of(report), headers={SEQ: str(report.seq)})


@routes.get("/imports", needs="read")
async def list_imports(request: Request) -> ImportsReply:
    """List the imports, newest first."""
    return ImportsReply(items=ImportedReply.each(await request.ask(request.memories.read.imports)))


@routes.post(
    "/imports/{import_id:str}/undo",
    status_code=200,
    needs="delete",
    problems=["changed_since", "conflict", "too_large"],
    standard=DRY,
)
async def undo_import(request: Request, import_id: FromPath[str]) -> Response[ImportedReply]:
    """Delete all memories that an import has added.

    The request is refused when somebody has changed one of them since. The same file can be imported again afterwards.
    Needs the scopes `write` and `delete`.
    """
    check(request.access, "write")
    number = int(import_id) if re.fullmatch("[0-9]{1,15}", import_id) else 0
    seen = request.memories
    undone = await request.ask(seen.write.undo_import, number)
    return planned(Plan(undone.memories, ()) if request.dry_run else None, Response(ImportedReply.of(undone)))


def _key(request: Request) -> RequestKey | None:
    """Return the key of a request; the length stands for the body."""
    header, length = request.headers.get("idempotency-key"), request.headers.get("content-length", "")
    return None if header is None else request.key_of(header, [length.encode()])


async def _taken(backend: Backend, incoming: Import, stream: AsyncIterator[bytes]) -> ImportReport:
    lines = Lines(incoming.take)
    async for data in stream:
        for start in range(0, len(data), PIECE):  # so that one call of a thread ends soon, whatever the server hands on
            await backend.store(lines.feed, data[start : start + PIECE])
    await backend.store(lines.end)
    return await backend.store(incoming.finish)


async def _kept(request: Request, stream: AsyncIterator[bytes], *, atomic: bool) -> Response[TaskReply]:
    """Keep the lines of a file, and answer with the task that imports them."""
    backend = request.backend
    await request.ask(request.memories.write.check_import)
    begun = await request.ask(
        backend.engine.tasks.begin, TASK, {"atomic": atomic}, caller_of(request.scope), _key(request)
    )
    try:
        if isinstance(begun, Task):
            return accepted(begun, replayed=True)
        return accepted(await _all_kept(backend, begun, stream))
    finally:
        async for _ in stream:  # a client that still sends does not read the answer
            pass


async def _all_kept(backend: Backend, begun: Submission, stream: AsyncIterator[bytes]) -> Task:
    kept = KeptLines(begun)
    try:
        async for data in stream:
            for start in range(0, len(data), PIECE):
                await backend.store(kept.feed, data[start : start + PIECE])
        return await backend.store(kept.end)
    except BaseException:  # also when the request is cancelled, no half of a task stays; the error goes on
        await backend.store(begun.abandon)
        raise
