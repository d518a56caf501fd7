"""Documents: a list with their sizes and states, one with its chunks, and the form that stores files and texts."""

import asyncio
import secrets
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from litestar.datastructures import UploadFile

from muisti.client import Call, MuistiError, calls
from muisti.service.console.answers import Answer, Model, does, done, problem_of, shows
from muisti.service.console.filter_form import plain
from muisti.service.console.render import View
from muisti.service.console.visit import Visit

Item = Mapping[str, Any]


def shown(items: Sequence[Item], first: int = 1) -> list[Model]:
    """Return the chunks of a page; `first` is the number of the first one. `again` is text of the chunk before."""
    return [
        {
            **one,
            "number": number,
            "place": place_of(one),
            "again": one["content"][: one["overlap"]],
            "text": one["content"][one["overlap"] :],
        }
        for number, one in enumerate(items, first)
    ]


def place_of(one: Item) -> str:
    """Return where a chunk or a cut is: its symbol, page, lines and characters, as far as they are known.

    >>> place_of({"start": 0, "stop": 172, "first_line": 1, "last_line": 8, "page": 2, "symbol": None})
    'page 2, lines 1 to 8, characters 0 to 172'
    """
    parts = [f"{one['symbol']}"] if one["symbol"] else []
    if one["page"]:
        parts.append(f"page {one['page']}")
    if one.get("first_line"):
        same = one["first_line"] == one["last_line"]
        parts.append(f"line {one['first_line']}" if same else f"lines {one['first_line']} to {one['last_line']}")
    return ", ".join([*parts, f"characters {one['start']:,} to {one['stop']:,}"])


def outline(items: Sequence[Item], first: int = 1) -> list[Model]:
    """Return the headings above the chunks of a page, each once where it begins.

    >>> outline([{"headings": ["A", "B"]}])
    [{'title': 'A', 'depth': 0, 'chunk': 1}, {'title': 'B', 'depth': 1, 'chunk': 1}]
    """
    found: list[Model] = []
    before: Sequence[str] = ()
    for number, one in enumerate(items, first):
        path: Sequence[str] = one["headings"]
        common = 0
        while common < min(len(path), len(before)) and path[common] == before[common]:
            common += 1
        found += [
            {"title": title, "depth": depth, "chunk": number} for depth, title in enumerate(path) if depth >= common
        ]
        before = path
    return found


DEPTH = 8  # folders that a tree nests; deeper ones are part of a name


def tree(items: Sequence[Item], base: str = "") -> list[Model]:
    """Return documents in the order of their paths as a tree: folders with `nodes`, and documents with their `name`.

    `base` is the folder that the page shows: paths begin below it.

    >>> folder, leaf = tree([{"path": "a/b"}, {"path": "c"}])
    >>> folder["name"], [one["name"] for one in folder["nodes"]], leaf["name"]
    ('a', ['b'], 'c')
    """
    top: Model = {"nodes": []}
    for one in items:
        start = len(base) if one["path"].startswith(base) and base.endswith("/") else 0
        *folders, name = one["path"][start:].split("/", DEPTH)
        here, path = top, one["path"][:start]
        for folder in folders:
            path += folder + "/"
            last = here["nodes"][-1] if here["nodes"] else {}
            if last.get("path") != path or "nodes" not in last:
                here["nodes"].append({"name": folder, "path": path, "nodes": [], "count": 0})
            here = here["nodes"][-1]
            here["count"] += 1
        here["nodes"].append({**one, "name": name})
    return top["nodes"]


def crumbs(folder: str) -> list[tuple[str, str]]:
    """Return the folders above one and itself, each with its path.

    >>> crumbs("a/b/")
    [('a', 'a/'), ('b', 'a/b/')]
    """
    names = folder.split("/")[:-1][:DEPTH]
    return [(name, "/".join(names[: number + 1]) + "/") for number, name in enumerate(names)]


PAGE = 100
CHUNKS = 50  # of a page
SORTS = {"path": "By path", "-indexed_at": "Newest first", "indexed_at": "Oldest first"}
FILTERS = ("folder", "media_type", "language", "category")
SHOWS = ("chunks", "rendered", "text")
WHOLE = 200_000  # characters of a text that a page shows; longer ones are a link
TASKS = 5
INGEST = "ingest"  # kind of the tasks that store documents


@shows("documents", "documents.html", filters=FILTERS, sorts=SORTS)
async def list_documents(visit: Visit, space: str) -> Model:
    """Show the documents, with what is being stored, and on request which have lost their source."""
    asked = visit.asked
    given: dict[str, Any] = {name: asked[name] for name in FILTERS if asked.get(name)}
    sort = asked.get("sort") if asked.get("sort") in SORTS and asked["sort"] != "path" else None
    found, tasks = await asyncio.gather(
        visit.api.list_documents(space, limit=PAGE, sort=sort, cursor=asked.get("cursor") or None, **given, **visit.at),
        visit.api.list_tasks(space, kind=INGEST, limit=TASKS),
    )
    stale: Any = None
    if asked.get("check") and visit.may_change("delete"):
        plan: Any = await visit.api.prune_documents(space, {"strategy": "stale_code"}, dry_run=True)
        stale = plan["answer"]
    folder = given.get("folder", "")
    return {
        "found": found,
        "nodes": [{**one, "name": one["path"]} for one in found["items"]] if sort else tree(found["items"], folder),
        "crumbs": crumbs(folder),
        "given": given,
        "sort": sort,
        "params": {**given, **({"sort": sort} if sort else {})},
        "tasks": tasks["items"],
        "is_working": any(one["ended_at"] is None for one in tasks["items"]),
        "stale": stale,
    }


@shows("documents/{document}", "document.html", shows=SHOWS, whole=WHOLE)
async def show_document(visit: Visit, space: str, document: str) -> Model:
    """Show a document: its chunks with their borders, or its whole text."""
    asked = visit.asked
    show = asked.get("show") if asked.get("show") in SHOWS else "chunks"
    found: Any = await visit.api.get_document(space, document, **visit.at)
    first = number_of(asked.get("first"))
    chunks: Any = {"items": [], "next_cursor": None}
    text: Any = None
    if show == "chunks":
        cursor = asked.get("cursor") or None
        chunks = await visit.api.list_chunks(space, document, limit=CHUNKS, cursor=cursor, **visit.at)
    elif found["characters"] <= WHOLE:
        text = await visit.api.get_text(space, document, **visit.at)
    return {
        "document": found,
        "show": show,
        "chunks": shown(chunks["items"], first),
        "outline": outline(chunks["items"], first),
        "next": chunks["next_cursor"],
        "next_first": first + len(chunks["items"]),
        "text": text,
        "download": f"/v1/spaces/{space}/documents/{found['id']}/text",
    }


def number_of(text: str | None) -> int:
    """Return the number of the first chunk of a page, as its URL says it; 1 where it does not.

    >>> number_of("51"), number_of(None), number_of("-1")
    (51, 1, 1)
    """
    return max(1, int(text)) if text and text.isdecimal() and len(text) < 10 else 1


@shows("documents/{document}/delete", "document_delete.html")
async def show_deletion(visit: Visit, space: str, document: str) -> Model:
    """Show what goes with a document."""
    found = await visit.api.get_document(space, document)
    plan = await visit.api.delete_document(space, document, dry_run=True) if visit.may_change("delete") else None
    return {"document": found, "plan": plan}


OCTETS = {"Content-Type": "application/octet-stream"}
STRATEGIES = ("auto", "recursive", "sentence", "fixed", "heading", "ast")
TEXTS = ("path", "content", "strategy", "size", "overlap", "encoding", "category", "tags")
ANSWERED = (409, 413, 415, 422, 507)  # refusals that the form shows, with all that was typed
CUTS = 100  # that a preview shows

Texts = Mapping[str, str]


@shows("documents/new")
async def show_form(visit: Visit, space: str) -> View:
    """Show the form for files and texts."""
    await visit.api.get_space(space)
    return _upload_form(dict.fromkeys(TEXTS, ""))


@does("documents")
async def store(visit: Visit, space: str) -> Answer:
    """Store the files or the text, or show where they would be cut."""
    texts = {name: plain(str(visit.form.get(name, ""))).strip("\n") for name in TEXTS}
    files = [one for one in visit.form.getall("file", []) if isinstance(one, UploadFile) and one.filename]
    try:
        if visit.form.get("do") == "preview":
            return _upload_form(texts, cuts=await _previewed(visit, space, texts, files))
        one_id = {"X-Request-Id": secrets.token_hex(8)}  # one request, which one undo takes back
        asked = await _requests(space, texts, files)
        made = [await visit.send(replace(one, headers={**one.headers, **one_id})) for one in asked]
    except MuistiError as error:
        if error.status not in ANSWERED:
            raise
        problem = await asyncio.to_thread(problem_of, error, texts["content"])
        return _upload_form(texts, problem, status=error.status)
    if len(made) == 1 and "path" in made[0].data:
        return done(visit, f"documents/{made[0].data['id']}", "stored_document", undo=made[0].request)
    undo = made[0].request if all("path" in one.data for one in made) else None
    return done(visit, "documents", "stored_documents", undo=undo, folder=texts["path"] or None)


async def _requests(space: str, texts: Texts, files: list[UploadFile]) -> list[Call]:
    """Return a request for each file, or that for the text."""
    if not files:
        tags = {"tags": words} if (words := [one.strip() for one in texts["tags"].split(",") if one.strip()]) else {}
        body = {"content": texts["content"], **_given(texts, "path", "category"), **cutting(texts), **tags}
        return [calls.add_documents(space, body)]
    how = {**_given(texts, "category"), **cutting(texts)}
    paths = [path_of(texts["path"], str(one.filename), single=len(files) == 1) for one in files]
    asked = [calls.add_documents(space, {}, path=path, tags=texts["tags"] or None, **how) for path in paths]
    return [_with_file(call, await one.read()) for call, one in zip(asked, files, strict=True)]


async def _previewed(visit: Visit, space: str, texts: Texts, files: list[UploadFile]) -> dict[str, Any]:
    """Return where the first file, or the text, would be cut."""
    if files:
        path = path_of(texts["path"], str(files[0].filename), single=True)
        call = calls.preview_document(space, {}, path=path, **cutting(texts))
        call = _with_file(call, await files[0].read())
    else:
        body = {"content": texts["content"], **_given(texts, "path"), **cutting(texts)}
        call = calls.preview_document(space, body)
    found = (await visit.send(call)).data
    items = [{**one, "place": place_of(one)} for one in found["items"][:CUTS]]
    return {"chunks": found["chunks"], "items": items, "of_file": files[0].filename if files else None}


def cutting(texts: Texts) -> dict[str, Any]:
    """Return how a file is to be read and cut, as far as the form says; the API says what is wrong with a number.

    >>> cutting({"strategy": "heading", "size": "200", "overlap": "", "encoding": " "})
    {'strategy': 'heading', 'size': 200}
    """
    numbers = {
        name: int(texts[name]) for name in ("size", "overlap") if texts[name].isdecimal() and len(texts[name]) < 10
    }
    return {**_given(texts, "strategy", "encoding"), **numbers}


def path_of(path: str, name: str, *, single: bool) -> str:
    """Return the path of a file: the one that was typed, or its name in the folder that was typed.

    >>> path_of("notes/", "a.md", single=True), path_of("b.md", "a.md", single=True)
    ('notes/a.md', 'b.md')
    >>> path_of("notes", "a.md", single=False)
    'notes/a.md'
    """
    if not path or (single and not path.endswith("/")):
        return path or name
    return f"{path.rstrip('/')}/{name}"


def _with_file(call: Call, content: bytes) -> Call:
    return replace(call, body=None, content=content, headers={**call.headers, **OCTETS})


def _given(texts: Texts, *names: str) -> dict[str, Any]:
    return {name: texts[name].strip() for name in names if texts[name].strip()}


def _upload_form(
    texts: Texts, found: Mapping[str, Any] | None = None, *, cuts: Mapping[str, Any] | None = None, status: int = 200
) -> View:
    model = {"texts": texts, "problem": found, "cuts": cuts, "strategies": STRATEGIES}
    return View("document_new.html", model, status=status)
