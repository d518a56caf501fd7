"""Playground: what an agent gets for a question, with two settings side by side: hits, context, the tool's answer."""

import asyncio
import json
from collections.abc import Mapping
from typing import Any

from muisti.client import Call, MuistiError, calls
from muisti.service.console.answers import Model, shows
from muisti.service.console.render import View
from muisti.service.console.visit import Visit
from muisti.service.pages.ask import SEARCH, Server, mcp_call, refused
from muisti.service.pages.asking import settings

SHOWN = ("mode", "limit", "evidence")  # settings of recall that both columns offer; the page Ask has all
BUDGET = "budget"
PROTOCOL = {"Accept": "application/json, text/event-stream"}
NAMES = {"": "A", settings.SECOND: "B"}


@shows("ask/playground")
async def show_playground(visit: Visit, space: str) -> View:
    """Show what both settings of a question bring."""
    asked = settings.asked_of(visit.asked)
    budgets = {prefix: visit.asked.get(prefix + BUDGET, "") for prefix in NAMES}
    values = {**asked.values, **{prefix + BUDGET: text for prefix, text in budgets.items() if text}}
    choices = [one for one in settings.SETTINGS if one.name in SHOWN or one.place == ("min_evidence",)]
    model: Model = {"asked": asked, "values": values, "choices": choices, "names": NAMES}
    model |= {"columns": [], "problem": None}
    try:
        if asked["q"].strip():
            model["columns"] = compared(
                await asyncio.gather(*(_column(visit, space, asked, one, budgets[one]) for one in NAMES))
            )
        else:
            await visit.api.get_space(space)  # another's space is no page, also before a question
    except (settings.Wrong, MuistiError) as error:
        return refused(visit, ("playground.html", "ask/playground"), model, error, values)
    headers = {"HX-Replace-Url": visit.to("ask/playground", **values)} if visit.is_fragment else {}
    return View("playground.html", model, block="results", headers=headers)


async def _column(visit: Visit, space: str, asked: settings.Asked, prefix: str, budget: str) -> Model:
    """Recall, pack a context and call the tool with one setting."""
    body = asked.body(prefix) | visit.at
    wanted = settings.wanted_of({"q": asked["q"], BUDGET: budget}).body() | visit.at
    if "min_evidence" in body:
        wanted["min_evidence"] = body["min_evidence"]
    tool = mcp_call(Server("", space, keyed=False), SEARCH, body)
    found, context, said = await asyncio.gather(
        visit.send(calls.search(space, body)), visit.send(calls.get_context(space, wanted)), _told(visit, tool)
    )
    return {
        "name": NAMES[prefix],
        "evidence": found.data["evidence"],
        "hits": [_hit(one) for one in found.data["hits"]],
        "context": settings.context_view(context.data),
        "told": said,
        "call": json.dumps(tool, indent=2, ensure_ascii=False),
    }


async def _told(visit: Visit, tool: Mapping[str, Any]) -> str:
    """Return the text that a call of a tool answers with, also when it is refused."""
    message = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": tool}
    answer = (await visit.api.send(Call("POST", "/mcp", {}, PROTOCOL, body=message))).data
    if "error" in answer:
        return str(answer["error"]["message"])
    return "\n".join(one["text"] for one in answer["result"]["content"] if one["type"] == "text")


def _hit(one: Mapping[str, Any]) -> Model:
    memory, passage = one["memory"], one["passage"]
    text = memory["content"][passage["start"] : passage["stop"]]
    return {"id": memory["id"], "text": text, "score": one["score"], "author": memory.get("author")}


def compared(columns: list[Model]) -> list[Model]:
    """Return the columns with a mark at each hit that the other one lacks.

    >>> made = compared([{"hits": [{"id": "a"}]}, {"hits": [{"id": "a"}, {"id": "b"}]}])
    >>> [[hit["only"] for hit in one["hits"]] for one in made]
    [[False], [False, True]]
    """
    ids = [{hit["id"] for hit in one["hits"]} for one in columns]
    return [
        {**one, "hits": [{**hit, "only": hit["id"] not in other} for hit in one["hits"]]}
        for one, other in zip(columns, reversed(ids), strict=True)
    ]
