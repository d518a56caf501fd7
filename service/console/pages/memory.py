"""The page of a memory: its text, where it comes from, its versions, how it is used, and what is beside it."""

import asyncio
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

from litestar import Request, Response, get, post
from litestar.di import NamedDependency
from litestar.params import FromPath

from muisti.client import MuistiError, calls
from muisti.service.console.answers import done, long_page
from muisti.service.console.mount import ROOT
from muisti.service.console.peeking import peek
from muisti.service.console.provenance import is_valid, sentences, state_of, title_of, trust_of
from muisti.service.console.render import View
from muisti.service.console.versions import told
from muisti.service.console.visit import Visit

PATH = f"{ROOT}/spaces/{{space:str}}/memories/{{memory_id:str}}"
SHOWS = ("rendered", "raw", "json")
BESIDE = 2  # turns or chunks before and after
GAP = 1 << 30  # between the positions of chunks that were cut together
NEAR = 100  # chunks that are looked at
VERSIONS, VERSIONS_MAX = 10, 100
ENTITIES = 30  # that the page shows
GRAPH_OFF = 409


@get(PATH)
async def show_memory(space: FromPath[str], memory_id: FromPath[str], visit: NamedDependency[Visit]) -> Response[str]:
    """Show a memory, even one that is deleted or superseded: then its last version."""
    asked = visit.request.query_params
    history = await visit.api.get_history(space, memory_id)
    memory = await _shown(visit, space, memory_id, history)
    newest, items = history["items"][0], _until(memory, history["items"])
    if not items:  # the version shown is older than those of the first page
        items = (await visit.api.get_history(space, memory_id, cursor=str(memory["version"] + 1)))["items"]
    state = state_of(memory, newest["died_at"] if memory is newest["memory"] else None, datetime.now(UTC))
    telemetry, chain, sources, beside, entities, versions = await asyncio.gather(
        _telemetry(visit, space, memory_id, state),
        peek(visit, history["chain"]),
        peek(visit, [one for one in [memory["parent_id"], *memory["derived_from"]] if one]),
        beside_of(visit, space, memory),
        _entities(visit, space, memory_id),
        asyncio.to_thread(told, items, count_of(asked.get("versions"))),
    )
    model = {
        "memory": memory,
        "state": state,
        "ended_at": newest["died_at"] or newest["born_at"],
        "etag": f'"{memory_id}.{newest["memory"]["version"]}"',
        "title": title_of(memory),
        "show": asked.get("show") if asked.get("show") in SHOWS else "rendered",
        "shows": SHOWS,
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
    return await long_page(visit, View("memory.html", model))


def count_of(text: str | None) -> int:
    """Return how many versions a URL asks for.

    >>> count_of("50"), count_of(None), count_of("all")
    (50, 10, 10)
    """
    return min(int(text), VERSIONS_MAX) if text and text.isdecimal() and len(text) < 5 else VERSIONS


async def _shown(visit: Visit, space: str, memory_id: str, history: Any) -> Any:
    """Return the version to show: that at the time of the page, else the current one, else the last."""
    try:
        return await visit.api.get_memory(space, memory_id, no_touch=True, **visit.at)
    except MuistiError as error:
        if error.status != 404 or visit.as_of is not None:
            raise
    return history["items"][0]["memory"]


def _until(memory: Mapping[str, Any], items: Sequence[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    """Return the versions up to the one that is shown, so that the past knows nothing of later."""
    return [one for one in items if one["memory"]["version"] <= memory["version"]]


async def _entities(visit: Visit, space: str, memory_id: str) -> Any:
    """Return the entities that a memory names, as the graph knows them; None where the graph of the space is off."""
    try:
        return await visit.api.list_entities(space, memory=memory_id, limit=ENTITIES, **visit.at)
    except MuistiError as error:
        if error.status != GRAPH_OFF:
            raise
        return None


async def _telemetry(visit: Visit, space: str, memory_id: str, state: str) -> Any:
    """Return the use of a memory; None for one that is not current, whose use is not known any more."""
    return await visit.api.get_telemetry(space, memory_id) if state == "current" and visit.as_of is None else None


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


@post(f"{PATH}/feedback")
async def give_feedback(
    request: Request, space: FromPath[str], memory_id: FromPath[str], visit: NamedDependency[Visit]
) -> Response[None]:
    """Say that a memory is useful or not, or take that back."""
    verdict = str((await request.form()).get("verdict", "")) or None
    await visit.send(calls.give_feedback(space, memory_id, {"verdict": verdict}))
    return done(visit, f"memories/{memory_id}", "judged")


@post(f"{PATH}/restore")
async def restore(
    request: Request, space: FromPath[str], memory_id: FromPath[str], visit: NamedDependency[Visit]
) -> Response[None]:
    """Make an earlier version the current one; without a number the last one of a deleted memory."""
    number = str((await request.form()).get("version", ""))
    made = await visit.send(
        calls.restore_memory(space, memory_id, {"version": int(number)} if number.isdigit() else {})
    )
    return done(visit, f"memories/{memory_id}", "restored", undo=made.request)


@post(f"{PATH}/delete")
async def forget(
    request: Request, space: FromPath[str], memory_id: FromPath[str], visit: NamedDependency[Visit]
) -> Response[None]:
    """Delete a memory, in the version that the person has seen. Its history stays."""
    etag = str((await request.form()).get("etag", "")) or None
    made = await visit.send(calls.delete_memory(space, memory_id, if_match=etag))
    return done(visit, f"memories/{memory_id}", "deleted", undo=made.request)


ROUTES: Sequence[Any] = (show_memory, give_feedback, restore, forget)
