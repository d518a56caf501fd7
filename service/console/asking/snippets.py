"""A request as people copy it: the same question for curl, Python, TypeScript, MCP and the command line."""

import json
import shlex
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple
from urllib.parse import quote

Body = Mapping[str, Any]


class Snippet(NamedTuple):
    """A text to copy; `note` says what it cannot do."""

    name: str
    text: str
    note: str = ""


@dataclass(frozen=True, slots=True)
class Operation:
    """An operation of the API: the end of its path, and its names in Python and as a tool."""

    path: str
    method: str
    tool: str


SEARCH = Operation("search", "search", "recall")
CONTEXT = Operation("context", "get_context", "get_context")


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
    url = f"{server.url}/v1/spaces/{quote(server.space, safe='')}/{operation.path}"
    key = ' -H "Authorization: Bearer $MUISTI_KEY"' if server.keyed else ""
    return f"curl -s {shlex.quote(url)}{key} --json {shlex.quote(_json(body))}"


def _python(server: Server, operation: Operation, body: Body) -> str:
    imports = "import os\n\n" if server.keyed else ""
    key = ', key=os.environ["MUISTI_KEY"]' if server.keyed else ""
    return (
        f"{imports}from muisti_client import Muisti\n\n"
        f"with Muisti({server.url!r}{key}) as muisti:\n"
        f"    found = muisti.{operation.method}({server.space!r}, {dict(body)!r})\n"
    )


def _typescript(server: Server, operation: Operation, body: Body) -> str:
    key = ", key: process.env.MUISTI_KEY" if server.keyed else ""
    return (
        'import { muisti } from "muisti-client";\n\n'
        f"const client = muisti({{ url: {_json(server.url)}{key} }});\n"
        f'const {{ data, error }} = await client.POST("/v1/spaces/{{space}}/{operation.path}", {{\n'
        f"  params: {{ path: {{ space: {_json(server.space)} }} }},\n"
        f"  body: {_json(body)},\n"
        "});"
    )


def _mcp(server: Server, operation: Operation, body: Body) -> Snippet:
    """Return the call of a tool. Tools have fewer options than the API; the note names what is left out."""
    given = dict(body)
    arguments: dict[str, Any] = {"space": server.space}
    arguments |= {name: given.pop(name) for name in TOOL_FIELDS[operation.tool] if name in given}
    if operation.tool == "recall":
        recency: Mapping[str, Any] = given.pop("recency", {})
        renamed = {"weight": "recency_weight", "half_life_days": "half_life_days"}
        arguments |= {renamed[name]: value for name, value in recency.items()}
        arguments.setdefault("min_evidence", "none")
    elif "token_budget" in given:
        arguments["max_tokens"] = given.pop("token_budget")
    left = sorted(given.keys() - {"explain", "highlight", "explain_ids", "no_touch"})
    group = GROUP_OF.get(operation.tool)
    where = f"The tool {operation.tool} is offered at /mcp?tools=memory,{group}." if group else ""
    without = f"The tool {operation.tool} leaves out: {', '.join(left)}." if left else ""
    note = " ".join(part for part in (where, without) if part)
    call = {"name": operation.tool, "arguments": arguments}
    return Snippet("MCP", json.dumps({"method": "tools/call", "params": call}, indent=2, ensure_ascii=False), note)


GROUP_OF = {"get_context": "conversations"}  # tools that clients are not offered as a rule
TOOL_FIELDS: Mapping[str, Sequence[str]] = {
    "recall": ("query", "limit", "mode", "match", "min_evidence", "filter", "as_of", "no_touch"),
    "get_context": ("query", "encoding", "conversation"),
}


def _command(server: Server, operation: Operation, body: Body) -> str:
    words = ["muisti", operation.path, "--url", server.url, "--space", server.space]
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
    yield "--all"
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
