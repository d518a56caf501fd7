"""Documents: files and texts that are stored as chunks, in their order."""

from collections.abc import AsyncIterator, Iterator
from itertools import islice
from typing import Annotated, Any, cast

from litestar import Response, delete, get, post, put
from litestar.di import NamedDependency
from litestar.params import FromPath, JSONBody, QueryParameter
from litestar.response import Stream

from muisti.core.model.errors import InvalidInput
from muisti.core.model.filing import DOCUMENT_SORTS, DocumentName
from muisti.core.query.points import parse
from muisti.core.views.documents import STRATEGIES, Filter, Held, Job, Reading
from muisti.service.auth.access import check
from muisti.service.auth.middleware import access_of, memories
from muisti.service.http.decode import JSON, Request, convert, decode, prepare
from muisti.service.http.headers import SEQ, IdempotencyKeyHeader
from muisti.service.http.ingesting import Ask, stored, stored_from
from muisti.service.http.objects import CategoryParameter
from muisti.service.http.parameters import (
    PAST,
    AsOfParameter,
    CursorParameter,
    DryRunParameter,
    LimitParameter,
    PurgeParameter,
)
from muisti.service.http.respond import followed, planned
from muisti.service.http.uploads import FORM, Upload, body_of, close, uploaded
from muisti.service.routes.erasure import reported
from muisti.service.runtime.workers import Backend
from muisti.service.schemas.documents import (
    USUAL,
    ChunksReply,
    CutReply,
    DocumentBody,
    DocumentEndedReply,
    DocumentReply,
    DocumentsReply,
    PreviewReply,
    PutReply,
    SyncBody,
    SyncReply,
)
from muisti.service.schemas.erasure import ErasureReply
from muisti.service.schemas.tasks import TaskReply

OCTETS = "application/octet-stream"
TEXT = "text/plain"
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
FolderParameter = Annotated[str | None, QueryParameter(description="Only documents whose path begins so.")]
MediaTypeParameter = Annotated[str | None, QueryParameter(description="Only documents of this format.")]
LanguageParameter = Annotated[str | None, QueryParameter(description="Only documents in this language.")]
DocumentSortParameter = Annotated[
    str | None,
    QueryParameter(
        description="Order of the list; `-` turns it round. Without it that of the cursor, else `path`.",
        enum=list(DOCUMENT_SORTS),
    ),
]
_SCREENED = ["sensitive_content", "quota_exceeded", "too_large", "unsupported_media_type", "store_full", "conflict"]
_OF_FILES = [
    f"document.{one}"
    for one in ("encrypted", "no_text", "broken", "empty", "unknown_format", "too_large", "timeout", "crashed")
] + ["document.unsafe", "document.extra_missing"]

prepare(DocumentBody)


@post(
    "/documents",
    operation_id="addDocuments",
    tags=["documents"],
    needs="write",
    statuses=[200, 202],
    bodies=(DocumentBody, *BODIES),
    screens=True,
    problems=[*_SCREENED, *_OF_FILES],
    request_max_body_size=None,
)
async def add_documents(
    request: Request,
    space: FromPath[str],
    backend: NamedDependency[Backend],
    path: PathParameter = None,
    category: CategoryParameter = None,
    tags: TagsParameter = None,
    strategy: StrategyParameter = USUAL.strategy,
    size: SizeParameter = USUAL.size,
    overlap: OverlapParameter = USUAL.overlap,
    main_content: MainParameter = False,
    mtime: ModifiedParameter = None,
    wait: WaitParameter = True,
    idempotency_key: IdempotencyKeyHeader = None,
    dry_run: DryRunParameter = False,
) -> Response[PutReply] | Response[PutReply] | Response[TaskReply]:
    """Store files or a text as documents.

    The body is JSON with a text, one file as it is, or a form with several files. A small file is stored before the
    answer; for all else the answer is 202 with a task. A document at the same path is replaced, and chunks whose text
    is still there stay. A file that is the same is not written at all. An archive becomes a document for each file in
    it. Parameters are for files; in JSON they are fields.
    """
    given = _body(path, category, tags, strategy, size, overlap, main_content, mtime)
    return await _put(request, backend, space, given, idempotency_key, wait=wait, dry_run=dry_run)


@put(
    "/documents/{document:str}",
    operation_id="putDocument",
    tags=["documents"],
    needs="write",
    statuses=[201, 202],
    bodies=(DocumentBody, *BODIES),
    screens=True,
    problems=[*_SCREENED, *_OF_FILES],
    request_max_body_size=None,
)
async def put_document(
    request: Request,
    space: FromPath[str],
    document: FromPath[str],
    backend: NamedDependency[Backend],
    category: CategoryParameter = None,
    tags: TagsParameter = None,
    strategy: StrategyParameter = USUAL.strategy,
    size: SizeParameter = USUAL.size,
    overlap: OverlapParameter = USUAL.overlap,
    main_content: MainParameter = False,
    mtime: ModifiedParameter = None,
    wait: WaitParameter = True,
    idempotency_key: IdempotencyKeyHeader = None,
    dry_run: DryRunParameter = False,
) -> Response[PutReply] | Response[PutReply] | Response[TaskReply]:
    """Store a file or a text as the document at a path. A slash in the path is sent as `%2F`."""
    given = _body(document, category, tags, strategy, size, overlap, main_content, mtime)
    return await _put(request, backend, space, given, idempotency_key, wait=wait, dry_run=dry_run)


@get("/documents", operation_id="listDocuments", tags=["documents"], needs="read", problems=PAST)
async def list_documents(
    request: Request,
    space: FromPath[str],
    backend: NamedDependency[Backend],
    folder: FolderParameter = None,
    media_type: MediaTypeParameter = None,
    language: LanguageParameter = None,
    category: CategoryParameter = None,
    limit: LimitParameter = 50,
    sort: DocumentSortParameter = None,
    cursor: CursorParameter = None,
    as_of: AsOfParameter = None,
) -> Response[DocumentsReply]:
    """List documents, with the number and the size of those on all pages."""
    wanted = Filter(folder=folder, media_type=media_type, language=language, category=category)
    ask = memories(request, backend).documents.page
    page = await backend.store(ask, space, wanted, sort=sort, limit=limit, cursor=cursor, as_of=parse(as_of))
    return followed(request, Response(DocumentsReply.of(page), headers={SEQ: str(page.seq)}), page.next_cursor)


@get("/documents/{document:str}", operation_id="getDocument", tags=["documents"], needs="read", problems=PAST)
async def get_document(
    request: Request,
    space: FromPath[str],
    document: FromPath[str],
    backend: NamedDependency[Backend],
    category: CategoryParameter = None,
    as_of: AsOfParameter = None,
) -> Response[DocumentReply]:
    """Read what is known of a document, by its id or path. A slash in the path is sent as `%2F`."""
    name = DocumentName(name=document, category=category)
    found, seq = await backend.store(memories(request, backend).documents.get, space, name, as_of=parse(as_of))
    return Response(DocumentReply.of(found), headers={SEQ: str(seq), "ETag": found.memory.etag})


@get("/documents/{document:str}/chunks", operation_id="listChunks", tags=["documents"], needs="read", problems=PAST)
async def list_chunks(
    request: Request,
    space: FromPath[str],
    document: FromPath[str],
    backend: NamedDependency[Backend],
    category: CategoryParameter = None,
    limit: LimitParameter = 50,
    cursor: CursorParameter = None,
    as_of: AsOfParameter = None,
) -> Response[ChunksReply]:
    """List the chunks of a document in order, each with its place in the text.

    The texts of all chunks, without the overlaps at their starts, join to the text of the document.
    """
    name = DocumentName(name=document, category=category)
    ask = memories(request, backend).documents.chunks
    page = await backend.store(ask, space, name, limit=limit, cursor=cursor, as_of=parse(as_of))
    return followed(request, Response(ChunksReply.of(page), headers={SEQ: str(page.seq)}), page.next_cursor)


@get(
    "/documents/{document:str}/text",
    operation_id="getText",
    tags=["documents"],
    needs="read",
    media=TEXT,
    problems=PAST,
)
async def get_text(
    request: Request,
    space: FromPath[str],
    document: FromPath[str],
    backend: NamedDependency[Backend],
    category: CategoryParameter = None,
    as_of: AsOfParameter = None,
) -> Stream:
    """Read the whole text of a document, at one point of history, however long it is."""
    name = DocumentName(name=document, category=category)
    found, pieces = await backend.store(memories(request, backend).documents.text, space, name, as_of=parse(as_of))
    encoded = (piece.encode() for piece in pieces if piece)
    return Stream(
        _on_threads(backend, encoded),
        media_type=f"{TEXT}; charset=utf-8",
        headers={"ETag": found.memory.etag, "X-Content-Type-Options": "nosniff"},
    )


@delete(
    "/documents/{document:str}",
    status_code=200,
    operation_id="deleteDocument",
    tags=["documents"],
    needs="delete",
)
async def delete_document(
    request: Request,
    space: FromPath[str],
    document: FromPath[str],
    backend: NamedDependency[Backend],
    category: CategoryParameter = None,
    purge: PurgeParameter = None,
    dry_run: DryRunParameter = False,
) -> Response[DocumentEndedReply] | Response[ErasureReply]:
    """Delete a document with its chunks, as one step.

    Histories keep all of it, and an undo of the request brings it back. With `purge` nothing stays, and the answer is
    a signed report.
    """
    name = DocumentName(name=document, category=category)
    if purge:
        eraser, caller = backend.engine.eraser, access_of(request.scope).caller(_request_id(request))
        if dry_run:
            plan = await backend.store(eraser.plan_document, space, name, caller)
            return planned(plan, Response(ErasureReply()))
        return await reported(request, backend, lambda: eraser.document(space, name, caller))
    done = await backend.store(memories(request, backend, dry_run=dry_run).documents.delete, space, name)
    timing = {"Server-Timing": f"commit;dur={done.commit:.2f}"} if done.commit else {}
    answer = Response(DocumentEndedReply.of(done), headers={SEQ: str(done.seq)} | timing, status_code=200)
    return planned(done.plan, answer)


@post(
    "/documents/sync",
    status_code=200,
    operation_id="syncDocuments",
    tags=["documents"],
    needs="read",
    screens=True,
    problems=["too_large", "conflict", "sensitive_content"],
)
async def sync_documents(
    request: Request,
    space: FromPath[str],
    data: JSONBody[SyncBody],
    backend: NamedDependency[Backend],
    dry_run: DryRunParameter = False,
) -> Response[SyncReply]:
    """Compare the documents of a folder with the files that exist.

    Documents whose file is gone end. Where a new file has the same SHA-256, they move to its path instead, and nothing
    is embedded again. `wanted` names files that are new or have changed; a dry run tells only what is stale, for which
    `read` suffices. Else it needs the scopes `write` and `delete`.
    """
    for need in () if dry_run else ("write", "delete"):
        check(access_of(request.scope), need)
    sync = memories(request, backend, dry_run=dry_run).documents.sync
    done = await backend.store(sync, space, data.listed(), Filter(folder=data.folder, category=data.category))
    timing = {"Server-Timing": f"commit;dur={done.commit:.2f}"} if done.commit else {}
    answer = Response(SyncReply.of(done), headers={SEQ: str(done.seq)} | timing, status_code=200)
    return planned(done.plan, answer)


@post(
    "/documents/preview",
    status_code=200,
    operation_id="previewDocument",
    tags=["documents"],
    needs="read",
    bodies=(DocumentBody, *BODIES),
    problems=["too_large", "unsupported_media_type", *_OF_FILES],
    request_max_body_size=None,
)
async def preview_document(
    request: Request,
    space: FromPath[str],
    backend: NamedDependency[Backend],
    path: PathParameter = None,
    strategy: StrategyParameter = USUAL.strategy,
    size: SizeParameter = USUAL.size,
    overlap: OverlapParameter = USUAL.overlap,
    main_content: MainParameter = False,
) -> Response[PreviewReply]:
    """Show where a file or a text would be cut. Nothing is stored."""
    given = _body(path, None, None, strategy, size, overlap, main_content, None)
    seq = (await backend.store(backend.engine.spaces.get, space)).at
    if request.content_type[0] == JSON:
        body = decode(await body_of(request, backend.uploads.body), DocumentBody)
        uploads = [_of_text(body)]
    else:
        body, uploads = given, await uploaded(request, backend, backend.uploads.limit)
    try:
        name = body.path or uploads[0].name or "text.txt"
        made = await backend.store(_previewed, request, backend, name, uploads[0].held, body.reading())
    finally:
        close(uploads)
    return Response(made, headers={SEQ: str(seq)}, status_code=200)


async def _put(
    request: Request,
    backend: Backend,
    space: str,
    given: DocumentBody,
    key: str | None,
    *,
    wait: bool,
    dry_run: bool,
) -> Any:
    await backend.store(backend.engine.spaces.get, space)  # before a long body is read
    if request.content_type[0] != JSON:
        ask = _ask(space, given, key, wait=wait, dry_run=dry_run)
        return await stored(request, backend, ask, await uploaded(request, backend, backend.uploads.limit))
    body = decode(await body_of(request, backend.uploads.body), DocumentBody)
    if given.path is not None and body.path not in (None, given.path):
        raise InvalidInput.at("$.path", "is one thing in the body and another in the URL")
    ask = _ask(space, body, key, wait=wait, dry_run=dry_run, path=body.path or given.path)
    if body.server_path is not None:
        if body.content is not None:
            raise InvalidInput.at("$.server_path", "goes without content")
        return await stored_from(request, backend, ask, body.server_path)
    return await stored(request, backend, ask, [_of_text(body)])


def _ask(space: str, body: DocumentBody, key: str | None, *, wait: bool, dry_run: bool, path: str | None = None) -> Ask:
    job = Job(stated=body.stated(), reading=body.reading())
    name = body.path if path is None else path
    return Ask(space=space, job=job, path=name, mtime=body.modified_us, key=key, wait=wait, dry_run=dry_run)


def _body(
    path: str | None,
    category: str | None,
    tags: str | None,
    strategy: str,
    size: int,
    overlap: int,
    main_content: bool,
    mtime: str | None,
) -> DocumentBody:
    """Return the parameters of a request as the body that says the same."""
    given = {
        "path": path,
        "category": category,
        "tags": [part for part in (tags or "").split(",") if part],
        "strategy": strategy,
        "size": size,
        "overlap": overlap,
        "main_content": main_content,
        "mtime": mtime,
    }
    return convert(given, DocumentBody)


def _of_text(body: DocumentBody) -> Upload:
    if body.content is None:
        raise InvalidInput.at("$.content", "is required, or server_path")
    return Upload(None, Held([body.content.encode("utf-8", "surrogatepass")]), body.media_type)


def _previewed(request: Request, backend: Backend, name: str, held: Held, reading: Reading) -> PreviewReply:
    cuts = memories(request, backend).documents.preview(name, held, reading)
    items = [CutReply.of(one) for one in islice(cuts, PREVIEWED)]
    return PreviewReply(items=items, chunks=len(items) + sum(1 for _ in cuts))


def _request_id(request: Request) -> str | None:
    return cast(dict[str, Any], request.scope).get("request_id")


async def _on_threads(backend: Backend, parts: Iterator[bytes]) -> AsyncIterator[bytes]:
    """Yield the parts, each made on a thread that waits for the database."""
    while (part := await backend.store(next, parts, b"")) != b"":
        yield part


ROUTES = (
    add_documents,
    put_document,
    list_documents,
    get_document,
    list_chunks,
    get_text,
    delete_document,
    sync_documents,
    preview_document,
)
