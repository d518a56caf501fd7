"""The page of a memory: its text, origin, versions, use, and what is beside it; the forms that change it.

Nothing that was typed is lost, whoever else writes.
"""

import asyncio
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any, NamedTuple

from litestar import Response

from muisti.client import MuistiError, calls
from muisti.service.console import filter_form as fields
from muisti.service.console.answers import (
    Answer,
    Model,
    back_from,
    does,
    done,
    is_own,
    problem_of,
    shows,
    status_of,
)
from muisti.service.console.provenance import is_valid, peek, sentences, state_of, title_of, trust_of
from muisti.service.console.render import View
from muisti.service.console.versions import around, diff, told
from muisti.service.console.visit import Visit
from muisti.service.pages.memories import ANSWERED, new_form

SHOWS = ("rendered", "raw", "json")
BESIDE = 2  # turns or chunks before and after
GAP = 1 << 30  # between the positions of chunks that were cut together
NEAR = 100  # chunks that are looked at
VERSIONS, VERSIONS_MAX = 10, 100
ENTITIES = 30  # that the page shows
GRAPH_OFF = 409


@shows("memories/{memory_id}", "memory.html", shows=SHOWS)
async def show_memory(visit: Visit, space: str, memory_id: str) -> Model:
    """Show a memory, even one that is deleted or superseded: then its last version."""
    asked = visit.asked
    history = await visit.api.get_history(space, memory_id)
    memory = await _version_shown(visit, space, memory_id, history)
    newest = history["items"][0]
    # The versions up to the one that is shown, so that the past knows nothing of later.
    items = [one for one in history["items"] if one["memory"]["version"] <= memory["version"]]
    if not items:  # the version shown is older than those of the first page
        items = (await visit.api.get_history(space, memory_id, cursor=str(memory["version"] + 1)))["items"]
    state = state_of(memory, newest["died_at"] if memory is newest["memory"] else None, datetime.now(UTC))
    telemetry = None  # of one that is not current it is not known any more
    if state == "current" and visit.as_of is None:
        telemetry = await visit.api.get_telemetry(space, memory_id)
    chain, sources, beside, entities, versions = await asyncio.gather(
        peek(visit, history["chain"]),
        peek(visit, [one for one in [memory["parent_id"], *memory["derived_from"]] if one]),
        beside_of(visit, space, memory),
        _entities(visit, space, memory_id),
        asyncio.to_thread(told, items, count_of(asked.get("versions"))),
    )
    return {
        "memory": memory,
        "state": state,
        "ended_at": newest["died_at"] or newest["born_at"],
        "etag": f'"{memory_id}.{newest["memory"]["version"]}"',
        "title": title_of(memory),
        "show": asked.get("show") if asked.get("show") in SHOWS else "rendered",
        "trust": trust_of(memory["trust"]),
        "origin": sentences(memory),
        "is_valid": is_valid(memory),
        "telemetry": telemetry,
        "chain": chain if len(chain) > 1 else [],
        "parent": next((one for one in sources if one.id == memory["parent_id"]), None),
        "derived_from": [one for one in sources if one.id in memory["derived_from"]],
        "beside": beside,
        "entities": entities,
        "versions": versions,
    }


def count_of(text: str | None) -> int:
    """Return how many versions a URL asks for.

    >>> count_of("50"), count_of(None), count_of("all")
    (50, 10, 10)
    """
    return min(int(text), VERSIONS_MAX) if text and text.isdecimal() and len(text) < 5 else VERSIONS


async def _version_shown(visit: Visit, space: str, memory_id: str, history: Any) -> Any:
    """Return the version to show: that at the time of the page, else the current one, else the last."""
    try:
        return await visit.api.get_memory(space, memory_id, no_touch=True, **visit.at)
    except MuistiError as error:
        if error.status != 404 or visit.as_of is not None:
            raise
    return history["items"][0]["memory"]


async def _entities(visit: Visit, space: str, memory_id: str) -> Any:
    """Return the entities that a memory names, as the graph knows them; None where the graph of the space is off."""
    try:
        return await visit.api.list_entities(space, memory=memory_id, limit=ENTITIES, **visit.at)
    except MuistiError as error:
        if error.status != GRAPH_OFF:
            raise
        return None


async def beside_of(visit: Visit, space: str, memory: Mapping[str, Any]) -> dict[str, Any] | None:
    """Return the turns of the conversation, or the chunks of the document, around a memory; None when it has none."""
    if memory["conversation"] and memory["turn"] is not None:
        name, turn = memory["conversation"], memory["turn"]
        span: dict[str, Any] = {"from_": max(0, turn - BESIDE), "to": turn + BESIDE, "category": memory["category"]}
        try:
            found: Any = await visit.api.list_exchanges(space, name, **span, **visit.at)
        except MuistiError as error:
            if error.status != 404:  # the conversation is deleted
                raise
            return None
        return {"kind": "conversation", "name": name, "turn": turn, "items": found["items"]}
    if memory["kind"] == "chunk" and memory["document"] and memory["position"] is not None:
        return await _chunks_beside(visit, space, memory)
    return None


async def _chunks_beside(visit: Visit, space: str, memory: Mapping[str, Any]) -> dict[str, Any]:
    """Return the chunk with those before and after it: of one document, by their positions, which have gaps."""
    own = {"parent_id": memory["parent_id"], "kind": "chunk"}
    near = {"position.gte": memory["position"] - BESIDE * GAP, "position.lte": memory["position"] + BESIDE * GAP}
    found: Any = await visit.api.list_memories(space, limit=NEAR, filters={**own, **near}, **visit.at)
    items = sorted(found["items"], key=lambda one: one["position"])
    at = next((place for place, one in enumerate(items) if one["id"] == memory["id"]), None)
    around = [] if at is None else items[max(0, at - BESIDE) : at + BESIDE + 1]
    return {"kind": "document", "name": memory["document"], "items": around}


@does("memories/{memory_id}/feedback")
async def give_feedback(visit: Visit, space: str, memory_id: str) -> Response[None]:
    """Say that a memory is useful or not, or take that back."""
    verdict = visit.field("verdict") or None
    await visit.send(calls.give_feedback(space, memory_id, {"verdict": verdict}))
    return done(visit, f"memories/{memory_id}", "judged")


@does("memories/{memory_id}/restore")
async def restore(visit: Visit, space: str, memory_id: str) -> Response[None]:
    """Make an earlier version the current one; without a number the last one of a deleted memory."""
    number = visit.field("version")
    made = await visit.send(
        calls.restore_memory(space, memory_id, {"version": int(number)} if number.isdigit() else {})
    )
    return done(visit, f"memories/{memory_id}", "restored", undo=made.request)


@does("memories/{memory_id}/delete")
async def forget(visit: Visit, space: str, memory_id: str) -> Response[None]:
    """Delete a memory, in the version that the person has seen. Its history stays."""
    etag = visit.field("etag") or None
    made = await visit.send(calls.delete_memory(space, memory_id, if_match=etag))
    return done(visit, f"memories/{memory_id}", "deleted", undo=made.request)


GONE = 404  # the memory is deleted
STALE = 412  # the memory is at another version than the form


class Kept(NamedTuple):
    """A form that was sent: what was typed, and the version that it was drawn for, by its tag and its number."""

    memory_id: str
    texts: fields.Typed
    etag: str
    version: str = ""
    replaces: bool = False
    back: str = ""  # the page that the person came from, where that is not the one of the memory


@shows("memories/{memory_id}/edit")
async def show_edit(visit: Visit, space: str, memory_id: str) -> View:
    """Show the form that changes a memory."""
    memory, etag = await _current(visit, space, memory_id)
    back = visit.asked.get("back", "")
    kept = Kept(memory_id, fields.typed(memory), etag, str(memory["version"]), back=back if is_own(back) else "")
    return _form(memory, kept)


@does("memories/{memory_id}/edit")
async def save(visit: Visit, space: str, memory_id: str) -> Answer:
    """Store the fields that the person has changed, if nobody has changed the memory since the form was drawn."""
    back = visit.field("back") if is_own(visit.field("back")) else ""
    kept = Kept(memory_id, fields.given(visit.form), visit.field("etag"), visit.field("version"), back=back)
    before = await _version(visit, space, memory_id, kept.version)
    try:
        body = fields.changed(kept.texts, before)
        if not body:
            return back_from(visit, "unchanged") if back else done(visit, f"memories/{memory_id}", "unchanged")
        made = await visit.send(calls.update_memory(space, memory_id, body, if_match=kept.etag))
    except (fields.Unreadable, MuistiError) as error:
        return await _again(visit, space, kept, error, before)
    if back:
        return back_from(visit, "changed", undo=made.request)
    return done(visit, f"memories/{memory_id}", "changed", undo=made.request)


@shows("memories/{memory_id}/supersede")
async def show_supersede(visit: Visit, space: str, memory_id: str) -> View:
    """Show the form of a memory that comes in place of another."""
    memory, etag = await _current(visit, space, memory_id)
    texts = {**fields.typed(memory), "reason": "", "source": "", "author": ""}
    return _form(memory, Kept(memory_id, texts, etag, replaces=True))


@does("memories/{memory_id}/supersede")
async def supersede(visit: Visit, space: str, memory_id: str) -> Answer:
    """Put a new memory in place of this one."""
    kept = Kept(memory_id, fields.given(visit.form), visit.field("etag"), replaces=True)
    try:
        made = await visit.send(calls.supersede_memory(space, memory_id, fields.new(kept.texts), if_match=kept.etag))
    except (fields.Unreadable, MuistiError) as error:
        return await _again(visit, space, kept, error, None)
    return done(visit, f"memories/{made.data['id']}", "replaced", undo=made.request)


async def _again(
    visit: Visit, space: str, kept: Kept, error: fields.Unreadable | MuistiError, before: fields.Typed | None
) -> View:
    """Draw the form again with all that was typed, and with what is in the way.

    Raises:
        MuistiError: the refusal is not about what was typed.
    """
    if isinstance(error, MuistiError) and error.status == GONE:
        gone = {"detail": f"{error}. Store your text as a new memory?", "errors": [], "conflicts": []}
        return new_form(kept.texts, gone, GONE)
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
        problem = await asyncio.to_thread(problem_of, error, kept.texts["content"])
        found = _form(memory, kept, problem, status=status_of(error))
    return found


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
