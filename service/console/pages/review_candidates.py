"""Review: candidates that would become active, and those that would be put aside."""

import asyncio
from collections.abc import Mapping
from typing import Any

from litestar import Request, Response, get, post
from litestar.di import NamedDependency
from litestar.exceptions import ClientException
from litestar.params import FromPath

from muisti.client import calls
from muisti.service.console.answers import done, page
from muisti.service.console.pages.review import PATH, tabs
from muisti.service.console.render import View
from muisti.service.console.visit import Visit

SHOWN = 10  # memories whose use is read, too
FIELDS: Mapping[str, type[int] | type[float]] = {"retrievals": int, "days": float}


@get(f"{PATH}/candidates")
async def show_candidates(space: FromPath[str], visit: NamedDependency[Visit]) -> Response[str]:
    """Show what a promotion and a pruning would do with these limits."""
    given = {name: value for name, value in visit.request.query_params.items() if value}
    model = {
        "tabs": await tabs(visit, space),
        "tab": "candidates",
        "given": given,
        "promotion": None,
        "pruning": None,
    }
    if visit.may_change("write"):
        promotion = await visit.api.send(calls.promote(space, _limits(given, "promote"), dry_run=True))
        pruning = await visit.api.send(calls.prune(space, _limits(given, "prune"), dry_run=True))
        model["promotion"], model["pruning"] = [await _plan(visit, space, reply.data) for reply in (promotion, pruning)]
    return page(visit, View("review_candidates.html", model, block="results"))


@post(f"{PATH}/candidates/{{action:str}}")
async def review_candidates(
    request: Request, space: FromPath[str], action: FromPath[str], visit: NamedDependency[Visit]
) -> Response[None]:
    """Promote or prune with the limits of the form."""
    form = {name: str(value) for name, value in (await request.form()).items() if value}
    if action == "promote":
        made, said = await visit.send(calls.promote(space, _limits(form, "promote"))), "promoted"
    elif action == "prune":
        made, said = await visit.send(calls.prune(space, _limits(form, "prune"))), "pruned"
    else:
        raise ClientException("Candidates are promoted or pruned.")
    changed = bool(made.data["items"])
    return done(visit, "review/candidates", said if changed else "unchanged", undo=made.request if changed else None)


def _limits(given: Mapping[str, str], action: str) -> dict[str, Any]:
    """Return the limits of an action among `promote_retrievals` and the like; others are those of the server.

    Raises:
        ClientException: one is no number.
    """
    try:
        return {name: read(given[f"{action}_{name}"]) for name, read in FIELDS.items() if given.get(f"{action}_{name}")}
    except ValueError as error:
        raise ClientException("The limits are numbers.") from error


async def _plan(visit: Visit, space: str, reply: Mapping[str, Any]) -> dict[str, Any]:
    """Return a dry run with its first memories and how often each was retrieved."""
    items = reply["answer"]["items"][:SHOWN]
    uses: Any = await asyncio.gather(*(visit.api.get_telemetry(space, one["id"]) for one in items))
    return {
        "number": reply["changes"],
        "more": reply["answer"]["more"],
        "rows": [(one, use["retrieval_count"]) for one, use in zip(items, uses, strict=True)],
    }


ROUTES = (show_candidates, review_candidates)
