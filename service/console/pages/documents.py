"""Documents: a list with their sizes and states, one with its chunks, and what deletes one."""

import asyncio
from typing import Any

from litestar import Request, Response, get, post
from litestar.di import NamedDependency
from litestar.params import FromPath

from muisti.client import calls
from muisti.service.console.answers import done, long_page, page
from muisti.service.console.chunks import outline, shown
from muisti.service.console.mount import ROOT
from muisti.service.console.render import View
from muisti.service.console.visit import Visit

SPACE = f"{ROOT}/spaces/{{space:str}}"
PATH = f"{SPACE}/documents/{{document:str}}"
PAGE = 50
SORTS = {"path": "By path", "-indexed_at": "Stored last", "indexed_at": "Stored first"}
FILTERS = ("folder", "media_type", "language", "category")
SHOWS = ("chunks", "rendered", "text")
WHOLE = 200_000  # characters of a text that a page shows; longer ones are a link
TASKS = 5
INGEST = "ingest"  # kind of the tasks that store documents


@get(f"{SPACE}/documents")
async def list_documents(space: FromPath[str], visit: NamedDependency[Visit]) -> Response[str]:
    """Show the documents, with what is being stored, and on request which have lost their source."""
    asked = visit.request.query_params
    given: dict[str, Any] = {name: asked[name] for name in FILTERS if asked.get(name)}
    sort = asked.get("sort") if asked.get("sort") in SORTS else None
    found, tasks = await asyncio.gather(
        visit.api.list_documents(space, limit=PAGE, sort=sort, cursor=asked.get("cursor") or None, **given, **visit.at),
        visit.api.list_tasks(space, kind=INGEST, limit=TASKS),
    )
    stale: Any = None
    if asked.get("check") and visit.may_change("delete"):
        plan: Any = await visit.api.prune_documents(space, {"strategy": "stale_code"}, dry_run=True)
        stale = plan["answer"]
    model = {
        "found": found,
        "given": given,
        "filters": FILTERS,
        "sorts": SORTS,
        "sort": sort,
        "params": {**given, **({"sort": sort} if sort else {})},
        "tasks": tasks["items"],
        "is_working": any(one["ended_at"] is None for one in tasks["items"]),
        "stale": stale,
    }
    return page(visit, View("documents.html", model))


@get(PATH)
async def show_document(space: FromPath[str], document: FromPath[str], visit: NamedDependency[Visit]) -> Response[str]:
    """Show a document: its chunks with their borders, or its whole text."""
    asked = visit.request.query_params
    show = asked.get("show") if asked.get("show") in SHOWS else "chunks"
    found: Any = await visit.api.get_document(space, document, **visit.at)
    first = number_of(asked.get("first"))
    chunks: Any = {"items": [], "next_cursor": None}
    text: Any = None
    if show == "chunks":
        cursor = asked.get("cursor") or None
        chunks = await visit.api.list_chunks(space, document, limit=PAGE, cursor=cursor, **visit.at)
    elif found["characters"] <= WHOLE:
        text = await visit.api.get_text(space, document, **visit.at)
    model = {
        "document": found,
        "show": show,
        "shows": SHOWS,
        "chunks": shown(chunks["items"], first),
        "outline": outline(chunks["items"], first),
        "next": chunks["next_cursor"],
        "next_first": first + len(chunks["items"]),
        "text": text,
        "whole": WHOLE,
        "download": f"/v1/spaces/{space}/documents/{found['id']}/text",
    }
    return await long_page(visit, View("document.html", model))


def number_of(text: str | None) -> int:
    """Return the number of the first chunk of a page, as its URL says it; 1 where it does not.

    >>> number_of("51"), number_of(None), number_of("-1")
    (51, 1, 1)
    """
    return max(1, int(text)) if text and text.isdecimal() and len(text) < 10 else 1


@get(f"{PATH}/delete")
async def show_deletion(space: FromPath[str], document: FromPath[str], visit: NamedDependency[Visit]) -> Response[str]:
    """Show what goes with a document."""
    found = await visit.api.get_document(space, document)
    plan = await visit.api.delete_document(space, document, dry_run=True) if visit.may_change("delete") else None
    return page(visit, View("document_delete.html", {"document": found, "plan": plan}))


@post(f"{PATH}/delete")
async def delete_document(
    space: FromPath[str], document: FromPath[str], visit: NamedDependency[Visit]
) -> Response[None]:
    """Delete a document with its chunks, as one step that can be undone."""
    made = await visit.send(calls.delete_document(space, document))
    return done(visit, "documents", "deleted_document", undo=made.request)


@post(f"{SPACE}/documents/tasks/{{task_id:str}}/cancel")
async def cancel(
    request: Request, space: FromPath[str], task_id: FromPath[str], visit: NamedDependency[Visit]
) -> Response[None]:
    """Cancel a task that stores documents. What it has stored stays."""
    await visit.api.cancel_task(space, task_id)
    return done(visit, "documents", "cancelled")


ROUTES = (list_documents, show_document, show_deletion, delete_document, cancel)
