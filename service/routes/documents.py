"""Documents that are stored: listed, read in order, compared with the files that exist, deleted."""

from typing import Annotated

from litestar import Response
from litestar.params import FromPath, JSONBody, QueryParameter
from litestar.response import Stream

from muisti.core.model.filing import DOCUMENT_SORTS, DocumentName
from muisti.core.model.terms import Scope
from muisti.core.query.points import parse
from muisti.core.views.documents import Filter
from muisti.service.auth.access import check
from muisti.service.http.headers import SEQ
from muisti.service.http.origins import looker
from muisti.service.http.parameters import (
    DRY,
    PAST,
    AsOfParameter,
    CategoryParameter,
    CursorParameter,
    LimitParameter,
    PurgeParameter,
)
from muisti.service.http.request import Request, on_threads
from muisti.service.http.respond import committed, followed, planned
from muisti.service.http.routing import Routes
from muisti.service.routes.erasure import reported
from muisti.service.schemas.documents import (
    ChunksReply,
    DocumentEndedReply,
    DocumentReply,
    DocumentsReply,
    PruneDocumentsBody,
    PruneDocumentsReply,
    SyncBody,
    SyncReply,
)
from muisti.service.schemas.erasure import ErasureReply

routes = Routes("documents")

TEXT = "text/plain"
CHANGING: tuple[Scope, ...] = ("write", "delete")  # scopes of a sync that is no dry run

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
        eraser, caller = request.backend.engine.eraser, request.named_caller
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
