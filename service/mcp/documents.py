"""The tools of documents: a text or a file comes in, and documents are listed, read and deleted."""

from pathlib import Path

from muisti.core.model.errors import InvalidInput
from muisti.core.model.filing import Document, DocumentName, Put, Stored
from muisti.core.views.documents import File, Filter, Held, Job, Stated, holds_documents
from muisti.service.auth.access import check
from muisti.service.http.ingesting import origin_of, permitted, submitted
from muisti.service.mcp.arguments import WRITING
from muisti.service.mcp.calls import Call, Json, Outcome
from muisti.service.mcp.fence import fenced, one_line
from muisti.service.mcp.group_arguments import (
    AddDocument,
    Documents,
)
from muisti.service.mcp.rendering import NOTICE, counted, more
from muisti.service.schemas.documents import ChunkReply

_SHOWN = 20
_CHUNKS = 10


async def add_document(call: Call, given: AddDocument) -> Outcome:
    if (given.content is None) == (given.server_path is None):
        raise InvalidInput.at("$.content", "give content or server_path, one of them")
    job = Job(stated=Stated(tags=tuple(given.tags)))
    if given.server_path is None:
        if given.path is None:
            raise InvalidInput.at("$.path", "is required with content")
        with Held([(given.content or "").encode("utf-8", "surrogatepass")]) as held:
            return await _stored(call, given, given.path, held, job)
    source = permitted(call.access, call.backend.uploads.folder, given.server_path)
    name = given.path or source.name
    if source.stat().st_size <= call.backend.uploads.at_once:
        with await call.backend.store(Held.of_path, source) as held:
            if not holds_documents(held):
                return await _stored(call, given, name, held, job, origin_of(source, call.backend.uploads.folder))
    return await _as_task(call, given, name, source, job)


async def documents(call: Call, given: Documents) -> Outcome:
    if given.action == "delete":
        check(call.access, WRITING["delete"], call.space)
    if given.action == "list":
        return await _listed(call, given)
    if given.document is None:
        raise InvalidInput.at("$.document", f"is required to {given.action}")
    name = DocumentName(name=given.document)
    if given.action == "chunks":
        return await _chunks(call, given, name)
    if given.action == "delete":
        ending = await call.backend.store(call.memories.documents.delete, call.space, name)
        done = "would be deleted" if given.dry_run else "deleted"
        told = f"{one_line(given.document)} with {counted(ending.counts.get('chunk', 0), 'chunk', 'chunks')} {done}."
        return Outcome({"counts": dict(ending.counts), "dry_run": given.dry_run}, told)
    found, _ = await call.backend.store(call.memories.documents.get, call.space, name)
    return Outcome({"document": shown(found)}, line(found))


async def _stored(
    call: Call, given: AddDocument, path: str, held: Held, job: Job, origin: str | None = None
) -> Outcome:
    key = call.once("add_document", given.idempotency_key)
    ingest = call.memories.documents.ingest
    done: Stored = await call.backend.store(ingest, call.space, path, held, job, File(origin=origin), request=key)
    (put,) = done.items
    structured: Json = {"document": shown(put.document), "outcome": put.outcome, "added": put.added, "kept": put.kept}
    if done.plan is not None:
        return Outcome({**structured, "dry_run": True}, "Dry run, nothing was stored.")
    return Outcome(structured, _told(put))


async def _as_task(call: Call, given: AddDocument, name: str, source: Path, job: Job) -> Outcome:
    if given.dry_run:
        raise InvalidInput.at("$.dry_run", "goes with a small file; a task has no dry run")
    key = call.once("add_document", given.idempotency_key)
    item = File(server_path=str(source), origin=origin_of(source, call.backend.uploads.folder)).item(name)
    task = await call.backend.store(submitted, call.backend, call.space, job, call.session.caller(), [item], key)
    return Outcome({"task": task.id, "state": task.state}, f"Task {task.id} stores it.")


async def _listed(call: Call, given: Documents) -> Outcome:
    ask = call.memories.documents.page
    page = await call.backend.store(ask, call.space, Filter(folder=given.folder), limit=_SHOWN, cursor=given.cursor)
    structured: Json = {
        "documents": [shown(one) for one in page.items],
        "total": page.totals.documents,
        "next_cursor": page.next_cursor,
    }
    told = counted(page.totals.documents, "document", "documents")
    lines = [f"{told}.", *(line(one) for one in page.items), *more(0, 0, page.next_cursor)]
    return Outcome(structured, "\n".join(lines))


async def _chunks(call: Call, given: Documents, name: DocumentName) -> Outcome:
    ask = call.memories.documents.chunks
    page = await call.backend.store(ask, call.space, name, limit=_CHUNKS, cursor=given.cursor)
    chunks = [ChunkReply.of(one) for one in page.items]
    structured: Json = {
        "path": page.document.path,
        "chunks": [
            {"id": one.id, "content": one.content, "lines": [one.first_line, one.last_line], "page": one.page}
            for one in chunks
        ],
        "total": page.total,
        "next_cursor": page.next_cursor,
        "notice": NOTICE,
    }
    lines = [NOTICE, "", line(page.document)]
    for one in chunks:
        lines += [f"[{one.id}] lines {one.first_line}-{one.last_line}", *fenced(one.content)]
    return Outcome(structured, "\n".join([*lines, *more(0, 0, page.next_cursor)]))


def shown(found: Document) -> Json:
    """Return what a model needs to know of a document."""
    given: Json = {
        "id": found.memory.id,
        "path": found.path,
        "title": found.title,
        "media_type": found.media_type,
        "language": found.language,
        "pages": found.pages,
        "chunks": found.chunks,
        "characters": found.characters,
        "tags": list(found.memory.tags),
    }
    return {name: value for name, value in given.items() if value not in (None, [])}


def line(found: Document) -> str:
    """Return a document in one line, with its title in quotes."""
    title = one_line(found.title).replace('"', "'")
    return f'{one_line(found.path)} "{title}": {counted(found.chunks, "chunk", "chunks")}'


def _told(put: Put) -> str:
    same = ", nothing was written" if put.outcome == "unchanged" else f", {put.added} of them new"
    return f"{put.outcome}: {line(put.document)}{same}."
