"""Documents: stored from files and texts, listed, read in order, compared with the files that exist, deleted."""

from itertools import islice
from typing import Annotated, Any

import msgspec
from litestar import Response
from litestar.di import NamedDependency, Provide
from litestar.params import FromPath, JSONBody
from litestar.response import Stream

from muisti.core.documents.model import DOCUMENT_SORTS
from muisti.core.documents.view import STRATEGIES, Filter, Held, Job, Reading
from muisti.core.model.choices import Scope
from muisti.core.model.decoding import decoder
from muisti.core.model.errors import InvalidInput
from muisti.core.model.places import DocumentName
from muisti.core.query.points import parse
from muisti.service.asgi.header_names import SEQ
from muisti.service.auth.access import check
from muisti.service.documents.ingesting import Ask, looker, stored, stored_from
from muisti.service.documents.schemas import (
    USUAL,
    ChunksReply,
    CutReply,
    DocumentBody,
    DocumentEndedReply,
    DocumentReply,
    DocumentsReply,
    PreviewReply,
    PruneDocumentsBody,
    PruneDocumentsReply,
    PutReply,
    SyncBody,
    SyncReply,
)
from muisti.service.erasure.routes import reported
from muisti.service.erasure.schemas import ErasureReply
from muisti.service.http.decode import JSON, convert, decode
from muisti.service.http.parameters import (
    DRY,
    PAST,
    AsOfParameter,
    CategoryParameter,
    CursorParameter,
    DryRunParameter,
    IdempotencyKeyHeader,
    LimitParameter,
    PurgeParameter,
    query,
)
from muisti.service.http.request import Request, on_threads
from muisti.service.http.respond import committed, followed, planned
from muisti.service.http.routing import Routes
from muisti.service.http.uploads import FORM, Upload, body_of, close, uploaded
from muisti.service.runtime.workers import Backend
from muisti.service.schemas.tasks import TaskReply

routes = Routes("documents")

TEXT = "text/plain"
CHANGING: tuple[Scope, ...] = ("write", "delete")  # scopes of a sync that is no dry run

FolderParameter = Annotated[str | None, query("Only documents whose path begins so.")]
MediaTypeParameter = Annotated[str | None, query("Only documents of this format.")]
LanguageParameter = Annotated[str | None, query("Only documents in this language.")]
DocumentSortParameter = Annotated[
    str | None,
    query("Order of the list; `-` turns it round. Without it that of the cursor, else `path`.", enum=DOCUMENT_SORTS),
]


@routes.get("/documents", needs="read", problems=PAST)
async def list_documents(
    request: Request,
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
    ask = request.memories.documents.page
    page = await request.ask(ask, wanted, sort=sort, limit=limit, cursor=cursor, as_of=parse(as_of))
    return followed(request, Response(DocumentsReply.of(page), headers={SEQ: str(page.seq)}), page.next_cursor)


@routes.get("/documents/{document:str}", needs="read", problems=PAST)
async def get_document(
    request: Request, document: FromPath[str], category: CategoryParameter = None, as_of: AsOfParameter = None
) -> Response[DocumentReply]:
    """Read what is known of a document, by its id or path. A slash in the path is sent as `%2F`."""
    name = DocumentName(name=document, category=category)
    found, seq = await request.ask(request.memories.documents.get, name, as_of=parse(as_of))
    return Response(DocumentReply.of(found), headers={SEQ: str(seq), "ETag": found.memory.etag})


@routes.get("/documents/{document:str}/chunks", needs="read", problems=PAST)
async def list_chunks(
    request: Request,
    document: FromPath[str],
    category: CategoryParameter = None,
    limit: LimitParameter = 50,
    cursor: CursorParameter = None,
    as_of: AsOfParameter = None,
) -> Response[ChunksReply]:
    """List the chunks of a document in order, each with its place in the text.

    The texts of all chunks, without the overlaps at their starts, join to the text of the document.
    """
    name = DocumentName(name=document, category=category)
    ask = request.memories.documents.chunks
    page = await request.ask(ask, name, limit=limit, cursor=cursor, as_of=parse(as_of))
    return followed(request, Response(ChunksReply.of(page), headers={SEQ: str(page.seq)}), page.next_cursor)


@routes.get("/documents/{document:str}/text", needs="read", media=TEXT, problems=PAST)
async def get_text(
    request: Request, document: FromPath[str], category: CategoryParameter = None, as_of: AsOfParameter = None
) -> Stream:
    """Read the whole text of a document, at one point of history, however long it is."""
    name = DocumentName(name=document, category=category)
    found, pieces = await request.ask(request.memories.documents.text, name, as_of=parse(as_of))
    encoded = (piece.encode() for piece in pieces if piece)
    return Stream(
        on_threads(request.backend, encoded),
        media_type=f"{TEXT}; charset=utf-8",
        headers={"ETag": found.memory.etag, "X-Content-Type-Options": "nosniff"},
    )


@routes.delete("/documents/{document:str}", status_code=200, needs="delete", standard=DRY)
async def delete_document(
    request: Request, document: FromPath[str], category: CategoryParameter = None, purge: PurgeParameter = None
) -> Response[DocumentEndedReply] | Response[ErasureReply]:
    """Delete a document with its chunks, as one step.

    Histories keep all of it, and an undo of the request brings it back. With `purge` nothing stays, and the answer is
    a signed report.
    """
    name = DocumentName(name=document, category=category)
    if purge:
        eraser, caller = request.engine.eraser, request.named_caller
        if request.dry_run:
            plan = await request.ask(eraser.plan_document, name, caller)
            return planned(plan, Response(ErasureReply()))
        return await reported(request, lambda: eraser.document(request.space, name, caller))
    done = await request.ask(request.memories.documents.delete, name)
    return committed(done, DocumentEndedReply.of)


@routes.post(
    "/documents/sync",
    status_code=200,
    needs="read",
    unless_dry=CHANGING,
    screens=True,
    problems=["too_large", "conflict", "sensitive_content"],
    standard=DRY,
)
async def sync_documents(request: Request, data: JSONBody[SyncBody]) -> Response[SyncReply]:
    """Compare the documents of a folder with the files that exist.

    Documents whose file is gone end. Where a new file has the same SHA-256, they move to its path instead, and nothing
    is embedded again. `wanted` names files that are new or have changed; a dry run tells only what is stale, for which
    `read` suffices. Else it needs the scopes `write` and `delete`.
    """
    for need in () if request.dry_run else CHANGING:
        check(request.access, need)
    sync = request.memories.documents.sync
    done = await request.ask(sync, data.listed(), Filter(folder=data.folder, category=data.category))
    return committed(done, SyncReply.of)


@routes.post("/documents/prune", status_code=200, needs="delete", standard=DRY)
async def prune_documents(request: Request, data: JSONBody[PruneDocumentsBody]) -> Response[PruneDocumentsReply]:
    """End what has lost its source: documents of code, chunks without a document, imported entities that nothing names.

    A document of code is stale when the server read its file itself, and the file is gone or has changed. A rollback
    to the point before brings everything back; an undo all but chunks whose memory is gone.
    """
    look = looker(request.access, request.backend.uploads.folder)
    prune = request.memories.documents.prune
    done = await request.ask(prune, data.strategy, look)
    return committed(done, PruneDocumentsReply.of)


# Files and texts that become documents, and a preview of where they would be cut

OCTETS = "application/octet-stream"
BODIES = (OCTETS, FORM)
PREVIEWED = 1_000  # chunks that a preview lists

PathParameter = Annotated[
    str | None, query("Path of the document; without it the name that the file comes with. For JSON: `path`.")
]
TagsParameter = Annotated[str | None, query("Tags, a,b,c.")]
StrategyParameter = Annotated[str, query("How the text is cut; see documents.md.", enum=STRATEGIES)]
SizeParameter = Annotated[int, query("Tokens of a chunk at most.")]
OverlapParameter = Annotated[int, query("Tokens that a chunk repeats of the one before.")]
MainParameter = Annotated[bool, query("Leave menus and the like out of web pages.")]
EncodingParameter = Annotated[
    str | None, query("Encoding of the file, such as shift_jis, whatever it states; the notes name a guess.")
]
ModifiedParameter = Annotated[str | None, query("When the file was changed last.")]
WaitParameter = Annotated[bool, query("Store a small file before the answer; false makes a task of it.")]
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
    encoding: EncodingParameter = None,
) -> DocumentBody:
    """Return the parameters that say how a file is cut, as the body that says the same."""
    given = {"strategy": strategy, "size": size, "overlap": overlap, "main_content": main_content}
    given |= {"encoding": encoding}
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
    seq = (await request.ask(request.engine.spaces.get)).at
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
    cuts = request.memories.documents.preview(name, held, reading)
    items = [CutReply.of(one) for one in islice(cuts, PREVIEWED)]
    return PreviewReply(items=items, chunks=len(items) + sum(1 for _ in cuts))
