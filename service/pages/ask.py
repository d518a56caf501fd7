"""Ask: search as an agent would, see why each memory was found or not, and see the context that an agent would get.

A request is shown as people copy it: the same question for curl, Python, TypeScript, MCP and the command line.
"""

import json
import re
import shlex
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple
from urllib.parse import quote

from litestar import Response
from litestar.exceptions import ValidationException

from muisti.client import MuistiError, calls
from muisti.service.console.answers import Model, does, done, shows
from muisti.service.console.provenance import peek
from muisti.service.console.render import View
from muisti.service.console.visit import Visit
from muisti.service.pages.asking import settings
from muisti.service.pages.asking.hits import Answered, columns
from muisti.service.pages.home import url_of

Body = Mapping[str, Any]


class Snippet(NamedTuple):
    """A text to copy; `note` says what it cannot do."""

    name: str
    text: str
    note: str = ""


@dataclass(frozen=True, slots=True)
class Operation:
    """An operation of the API: its verb, which ends its path, and its name as a tool."""

    verb: str
    tool: str


SEARCH = Operation("search", "recall")
CONTEXT = Operation("context", "get_context")


@dataclass(frozen=True, slots=True)
class Server:
    """The server that a request goes to, its space, and whether it needs a key."""

    url: str
    space: str
    keyed: bool


def snippets(server: Server, operation: Operation, body: Body) -> list[Snippet]:
    """Return the request in all languages. None holds a key: it comes from `MUISTI_KEY`."""
    return [
        Snippet("curl", _curl(server, operation, body)),
        Snippet("Python", _python(server, operation, body)),
        Snippet("TypeScript", _typescript(server, operation, body)),
        _mcp(server, operation, body),
        Snippet("Command line", _command(server, operation, body)),
    ]


def _curl(server: Server, operation: Operation, body: Body) -> str:
    url = f"{server.url}/v1/spaces/{quote(server.space, safe='')}/{operation.verb}"
    key = ' -H "Authorization: Bearer $MUISTI_KEY"' if server.keyed else ""
    return f"curl -s {shlex.quote(url)}{key} --json {shlex.quote(_json(body))}"


def _python(server: Server, operation: Operation, body: Body) -> str:
    note = "  # the key is that of MUISTI_KEY" if server.keyed else ""
    options = "".join(f", {name}={value!r}" for name, value in body.items() if name != "query")
    return (
        "import muisti\n\n"
        f"with muisti.connect({server.url!r}, space={server.space!r}) as memory:{note}\n"
        f"    found = memory.{operation.verb}({body['query']!r}{options})\n"
    )


def _typescript(server: Server, operation: Operation, body: Body) -> str:
    note = " // the key is that of MUISTI_KEY" if server.keyed else ""
    options = {name: value for name, value in body.items() if name != "query"}
    return (
        'import { muisti } from "muisti-client";\n\n'
        f"const memory = muisti({{ url: {_json(server.url)} }}).space({_json(server.space)});{note}\n"
        f"const found = await memory.{operation.verb}({_json(body['query'])}, {_json(options)});\n"
    )


def _mcp(server: Server, operation: Operation, body: Body) -> Snippet:
    """Return the call of a tool. Tools have fewer options than the API; the note names what is left out."""
    call = mcp_call(server, operation, body)
    known = {*TOOL_FIELDS[operation.tool], *RENAMED, "applies", "explain", "highlight", "explain_ids", "no_touch"}
    left = sorted(body.keys() - known)
    group = GROUP_OF.get(operation.tool)
    where = f"The tool {operation.tool} is offered at /mcp?tools=memory,{group}." if group else ""
    without = f"The tool {operation.tool} leaves out: {', '.join(left)}." if left else ""
    note = " ".join(part for part in (where, without) if part)
    return Snippet("MCP", json.dumps({"method": "tools/call", "params": call}, indent=2, ensure_ascii=False), note)


def mcp_call(server: Server, operation: Operation, body: Body) -> Mapping[str, Any]:
    """Return the parameters of the call of a tool, as far as the tool has the options."""
    arguments: dict[str, Any] = {"space": server.space}
    arguments |= {name: body[name] for name in TOOL_FIELDS[operation.tool] if name in body}
    if operation.tool == "recall":
        recency: Mapping[str, Any] = body.get("recency", {})
        renamed = {"weight": "recency_weight", "half_life_days": "half_life_days"}
        arguments |= {renamed[name]: value for name, value in recency.items()}
        if not body.get("applies", True):
            arguments["applies"] = 0
    elif "token_budget" in body:
        arguments["max_tokens"] = body["token_budget"]
    return {"name": operation.tool, "arguments": arguments}


RENAMED = ("recency", "token_budget")  # options that tools call otherwise
GROUP_OF = {"get_context": "conversations"}  # tools that clients are not offered as a rule
TOOL_FIELDS: Mapping[str, Sequence[str]] = {
    "recall": ("query", "limit", "mode", "match", "min_evidence", "filter", "as_of", "no_touch"),
    "get_context": ("query", "encoding", "conversation"),
}


def _command(server: Server, operation: Operation, body: Body) -> str:
    words = ["muisti", operation.verb, "--url", server.url, "--space", server.space]
    options = _search_options(body) if operation is SEARCH else _context_options(body)
    return shlex.join([*words, *options, "--", body["query"]])


def _search_options(body: Body) -> Iterator[str]:
    for name in ("limit", "mode", "match", "fusion", "alpha", "trust_weight", "diversity", "preset"):
        yield from _option(name, body.get(name))
    recency: Mapping[str, Any] = body.get("recency", {})
    yield from _option("recency_weight", recency.get("weight"))
    yield from _option("half_life", recency.get("half_life_days"))
    for name, weight in body.get("rankings", {}).items():
        yield from ("--ranking", f"{name}={weight}")
    for memory_id in body.get("explain_ids", ()):
        yield from ("--why-not", memory_id)
    yield from _option("min_evidence", body.get("min_evidence"))
    yield from _common(body)
    yield from () if body.get("applies", True) else ("--all",)
    yield from (f"--{name}" for name in ("explain", "highlight") if body.get(name))


def _context_options(body: Body) -> Iterator[str]:
    yield from _option("budget", body.get("token_budget"))
    for name in ("encoding", "conversation"):
        yield from _option(name, body.get(name))
    for name, section in (body.get("sections") or {}).items():
        yield from ("--section", f"{name}={section['max_tokens']}" if "max_tokens" in section else name)
    yield from ("--all",) if body.get("min_evidence") == "none" else ()
    yield from _common(body)


def _common(body: Body) -> Iterator[str]:
    yield from _option("as_of", body.get("as_of"))
    if "filter" in body:
        yield from ("--filter", _json(body["filter"]))
    yield from ("--no-touch",) if body.get("no_touch") else ()


def _option(name: str, value: Any) -> Iterator[str]:
    if value is not None:
        yield from ("--" + name.replace("_", "-"), str(value))


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)


ID = re.compile("[0-9a-fA-F-]{36}")
CONVERSATIONS = 50  # names that the form of a context suggests


@shows("ask")
async def show_ask(visit: Visit, space: str) -> View:
    """Show the answer to a question, with one setting or with two side by side."""
    asked = settings.asked_of(visit.asked)
    form = {
        "settings": settings.SETTINGS,
        "types": settings.TYPES,
        "kinds": settings.KINDS,
        "filters": settings.FILTERS,
        "second": settings.SECOND,
    }
    nothing = {"columns": [], "legend": [], "unfiltered": "", "problem": None}
    model: Model = {"asked": asked, **form, **nothing, "asks": asked.ready()}
    try:
        if asked.ready():
            model |= await _found(visit, space, asked)
        else:
            await visit.api.get_space(space)  # another's space is no page, also before a question
    except (settings.Wrong, MuistiError) as error:
        return refused(visit, ("ask.html", "ask"), model, error, asked.values)
    return View("ask.html", model, block="results", headers=_address(visit, "ask", asked.values))


@does("ask/receipt")
async def keep_receipt(visit: Visit, space: str) -> Response[None]:
    """Ask once more and keep a receipt of the answer; show it."""
    asked = settings.asked_of({name: str(value) for name, value in visit.form.multi_items()})
    try:
        body = asked.body() | visit.at | {"receipt": True}
    except settings.Wrong as wrong:
        raise ValidationException(f"{wrong.name} {wrong}") from wrong
    body.pop("explain_ids", None)
    sent = await visit.send(calls.search(space, body))
    return done(visit, f"quality/receipts/{sent.data['receipt']}", "kept")


@shows("ask/context")
async def show_context(visit: Visit, space: str) -> View:
    """Show the text that an agent would get for a question."""
    wanted = settings.wanted_of(visit.asked)
    model: Model = {"wanted": wanted, "choices": [*settings.SECTIONS], "context": None, "copies": [], "problem": None}
    model["conversations"] = ()
    if not visit.is_fragment:
        found = await visit.api.list_conversations(space, limit=CONVERSATIONS, as_of=visit.as_of)
        model["conversations"] = [one["name"] for one in found["items"]]
    try:
        if wanted["q"].strip():
            model |= await _context(visit, space, wanted)
    except (settings.Wrong, MuistiError) as error:
        return refused(visit, ("ask_context.html", "ask/context"), model, error, wanted.values)
    headers = _address(visit, "ask/context", wanted.values)
    return View("ask_context.html", model, block="results", headers=headers)


async def _found(visit: Visit, space: str, asked: settings.Asked) -> Model:
    """Search with each setting of a question."""
    asked = await _expected(visit, space, asked)
    named = {"": "A", settings.SECOND: "B"} if asked.compares else {"": ""}
    answers: list[Answered] = []
    for prefix, name in named.items():
        body = asked.body(prefix) | visit.at
        sent = await visit.send(calls.search(space, body))
        answers.append(Answered(name, sent.data, _copies(visit, space, SEARCH, body)))
    drawn, legend = columns(answers, filtered=bool(asked.filters))
    for one in [each["expected"] for each in drawn if each["expected"]]:
        (one["text"],) = [found.text for found in await peek(visit, [one["id"]])]
    unfiltered = visit.to("ask", **asked.changed(**dict.fromkeys(settings.FILTERS)))
    return {"columns": drawn, "legend": legend, "unfiltered": unfiltered}


async def _expected(visit: Visit, space: str, asked: settings.Asked) -> settings.Asked:
    """Return the question with the id of the memory that was expected, when the page has its words."""
    words = asked["expect"].strip()
    if not words or ID.fullmatch(words):
        return asked
    body = {"query": words, "limit": 1, "no_touch": True, "applies": False, **visit.at}
    found = (await visit.send(calls.search(space, body))).data
    ids = [one["memory"]["id"] for one in found["hits"]]
    return settings.Asked(asked.changed(expect=ids[0] if ids else None))


async def _context(visit: Visit, space: str, wanted: settings.Wanted) -> Model:
    body = wanted.body() | visit.at
    sent = await visit.send(calls.get_context(space, body))
    made = settings.context_view(sent.data)
    more = None
    if made["next_budget"] is not None:
        more = visit.to("ask/context", **{**wanted.values, "budget": str(made["next_budget"])})
    texts = {one.id: one.text for one in await peek(visit, [one["id"] for one in made["left_out"]])}
    return {"context": made, "texts": texts, "copies": _copies(visit, space, CONTEXT, body), "more": more}


def _copies(visit: Visit, space: str, operation: Operation, body: Mapping[str, Any]) -> list[Any]:
    server = Server(url_of(visit), space, keyed=not visit.access["open"])
    return snippets(server, operation, body)


def refused(
    visit: Visit, page: tuple[str, str], model: Model, error: settings.Wrong | MuistiError, values: Mapping[str, str]
) -> View:
    """Draw what is wrong with the question beside its form. `page` is its template and its path.

    Raises:
        MuistiError: it is none of the question, but of the space or of the key.
    """
    if isinstance(error, settings.Wrong):
        problem, status = {"told": "", "errors": [(error.name, str(error))]}, 422
    elif error.status not in (400, 422):
        raise error
    else:
        errors = [(str(one["path"]).removeprefix("$."), str(one["message"])) for one in error.errors]
        problem, status = {"told": "" if errors else str(error), "errors": errors}, error.status
    headers = _address(visit, page[1], values)
    return View(page[0], model | {"problem": problem}, block="results", status=status, headers=headers)


def _address(visit: Visit, path: str, values: Mapping[str, str]) -> dict[str, str]:
    """Return the header by which htmx writes the URL of what is shown, without empty parameters."""
    return {"HX-Replace-Url": visit.to(path, **values)} if visit.is_fragment else {}
