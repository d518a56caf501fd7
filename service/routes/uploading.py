"""Files and texts that become documents, and a preview of where they would be cut."""

from itertools import islice
from typing import Annotated, Any

import msgspec
from litestar import Response
from litestar.di import NamedDependency, Provide
from litestar.params import FromPath, QueryParameter

from muisti.core.model.decoding import decoder
from muisti.core.model.errors import InvalidInput
from muisti.core.views.documents import STRATEGIES, Held, Job, Reading
from muisti.service.auth.middleware import memories
from muisti.service.http.decode import JSON, convert, decode
from muisti.service.http.headers import SEQ, IdempotencyKeyHeader
from muisti.service.http.ingesting import Ask, stored, stored_from
from muisti.service.http.parameters import CategoryParameter, DryRunParameter
from muisti.service.http.request import Request
from muisti.service.http.routing import Routes
from muisti.service.http.uploads import FORM, Upload, body_of, close, uploaded
from muisti.service.runtime.workers import Backend
from muisti.service.schemas.documents import USUAL, CutReply, DocumentBody, PreviewReply, PutReply
from muisti.service.schemas.tasks import TaskReply

routes = Routes("documents")

OCTETS = "application/octet-stream"
BODIES = (OCTETS, FORM)
PREVIEWED = 1_000  # chunks that a preview lists

PathParameter = Annotated[
    str | None,
    QueryParameter(description="Path of the document; without it the name that the file comes with. For JSON: `path`."),
]
TagsParameter = Annotated[str | None, QueryParameter(description="Tags, a,b,c.")]
StrategyParameter = Annotated[
    str, QueryParameter(description="How the text is cut; see documents.md.", enum=list(STRATEGIES))
]
SizeParameter = Annotated[int, QueryParameter(description="Tokens of a chunk at most.")]
OverlapParameter = Annotated[int, QueryParameter(description="Tokens that a chunk repeats of the one before.")]
MainParameter = Annotated[bool, QueryParameter(description="Leave menus and the like out of web pages.")]
ModifiedParameter = Annotated[str | None, QueryParameter(description="When the file was changed last.")]
WaitParameter = Annotated[
    bool, QueryParameter(description="Store a small file before the answer; false makes a task of it.")
]
_SCREENED = ["sensitive_content", "quota_exceeded", "too_large", "unsupported_media_type", "store_full", "conflict"]
_OF_FILES = [
    f"document.{one}"
    for one in ("encrypted", "no_text", "broken", "empty", "unknown_format", "too_large", "timeout", "crashed")
] + ["document.unsafe", "document.extra_missing"]

decoder(DocumentBody)


class Late(msgspec.Struct, frozen=True):
    """The way in which a request is answered: before its work is done or after it, as a dry run, for which key."""

    wait: bool
    dry_run: bool
    key: str | None


def cut_as(
    strategy: StrategyParameter = USUAL.strategy,
    size: SizeParameter = USUAL.size,
    overlap: OverlapParameter = USUAL.overlap,
    main_content: MainParameter = False,
) -> DocumentBody:
    """Return the parameters that say how a file is cut, as the body that says the same."""
    given = {"strategy": strategy, "size": size, "overlap": overlap, "main_content": main_content}
    return convert(given, DocumentBody)


def stated_as(
    cutting: NamedDependency[DocumentBody],
    category: CategoryParameter = None,
    tags: TagsParameter = None,
    mtime: ModifiedParameter = None,
) -> DocumentBody:
    """Return all parameters that describe a file, as the body that says the same."""
    listed = [part for part in (tags or "").split(",") if part]
    given = convert({"category": category, "tags": listed, "mtime": mtime}, DocumentBody)
    return msgspec.structs.replace(cutting, category=given.category, tags=given.tags, mtime=given.mtime)


def answered(
    wait: WaitParameter = True, idempotency_key: IdempotencyKeyHeader = None, dry_run: DryRunParameter = False
) -> Late:
    """Return the parameters that say how a request is answered."""
    return Late(wait, dry_run, idempotency_key)


CUTTING = {"cutting": Provide(cut_as, sync_to_thread=False)}
STORING = {
    **CUTTING,
    "given": Provide(stated_as, sync_to_thread=False),
    "late": Provide(answered, sync_to_thread=False),
}


@routes.post(
    "/documents",
    needs="write",
    statuses=[200, 202],
    bodies=(DocumentBody, *BODIES),
    screens=True,
    problems=[*_SCREENED, *_OF_FILES],
    request_max_body_size=None,
    dependencies=STORING,
)
async def add_documents(
    request: Request, given: NamedDependency[DocumentBody], late: NamedDependency[Late], path: PathParameter = None
) -> Response[PutReply] | Response[PutReply] | Response[TaskReply]:
    """Store files or a text as documents.

    The body is JSON with a text, one file as it is, or a form with several files. A small file is stored before the
    answer; for all else the answer is 202 with a task. A document at the same path is replaced, and chunks whose text
    is still there stay. A file that is the same is not written at all. An archive becomes a document for each file in
    it. Parameters are for files; in JSON they are fields.
    """
    return await _put(request, _at(given, path), late)


@routes.put(
    "/documents/{document:str}",
    needs="write",
    statuses=[201, 202],
    bodies=(DocumentBody, *BODIES),
    screens=True,
    problems=[*_SCREENED, *_OF_FILES],
    request_max_body_size=None,
    dependencies=STORING,
)
async def put_document(
    request: Request, document: FromPath[str], given: NamedDependency[DocumentBody], late: NamedDependency[Late]
) -> Response[PutReply] | Response[PutReply] | Response[TaskReply]:
    """Store a file or a text as the document at a path. A slash in the path is sent as `%2F`."""
    return await _put(request, _at(given, document), late)


@routes.post(
    "/documents/preview",
    status_code=200,
    needs="read",
    bodies=(DocumentBody, *BODIES),
    problems=["too_large", "unsupported_media_type", *_OF_FILES],
    request_max_body_size=None,
    dependencies=CUTTING,
)
async def preview_document(
    request: Request, cutting: NamedDependency[DocumentBody], path: PathParameter = None
) -> Response[PreviewReply]:
    """Show where a file or a text would be cut. Nothing is stored."""
    given = _at(cutting, path)
    seq = (await request.ask(request.backend.engine.spaces.get)).at
    if request.content_type[0] == JSON:
        body = decode(await body_of(request, request.backend.uploads.body), DocumentBody)
        uploads = [_of_text(body)]
    else:
        body, uploads = given, await uploaded(request, request.backend, request.backend.uploads.limit)
    try:
        name = body.path or uploads[0].name or "text.txt"
        made = await request.backend.store(_previewed, request, request.backend, name, uploads[0].held, body.reading())
    finally:
        close(uploads)
    return Response(made, headers={SEQ: str(seq)}, status_code=200)


async def _put(request: Request, given: DocumentBody, late: Late) -> Any:
    backend, space = request.backend, request.space
    await backend.store(backend.engine.spaces.get, space)  # before a long body is read
    if request.content_type[0] != JSON:
        ask = _ask(space, given, late)
        return await stored(request, backend, ask, await uploaded(request, backend, backend.uploads.limit))
    body = decode(await body_of(request, backend.uploads.body), DocumentBody)
    if given.path is not None and body.path not in (None, given.path):
        raise InvalidInput.at("$.path", "is one thing in the body and another in the URL")
    ask = _ask(space, body, late, body.path or given.path)
    if body.server_path is not None:
        if body.content is not None:
            raise InvalidInput.at("$.server_path", "goes without content")
        return await stored_from(request, backend, ask, body.server_path)
    return await stored(request, backend, ask, [_of_text(body)])


def _at(body: DocumentBody, path: str | None) -> DocumentBody:
    return msgspec.structs.replace(body, path=convert({"path": path}, DocumentBody).path)


def _ask(space: str, body: DocumentBody, late: Late, path: str | None = None) -> Ask:
    job = Job(stated=body.stated(), reading=body.reading())
    name = body.path if path is None else path
    at = body.modified_us
    return Ask(space=space, job=job, path=name, mtime=at, key=late.key, wait=late.wait, dry_run=late.dry_run)


def _of_text(body: DocumentBody) -> Upload:
    if body.content is None:
        raise InvalidInput.at("$.content", "is required, or server_path")
    return Upload(None, Held([body.content.encode("utf-8", "surrogatepass")]), body.media_type)


def _previewed(request: Request, backend: Backend, name: str, held: Held, reading: Reading) -> PreviewReply:
    cuts = memories(request, backend).documents.preview(name, held, reading)
    items = [CutReply.of(one) for one in islice(cuts, PREVIEWED)]
    return PreviewReply(items=items, chunks=len(items) + sum(1 for _ in cuts))
