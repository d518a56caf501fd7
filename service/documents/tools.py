"""The tools of documents, which come in and are listed, read and deleted, and of the source code among them."""

from pathlib import Path
from typing import Any, Literal

from muisti.core.documents.model import Document, Stored
from muisti.core.documents.view import File, Filter, Held, Job, Reading, Stated, holds_documents
from muisti.core.model.code import CodeMap, Outline, Symbol, Symbols, Use, Uses
from muisti.core.model.errors import InvalidInput
from muisti.core.model.places import DocumentName
from muisti.service.auth.access import check
from muisti.service.documents.ingesting import origin_of, permitted, submitted
from muisti.service.documents.schemas import ChunkReply
from muisti.service.settings import names_in
from muisti.service.tools.arguments import WRITING, InSpace
from muisti.service.tools.catalog import tool
from muisti.service.tools.rendering import CONTENT, NOTICE, counted, fenced, more, one_line
from muisti.service.tools.session import Call, Json, Outcome

_SHOWN = 20
_CHUNKS = 10


WORDS = {"path": "Name, e.g. docs/a.md", "content": "Its text", "encoding": "Of the file, e.g. shift_jis"}
DocumentAction = Literal["list", "get", "chunks", "delete"]


class AddDocument(InSpace, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A document: its text, or a file of the server's machine."""

    path: str | None = None
    content: str | None = None
    server_path: str | None = None
    encoding: str | None = None
    tags: list[str] = []
    idempotency_key: str | None = None
    dry_run: bool = False


class Documents(InSpace, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A question about documents, or a deletion. `document` is a path or an id, `folder` the beginning of paths."""

    action: DocumentAction
    document: str | None = None
    folder: str | None = None
    cursor: str | None = None
    dry_run: bool = False


@tool("write", "idempotent", "staged", group="documents", words=WORDS)
async def add_document(call: Call, given: AddDocument) -> Outcome:
    """Store a text or a file as a document in chunks, which recall finds. Replaces the one at its path."""
    if (given.content is None) == (given.server_path is None):
        raise InvalidInput.at("$.content", "give content or server_path, one of them")
    encoding = given.encoding if given.content is None else None
    job = Job(stated=Stated(tags=tuple(given.tags)), reading=Reading(encoding=encoding))
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


@tool("read", "destructive", group="documents", words={"action": "chunks: read its text"})
async def documents(call: Call, given: Documents) -> Outcome:
    """List documents; get, delete or read one, chunk by chunk."""
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
        ending = await call.ask(call.memories.documents.delete, name)
        done = "would be deleted" if given.dry_run else "deleted"
        told = f"{one_line(given.document)} with {counted(ending.counts.get('chunk', 0), 'chunk', 'chunks')} {done}."
        return Outcome({"counts": dict(ending.counts), "dry_run": given.dry_run}, told)
    found, _ = await call.ask(call.memories.documents.get, name)
    return Outcome({"document": shown(found)}, line(found))


async def _stored(
    call: Call, given: AddDocument, path: str, held: Held, job: Job, origin: str | None = None
) -> Outcome:
    key = call.once("add_document", given.idempotency_key)
    ingest = call.memories.documents.ingest
    done: Stored = await call.ask(ingest, path, held, job, File(origin=origin), request=key)
    (put,) = done.items
    structured: Json = {"document": shown(put.document), "outcome": put.outcome, "added": put.added, "kept": put.kept}
    if done.plan is not None:
        return Outcome({**structured, "dry_run": True}, "Dry run, nothing was stored.")
    new = ", nothing was written" if put.outcome == "unchanged" else f", {put.added} of them new"
    return Outcome(structured, f"{put.outcome}: {line(put.document)}{new}.")


async def _as_task(call: Call, given: AddDocument, name: str, source: Path, job: Job) -> Outcome:
    if given.dry_run:
        raise InvalidInput.at("$.dry_run", "goes with a small file; a task has no dry run")
    key = call.once("add_document", given.idempotency_key)
    item = File(server_path=str(source), origin=origin_of(source, call.backend.uploads.folder)).item(name)
    task = await call.backend.store(submitted, call.backend, call.space, job, call.session.caller(), [item], key)
    return Outcome({"task": task.id, "state": task.state}, f"Task {task.id} stores it.", task=task)


async def _listed(call: Call, given: Documents) -> Outcome:
    ask = call.memories.documents.page
    page = await call.ask(ask, Filter(folder=given.folder), limit=_SHOWN, cursor=given.cursor)
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
    page = await call.ask(ask, name, limit=_CHUNKS, cursor=given.cursor)
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


_SYMBOLS = 50
_LISTED = 300  # symbols and imports of a file, and lines of a use


Asked = Literal["find", "callers", "callees", "outline", "map"]  # about source code


class CodeQuestion(InSpace, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A question about source code. `max_tokens` is for maps."""

    action: Asked
    name: str | None = None
    max_tokens: int | None = None


@tool(
    "read",
    group="code",
    words={
        "action": "Question",
        "name": "Client.get or client.py:Client.get; outline: a path; map: what it is about, with commas",
        "max_tokens": "Of a map; default 1000",
    },
)
async def code(call: Call, given: CodeQuestion) -> Outcome:
    """Ask about stored source code: find a symbol, its callers or callees; outline of a file; map of the most
    used definitions. Calls are resolved by imports and types, not by name."""
    view, name = call.memories.code, given.name
    if given.action == "map":
        budget = given.max_tokens or 1_000
        return _map(await call.ask(view.map, token_budget=budget, mentioned=names_in(name)))
    if not name:
        raise InvalidInput.at("$.name", f"is required for {given.action}: a symbol, for outline a path")
    if given.action == "find":
        return _found(await call.ask(view.find, name, limit=_SYMBOLS))
    if given.action == "outline":
        return _outline(await call.ask(view.outline, name))
    ask = view.callers if given.action == "callers" else view.callees
    return _uses(await call.ask(ask, name, limit=_SYMBOLS))


def _symbol(one: Symbol) -> Json:
    return {
        "name": one_line(one.qualified),
        "kind": one.kind,
        "at": f"{one_line(one.path)}:{one.start}-{one.end}",
        "signature": one_line(one.signature),
        **({"doc": one_line(one.doc)} if one.doc else {}),
    }


def _use(one: Use) -> Json:
    found: Json = {
        "name": None if one.symbol is None else one_line(one.symbol.qualified),
        "path": one_line(one.path),
        "used_in": one_line(one.used_in),
        "lines": list(one.lines[:_LISTED]),
        "of": one_line(one.of),
    }
    return found if one.certainty == "certain" else {**found, "certainty": one.certainty}


def _answered(structured: Json, lines: list[str], found: Symbols | Uses | Outline | CodeMap, total: int = 0) -> Outcome:
    """Return an outcome that marks what is stored text, and says what it lacks. `total`: of the lines."""
    marked = [f"{CONTENT}{line}" for line in lines] or ["Nothing."]
    marked += more(total, len(lines))
    if found.pending:
        structured |= {"pending": found.pending, "degraded": list(found.degraded)}
        marked += [f"{each}." for each in found.degraded]
    return Outcome({**structured, "notice": NOTICE}, "\n".join((NOTICE, "", *marked)))


def _joined_rows(rows: list[Json], *names: str) -> list[str]:
    return ["  ".join(str(row[name]) for name in names if row.get(name)) for row in rows]


def _found(found: Symbols) -> Outcome:
    rows = [_symbol(one) for one in found.items]
    lines = _joined_rows(rows, "kind", "name", "at", "signature", "doc")
    return _answered({"symbols": rows, "total": found.total}, lines, found, found.total)


def _uses(found: Uses) -> Outcome:
    rows = [_use(one) for one in found.items]
    lines = [f"{row['used_in']}:{_joined(row['lines'])}  {row['name'] or '(file)'}{_defined(row)}" for row in rows]
    symbols = [_symbol(one) for one in found.symbols[:_SYMBOLS]]
    return _answered({"symbols": symbols, "uses": rows, "total": found.total}, lines, found, found.total)


def _defined(row: Json) -> str:
    """Return where a callee is defined, when that is another file than the one that calls it."""
    return "" if row["path"] == row["used_in"] else f"  in {row['path']}"


def _joined(numbers: list[Any]) -> str:
    return ",".join(map(str, numbers))


def _outline(found: Outline) -> Outcome:
    rows = [_symbol(one) for one in found.symbols[:_LISTED]]
    imports = [one_line(path) for path in found.imports[:_LISTED]]
    total = len(found.symbols)
    structured: Json = {"symbols": rows, "imports": imports, "total": total}
    return _answered(structured, _joined_rows(rows, "at", "signature"), found, total)


def _map(found: CodeMap) -> Outcome:
    lines = [_indented(line) for line in found.text.splitlines()]
    structured = {"map": "\n".join(lines), "tokens": found.tokens, "symbols": found.symbols, "of": found.of_symbols}
    return _answered(structured, lines, found)


def _indented(line: str) -> str:
    words = line.lstrip(" ")
    return " " * (len(line) - len(words)) + one_line(words)
