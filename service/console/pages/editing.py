"""Forms that change a memory or put another in its place. Nothing that was typed is lost, whoever else writes."""

import asyncio
from collections.abc import Mapping
from typing import Any, NamedTuple

from litestar import Request, Response, get, post
from litestar.di import NamedDependency
from litestar.params import FromPath

from muisti.client import MuistiError, calls
from muisti.service.console import choosing as fields
from muisti.service.console.answers import done, page
from muisti.service.console.diff import around, diff
from muisti.service.console.pages.memories import ANSWERED, new_form, problem_of, status_of
from muisti.service.console.pages.memory import PATH
from muisti.service.console.provenance import title_of
from muisti.service.console.render import View
from muisti.service.console.visit import Visit

GONE = 404  # the memory is deleted
STALE = 412  # the memory is at another version than the form


class Kept(NamedTuple):
    """A form that was sent: what was typed, and the version that it was drawn for, by its tag and its number."""

    memory_id: str
    texts: fields.Typed
    etag: str
    version: str = ""
    replaces: bool = False


@get(f"{PATH}/edit")
async def show_edit(space: FromPath[str], memory_id: FromPath[str], visit: NamedDependency[Visit]) -> Response[str]:
    """Show the form that changes a memory."""
    memory, etag = await _current(visit, space, memory_id)
    return page(visit, _form(memory, Kept(memory_id, fields.typed(memory), etag, str(memory["version"]))))


@post(f"{PATH}/edit")
async def save(
    request: Request, space: FromPath[str], memory_id: FromPath[str], visit: NamedDependency[Visit]
) -> Response[Any]:
    """Store the fields that the person has changed, if nobody has changed the memory since the form was drawn."""
    form = await request.form()
    kept = Kept(memory_id, fields.given(form), str(form.get("etag", "")), str(form.get("version", "")))
    before = await _version(visit, space, memory_id, kept.version)
    try:
        body = fields.changed(kept.texts, before)
        if not body:
            return done(visit, f"memories/{memory_id}", "unchanged")
        made = await visit.send(calls.update_memory(space, memory_id, body, if_match=kept.etag))
    except (fields.Unreadable, MuistiError) as error:
        return await _again(visit, space, kept, error, before)
    return done(visit, f"memories/{memory_id}", "changed", undo=made.request)


@get(f"{PATH}/supersede")
async def show_supersede(
    space: FromPath[str], memory_id: FromPath[str], visit: NamedDependency[Visit]
) -> Response[str]:
    """Show the form of a memory that comes in place of another."""
    memory, etag = await _current(visit, space, memory_id)
    texts = {**fields.typed(memory), "reason": "", "source": "", "author": ""}
    return page(visit, _form(memory, Kept(memory_id, texts, etag, replaces=True)))


@post(f"{PATH}/supersede")
async def supersede(
    request: Request, space: FromPath[str], memory_id: FromPath[str], visit: NamedDependency[Visit]
) -> Response[Any]:
    """Put a new memory in place of this one."""
    form = await request.form()
    kept = Kept(memory_id, fields.given(form), str(form.get("etag", "")), replaces=True)
    try:
        made = await visit.send(calls.supersede_memory(space, memory_id, fields.new(kept.texts), if_match=kept.etag))
    except (fields.Unreadable, MuistiError) as error:
        return await _again(visit, space, kept, error, None)
    return done(visit, f"memories/{made.data['id']}", "replaced", undo=made.request)


async def _again(
    visit: Visit, space: str, kept: Kept, error: fields.Unreadable | MuistiError, before: fields.Typed | None
) -> Response[str]:
    """Draw the form again with all that was typed, and with what is in the way.

    Raises:
        MuistiError: the refusal is not about what was typed.
    """
    if isinstance(error, MuistiError) and error.status == GONE:
        return page(visit, new_form(kept.texts, {"detail": f"{error}. Store your text as a new memory?"}, GONE))
    if isinstance(error, MuistiError) and error.status not in ANSWERED:
        raise error
    memory, etag = await _current(visit, space, kept.memory_id)
    if isinstance(error, MuistiError) and error.status == STALE:
        found = _form(
            memory,
            kept._replace(etag=etag),
            lost=await asyncio.to_thread(_lost, memory, kept.texts, before),
            status=STALE,
        )
    else:
        found = _form(memory, kept, problem_of(error), status=status_of(error))
    return page(visit, found)


async def _current(visit: Visit, space: str, memory_id: str) -> tuple[Any, str]:
    """Return a memory with the tag of its version."""
    reply = await visit.api.send(calls.get_memory(space, memory_id, no_touch=True))
    return reply.data, reply.headers["etag"]


async def _version(visit: Visit, space: str, memory_id: str, number: str) -> dict[str, str] | None:
    """Return the texts of a version; None when its history is gone."""
    items: Any = (await visit.api.get_history(space, memory_id))["items"]
    return next((fields.typed(one["memory"]) for one in items if str(one["memory"]["version"]) == number), None)


def _lost(memory: Mapping[str, Any], texts: fields.Typed, before: fields.Typed | None) -> dict[str, Any]:
    """Return what a person sees whose change came too late: both texts, and the other fields that differ."""
    theirs = fields.typed(memory)
    others = [
        (one.title, theirs[one.name], texts[one.name])
        for one in fields.FIELDS
        if one.name != "content"
        and theirs[one.name] != texts[one.name]
        and (before is None or texts[one.name] != before[one.name])
    ]
    pieces = around(diff(theirs["content"], texts["content"]))
    return {"theirs": theirs["content"], "pieces": pieces, "others": others, "at": memory["updated_at"]}


def _form(
    memory: Mapping[str, Any],
    kept: Kept,
    found: Mapping[str, Any] | None = None,
    *,
    lost: Mapping[str, Any] | None = None,
    status: int = 200,
) -> View:
    model = {
        "memory": memory,
        "title": title_of(memory),
        "kept": kept,
        "inputs": fields.FIELDS if kept.replaces else fields.inputs_of(memory),
        "texts": kept.texts,
        "problem": found,
        "lost": lost,
    }
    return View("memory_edit.html", model, status=status)


ROUTES = (show_edit, save, show_supersede, supersede)
