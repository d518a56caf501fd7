"""The form that stores files and texts as documents, and shows where they would be cut."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from litestar import Request, Response, get, post
from litestar.datastructures import UploadFile
from litestar.di import NamedDependency
from litestar.params import FromPath

from muisti.client import Call, MuistiError, calls
from muisti.service.console.answers import done, page
from muisti.service.console.choosing import plain
from muisti.service.console.chunks import place_of
from muisti.service.console.pages.documents import SPACE
from muisti.service.console.pages.memories import problem_of
from muisti.service.console.render import View
from muisti.service.console.visit import Visit

OCTETS = {"Content-Type": "application/octet-stream"}
STRATEGIES = ("auto", "recursive", "sentence", "fixed", "heading", "ast")
TEXTS = ("path", "content", "strategy", "size", "overlap", "category", "tags")
ANSWERED = (409, 413, 415, 422, 507)  # refusals that the form shows, with all that was typed
CUTS = 100  # that a preview shows

Texts = Mapping[str, str]


@get(f"{SPACE}/documents/new")
async def show_form(space: FromPath[str], visit: NamedDependency[Visit]) -> Response[str]:
    """Show the form for files and texts."""
    await visit.api.get_space(space)
    return page(visit, _form(dict.fromkeys(TEXTS, "")))


@post(f"{SPACE}/documents")
async def store(request: Request, space: FromPath[str], visit: NamedDependency[Visit]) -> Response[Any]:
    """Store the files or the text, or show where they would be cut."""
    form = await request.form()
    texts = {name: plain(str(form.get(name, ""))).strip("\n") for name in TEXTS}
    files = [one for one in form.getall("file", []) if isinstance(one, UploadFile) and one.filename]
    try:
        if form.get("do") == "preview":
            return page(visit, _form(texts, cuts=await _previewed(visit, space, texts, files)))
        made = [await visit.send(one) for one in await _requests(space, texts, files)]
    except MuistiError as error:
        if error.status not in ANSWERED:
            raise
        return page(visit, _form(texts, problem_of(error), status=error.status))
    if len(made) == 1 and "path" in made[0].data:
        return done(visit, f"documents/{made[0].data['id']}", "stored_document", undo=made[0].request)
    return done(visit, "documents", "stored_documents")


async def _requests(space: str, texts: Texts, files: list[UploadFile]) -> list[Call]:
    """Return a request for each file, or that for the text."""
    if not files:
        body = {"content": texts["content"], **_given(texts, "path", "category"), **cutting(texts), **_tags(texts)}
        return [calls.add_documents(space, body)]
    how = {**_given(texts, "category"), **cutting(texts)}
    tags = texts["tags"] or None
    paths = [path_of(texts["path"], str(one.filename), single=len(files) == 1) for one in files]
    asked = [calls.add_documents(space, {}, path=path, tags=tags, **how) for path in paths]
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
    """Return how a text is to be cut, as far as the form says; the API says what is wrong with a number.

    >>> cutting({"strategy": "heading", "size": "200", "overlap": ""})
    {'strategy': 'heading', 'size': 200}
    """
    numbers = {
        name: int(texts[name]) for name in ("size", "overlap") if texts[name].isdecimal() and len(texts[name]) < 10
    }
    return {**_given(texts, "strategy"), **numbers}


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


def _tags(texts: Texts) -> dict[str, Any]:
    tags = [one.strip() for one in texts["tags"].split(",") if one.strip()]
    return {"tags": tags} if tags else {}


def _form(
    texts: Texts, found: Mapping[str, Any] | None = None, *, cuts: Mapping[str, Any] | None = None, status: int = 200
) -> View:
    model = {"texts": texts, "problem": found, "cuts": cuts, "strategies": STRATEGIES}
    return View("document_new.html", model, status=status)


ROUTES = (show_form, store)
