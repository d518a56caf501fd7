"""Ask: search as an agent would, see why each memory was found or not, and see the context that an agent would get."""

from collections.abc import Mapping
from typing import Any

from litestar import Response
from litestar.exceptions import ValidationException

from muisti.client import MuistiError, calls
from muisti.service.console.answers import Model, does, done, shows
from muisti.service.console.asking.contexts import SECTIONS, Wanted, context_view, wanted_of
from muisti.service.console.asking.hits import Answered, columns
from muisti.service.console.asking.settings import FILTERS, KINDS, SECOND, SETTINGS, TYPES, Asked, Wrong, asked_of
from muisti.service.console.asking.snippets import CONTEXT, SEARCH, Operation, Server, snippets
from muisti.service.console.pages.home import url_of
from muisti.service.console.render import View
from muisti.service.console.visit import Visit

CONVERSATIONS = 50  # names that the form of a context suggests


@shows("ask", long=True)
async def show_ask(visit: Visit, space: str) -> View:
    """Show the answer to a question, with one setting or with two side by side."""
    asked = asked_of(visit.request.query_params)
    form = {"settings": SETTINGS, "types": TYPES, "kinds": KINDS, "filters": FILTERS, "second": SECOND}
    nothing = {"columns": [], "legend": [], "unfiltered": "", "problem": None}
    model: Model = {"asked": asked, **form, **nothing, "asks": asked.ready()}
    try:
        if asked.ready():
            model |= await _found(visit, space, asked)
        else:
            await visit.api.get_space(space)  # another's space is no page, also before a question
    except (Wrong, MuistiError) as error:
        return _refused(visit, "ask.html", model, error, asked.values)
    return View("ask.html", model, block="results", headers=_address(visit, "ask", asked.values))


@does("ask/receipt")
async def keep_receipt(visit: Visit, space: str) -> Response[None]:
    """Ask once more and keep a receipt of the answer; show it."""
    asked = asked_of({name: str(value) for name, value in visit.form.multi_items()})
    try:
        body = asked.body() | visit.at | {"receipt": True}
    except Wrong as wrong:
        raise ValidationException(f"{wrong.name} {wrong}") from wrong
    body.pop("explain_ids", None)
    sent = await visit.send(calls.search(space, body))
    return done(visit, f"quality/receipts/{sent.data['receipt']}", "kept")


@shows("ask/context", long=True)
async def show_context(visit: Visit, space: str) -> View:
    """Show the text that an agent would get for a question."""
    wanted = wanted_of(visit.request.query_params)
    model: Model = {"wanted": wanted, "choices": [*SECTIONS], "context": None, "copies": [], "problem": None}
    model["conversations"] = () if visit.is_fragment else await _conversations(visit, space)
    try:
        if wanted["q"].strip():
            model |= await _context(visit, space, wanted)
    except (Wrong, MuistiError) as error:
        return _refused(visit, "ask_context.html", model, error, wanted.values)
    headers = _address(visit, "ask/context", wanted.values)
    return View("ask_context.html", model, block="results", headers=headers)


async def _found(visit: Visit, space: str, asked: Asked) -> Model:
    """Search with each setting of a question."""
    named = {"": "A", SECOND: "B"} if asked.compares else {"": ""}
    answers: list[Answered] = []
    for prefix, name in named.items():
        body = asked.body(prefix) | visit.at
        sent = await visit.send(calls.search(space, body))
        answers.append(Answered(name, sent.data, _copies(visit, space, SEARCH, body)))
    drawn, legend = columns(answers, filtered=bool(asked.filters))
    unfiltered = visit.to("ask", **asked.changed(**dict.fromkeys(FILTERS)))
    return {"columns": drawn, "legend": legend, "unfiltered": unfiltered}


async def _context(visit: Visit, space: str, wanted: Wanted) -> Model:
    body = wanted.body() | visit.at
    sent = await visit.send(calls.get_context(space, body))
    made = context_view(sent.data)
    more = None
    if made.next_budget is not None:
        more = visit.to("ask/context", **{**wanted.values, "budget": str(made.next_budget)})
    return {"context": made, "copies": _copies(visit, space, CONTEXT, body), "more": more}


async def _conversations(visit: Visit, space: str) -> list[str]:
    found = await visit.api.list_conversations(space, limit=CONVERSATIONS, as_of=visit.as_of)
    return [one["name"] for one in found["items"]]


def _copies(visit: Visit, space: str, operation: Operation, body: Mapping[str, Any]) -> list[Any]:
    server = Server(url_of(visit), space, keyed=not visit.access["open"])
    return snippets(server, operation, body)


def _refused(visit: Visit, template: str, model: Model, error: Wrong | MuistiError, values: Mapping[str, str]) -> View:
    """Draw what is wrong with the question beside its form.

    Raises:
        MuistiError: it is none of the question, but of the space or of the key.
    """
    if isinstance(error, Wrong):
        problem, status = {"told": "", "errors": [(error.name, str(error))]}, 422
    elif error.status not in (400, 422):
        raise error
    else:
        errors = [(str(one["path"]).removeprefix("$."), str(one["message"])) for one in error.errors]
        problem, status = {"told": "" if errors else str(error), "errors": errors}, error.status
    path = "ask" if template == "ask.html" else "ask/context"
    headers = _address(visit, path, values)
    return View(template, model | {"problem": problem}, block="results", status=status, headers=headers)


def _address(visit: Visit, path: str, values: Mapping[str, str]) -> dict[str, str]:
    """Return the header by which htmx writes the URL of what is shown, without empty parameters."""
    return {"HX-Replace-Url": visit.to(path, **values)} if visit.is_fragment else {}
