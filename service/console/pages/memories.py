"""The list of memories with its filters, and the form that adds one."""

import asyncio
from collections.abc import Mapping
from typing import Any

from litestar import Request, Response, get, post
from litestar.di import NamedDependency
from litestar.params import FromPath

from muisti.client import MuistiError, calls
from muisti.service.console import choosing as fields
from muisti.service.console.answers import done, page
from muisti.service.console.choosing import CHOICES, SORTS, chosen, erasing, leading, taken_off
from muisti.service.console.mount import ROOT
from muisti.service.console.provenance import title_of
from muisti.service.console.render import View
from muisti.service.console.visit import Visit

PATH = f"{ROOT}/spaces/{{space:str}}/memories"
PAGE = 30
ANSWERED = (409, 412, 413, 422)  # refusals that the form shows, with all that was typed


@get(PATH)
async def list_memories(space: FromPath[str], visit: NamedDependency[Visit]) -> Response[str]:
    """Show the memories that meet the filters of the URL, a page at a time."""
    asked = visit.request.query_params.dict()
    given = {name: values[0] for name, values in asked.items()}
    filters = chosen(given)
    sort = given.get("sort") if given.get("sort") in SORTS else None
    cursor = given.get("cursor") or None
    reads: list[Any] = [
        visit.api.list_memories(space, limit=PAGE, sort=sort, cursor=cursor, filters=filters, **visit.at)
    ]
    if not visit.is_fragment:
        reads += [visit.api.list_categories(space, **visit.at), visit.api.list_tags(space, **visit.at)]
    found, *counts = await asyncio.gather(*reads)
    categories, tags = [leading(one["items"]) for one in counts] or [[], []]
    model = {
        "choices": CHOICES,
        "filters": filters,
        "taken_off": taken_off(filters, sort),
        "erasing": erasing(filters),
        "sorts": SORTS,
        "sort": sort,
        "more_is_open": any(one.more and one.name in filters for one in CHOICES),
        "params": {**filters, **({"sort": sort} if sort else {})},
        "rows": [row(one) for one in found["items"]],
        "next": found["next_cursor"],
        "is_first": cursor is None,
        "categories": categories,
        "tags": tags,
    }
    return page(visit, View("memories.html", model, block="results"))


def row(memory: Any) -> dict[str, Any]:
    """Return what a list shows of a memory: those of its values that are not the usual ones as marks."""
    usual = {"kind": "memory", "type": "fact", "status": "active", "importance": "medium"}
    marks = [memory[name] for name, value in usual.items() if memory[name] != value]
    rest = " ".join(str(memory["content"]).strip().partition("\n")[2].split())
    return {"memory": memory, "title": title_of(memory), "rest": rest, "marks": marks}


@get(f"{PATH}/new")
async def show_new(space: FromPath[str], visit: NamedDependency[Visit]) -> Response[str]:
    """Show an empty form, or one with what the URL gives, such as a category."""
    await visit.api.get_space(space)
    given = {name: values[0] for name, values in visit.request.query_params.dict().items()}
    texts = {one.name: given.get(one.name, fields.USUAL.get(one.name, "")) for one in fields.FIELDS}
    return page(visit, new_form(texts))


@post(PATH)
async def add_memory(request: Request, space: FromPath[str], visit: NamedDependency[Visit]) -> Response[Any]:
    """Store a memory. Where it repeats or contradicts others, show them, and let the person decide."""
    form = await request.form()
    texts = {name: text or fields.USUAL.get(name, "") for name, text in fields.given(form).items()}
    try:
        body = fields.new(texts)
        made = await visit.send(calls.add_memory(space, body, on_conflict=str(form.get("on_conflict", "")) or None))
    except (fields.Unreadable, MuistiError) as error:
        if isinstance(error, MuistiError) and error.status not in ANSWERED:
            raise
        return page(visit, new_form(texts, problem_of(error), status_of(error)))
    return done(visit, f"memories/{made.data['id']}", "added", undo=made.request)


def problem_of(error: fields.Unreadable | MuistiError) -> dict[str, Any]:
    """Return what a form shows of a refusal."""
    if isinstance(error, fields.Unreadable):
        return {"detail": "A field cannot be read.", "errors": [{"path": error.path, "message": str(error)}]}
    detail = error.problem.get("title") if error.conflicts or error.errors else str(error)
    return {"detail": detail, "errors": error.errors, "conflicts": error.conflicts}


def status_of(error: fields.Unreadable | MuistiError) -> int:
    """Return the status of a page that shows a refusal."""
    return error.status if isinstance(error, MuistiError) else 422


def new_form(texts: Mapping[str, str], found: Mapping[str, Any] | None = None, status: int = 200) -> View:
    """Return the form that adds a memory, with what was typed and what is in the way."""
    empty = {"detail": "", "errors": [], "conflicts": []}
    shown = None if found is None else {**empty, **found}
    return View("memory_new.html", {"inputs": fields.FIELDS, "texts": texts, "problem": shown}, status=status)


ROUTES = (list_memories, show_new, add_memory)
