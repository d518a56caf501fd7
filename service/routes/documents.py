"""Documents that are stored: listed, read in order, compared with the files that exist, deleted."""

from collections.abc import AsyncIterator, Iterator
from typing import Annotated, Any, cast

from litestar import Response, delete, get, post
from litestar.di import NamedDependency
from litestar.params import FromPath, JSONBody, QueryParameter
from litestar.response import Stream

from muisti.core.model.filing import DOCUMENT_SORTS, DocumentName
from muisti.core.model.terms import Scope
from muisti.core.query.points import parse
from muisti.core.views.documents import Filter
from muisti.service.auth.access import check
from muisti.service.auth.middleware import access_of, memories
from muisti.service.http.decode import Request
from muisti.service.http.headers import SEQ
from muisti.service.http.objects import CategoryParameter
from muisti.service.http.origins import looker
from muisti.service.http.parameters import (
    PAST,
    AsOfParameter,
    CursorParameter,
    DryRunParameter,
    LimitParameter,
    PurgeParameter,
)
from muisti.service.http.respond import followed, planned
from muisti.service.routes.erasure import reported
from muisti.service.runtime.workers import Backend
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
    unless_dry=CHANGING,
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
    for need in () if dry_run else CHANGING:
        check(access_of(request.scope), need)
    sync = memories(request, backend, dry_run=dry_run).documents.sync
    done = await backend.store(sync, space, data.listed(), Filter(folder=data.folder, category=data.category))
    timing = {"Server-Timing": f"commit;dur={done.commit:.2f}"} if done.commit else {}
    answer = Response(SyncReply.of(done), headers={SEQ: str(done.seq)} | timing, status_code=200)
    return planned(done.plan, answer)


def _request_id(request: Request) -> str | None:
    return cast(dict[str, Any], request.scope).get("request_id")


async def _on_threads(backend: Backend, parts: Iterator[bytes]) -> AsyncIterator[bytes]:
    """Yield the parts, each made on a thread that waits for the database."""
    while (part := await backend.store(next, parts, b"")) != b"":
        yield part


@post("/documents/prune", status_code=200, operation_id="pruneDocuments", tags=["documents"], needs="delete")
async def prune_documents(
    request: Request,
    space: FromPath[str],
    data: JSONBody[PruneDocumentsBody],
    backend: NamedDependency[Backend],
    dry_run: DryRunParameter = False,
) -> Response[PruneDocumentsReply]:
    """End what has lost its source: documents of code, chunks without a document, imported entities that nothing names.

    A document of code is stale when the server read its file itself, and the file is gone or has changed. A rollback
    to the point before brings everything back; an undo all but chunks whose memory is gone.
    """
    look = looker(access_of(request.scope), backend.uploads.folder)
    prune = memories(request, backend, dry_run=dry_run).documents.prune
    done = await backend.store(prune, space, data.strategy, look)
    timing = {"Server-Timing": f"commit;dur={done.commit:.2f}"} if done.commit else {}
    answer = Response(PruneDocumentsReply.of(done), headers={SEQ: str(done.seq)} | timing, status_code=200)
    return planned(done.plan, answer)


ROUTES = (list_documents, get_document, list_chunks, get_text, delete_document, sync_documents, prune_documents)
