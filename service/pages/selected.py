"""Memories that are selected in a list: changed, replaced by one, forgotten or exported together."""

import asyncio
import json
import secrets
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from litestar import Response
from litestar.exceptions import ValidationException

from muisti.client import Call, MuistiError, calls
from muisti.service.console import filter_form as fields
from muisti.service.console.answers import Answer, back_from, does, done, is_own, problem_of, status_of
from muisti.service.console.render import HEADERS, View
from muisti.service.console.visit import Sent, Visit
from muisti.service.pages.memories import ANSWERED

SELECTED_MAX = 200  # memories that one form changes
Change = Callable[[str, str, str], Call]
CHANGES: Mapping[str, tuple[str, Change]] = {  # the scope that each needs, and the request for one memory
    "category": ("write", lambda space, id_, value: calls.update_memory(space, id_, {"category": value or None})),
    "importance": ("write", lambda space, id_, value: calls.update_memory(space, id_, {"importance": value})),
    "delete": ("delete", lambda space, id_, _: calls.delete_memory(space, id_)),
}


@does("memories/selected")
async def change_selected(visit: Visit, space: str) -> Answer:
    """Change all memories that are selected: as one request, which one undo takes back.

    The first refusal ends it. What was changed before stays, and the message counts it.
    """
    ids = [str(one) for one in visit.form.getall("id", [])]
    action, value = visit.field("action"), visit.field("value").strip()
    if not ids or len(ids) > SELECTED_MAX or action not in (*CHANGES, "tag", "untag", "export", "replace"):
        raise ValidationException(f"Select 1 to {SELECTED_MAX} memories and what to do with them.")
    if action == "export":
        return await _exported(visit, space, ids)
    if action == "replace":
        return await _replacing(visit, space, ids)
    request = secrets.token_hex(8)
    for number, id_ in enumerate(ids):
        try:
            call = await _change(visit, space, id_, action, value)
            await visit.send(replace(call, headers={**call.headers, "X-Request-Id": request}))
        except MuistiError as error:
            if number == 0:
                raise
            raise ValidationException(f"{number} of {len(ids)} were changed, then one was refused: {error}") from error
    return back_from(visit, "selected_changed", undo=request)


async def _replacing(visit: Visit, space: str, ids: Sequence[str], error: MuistiError | None = None) -> View:
    """Show the form in which one memory takes the place of those that are selected."""
    memories: list[Any] = [await visit.api.get_memory(space, one, no_touch=True) for one in ids]
    model = {
        "memories": memories,
        "basis": visit.field("basis") or ids[0],
        "content": visit.field("content"),
        "back": visit.field("back") if is_own(visit.field("back")) else "",
        "problem": None if error is None else await asyncio.to_thread(problem_of, error, visit.field("content")),
    }
    return View("memories_replace.html", model, status=200 if error is None else status_of(error))


@does("memories/replaced")
async def replace_selected(visit: Visit, space: str) -> Answer:
    """Put one memory in place of those that are selected, as one request.

    It supersedes the one that it is based on and names the others as its sources; these are deleted.
    """
    ids, basis = [str(one) for one in visit.form.getall("id", [])], visit.field("basis")
    if not 2 <= len(ids) <= SELECTED_MAX or basis not in ids:
        raise ValidationException(f"Select 2 to {SELECTED_MAX} memories and one of them as the basis.")
    others, request = [one for one in ids if one != basis], {"X-Request-Id": secrets.token_hex(8)}
    before: Any = await visit.api.get_memory(space, basis, no_touch=True)
    texts = fields.typed(before)
    texts["content"] = visit.field("content").strip() or texts["content"]
    made: Sent | None = None
    try:
        call = calls.supersede_memory(space, basis, {**fields.new(texts), "derived_from": others})
        made = await visit.send(replace(call, headers={**call.headers, **request}))
        for one in others:
            call = calls.delete_memory(space, one)
            await visit.send(replace(call, headers={**call.headers, **request}))
    except MuistiError as error:
        if made is not None:
            await visit.send(calls.undo(space, {"request": made.request}))
        if error.status not in ANSWERED:
            raise
        return await _replacing(visit, space, ids, error)
    return done(visit, f"memories/{made.data['id']}", "selected_replaced", undo=made.request)


async def _exported(visit: Visit, space: str, ids: Iterable[str]) -> Response[bytes]:
    """Return the memories as lines of JSON with the fields of a new memory, which an import and the API read."""
    lines: list[bytes] = []
    for id_ in ids:
        memory: Any = await visit.api.get_memory(space, id_, no_touch=True, **visit.at)
        lines.append(json.dumps(fields.new(fields.typed(memory)), ensure_ascii=False).encode() + b"\n")
    name = 'attachment; filename="memories.jsonl"'
    return Response(
        b"".join(lines), media_type="application/x-ndjson", headers={**HEADERS, "Content-Disposition": name}
    )


async def _change(visit: Visit, space: str, id_: str, action: str, value: str) -> Call:
    """Return the request that changes one memory. A tag is added to those that it has, or taken from them."""
    if action in CHANGES:
        return CHANGES[action][1](space, id_, value)
    memory: Any = await visit.api.get_memory(space, id_, no_touch=True)
    kept = [one for one in memory["tags"] if one.casefold() != value.casefold()]
    return calls.update_memory(space, id_, {"tags": [*kept, value] if action == "tag" else kept})
