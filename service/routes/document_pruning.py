"""Pruning: documents, chunks and entities that have lost their source."""

from litestar import Response, post
from litestar.di import NamedDependency
from litestar.params import FromPath, JSONBody

from muisti.service.auth.middleware import access_of, memories
from muisti.service.http.decode import Request
from muisti.service.http.headers import SEQ
from muisti.service.http.origins import looker
from muisti.service.http.parameters import DryRunParameter
from muisti.service.http.respond import planned
from muisti.service.runtime.workers import Backend
from muisti.service.schemas.documents import PruneDocumentsBody, PruneDocumentsReply


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


ROUTES = (prune_documents,)
