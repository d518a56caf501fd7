"""The tool of source code: symbols by name, what uses them, outlines of files and maps."""

from typing import Any

from muisti.core.model.code import CodeMap, Outline, Symbol, Symbols, Use, Uses
from muisti.core.model.errors import InvalidInput
from muisti.service.mcp.calls import Call, Json, Outcome
from muisti.service.mcp.fence import CONTENT, one_line
from muisti.service.mcp.group_arguments import CodeQuestion
from muisti.service.mcp.rendering import NOTICE, more
from muisti.service.settings import names_in

_SHOWN = 50
_LISTED = 300  # symbols and imports of a file, and lines of a use


async def code(call: Call, given: CodeQuestion) -> Outcome:
    view, store, name = call.memories.code, call.backend.store, given.name
    if given.action == "map":
        budget = given.max_tokens or 1_000
        return _map(await store(view.map, call.space, token_budget=budget, mentioned=names_in(name)))
    if not name:
        raise InvalidInput.at("$.name", f"is required for {given.action}: a symbol, for outline a path")
    if given.action == "find":
        return _found(await store(view.find, call.space, name, limit=_SHOWN))
    if given.action == "outline":
        return _outline(await store(view.outline, call.space, name))
    ask = view.callers if given.action == "callers" else view.callees
    return _uses(await store(ask, call.space, name, limit=_SHOWN))


def _symbol(one: Symbol) -> Json:
    return {
        "name": one_line(one.qualified),
        "kind": one.kind,
        "at": f"{one_line(one.path)}:{one.start}-{one.end}",
        "signature": one_line(one.signature),
        **({"doc": one_line(one.doc)} if one.doc else {}),
    }


def _use(one: Use) -> Json:
    found: Json = {
        "name": None if one.symbol is None else one_line(one.symbol.qualified),
        "path": one_line(one.path),
        "used_in": one_line(one.used_in),
        "lines": list(one.lines[:_LISTED]),
        "of": one_line(one.of),
    }
    return found if one.certainty == "certain" else {**found, "certainty": one.certainty}


def _told(structured: Json, lines: list[str], found: Symbols | Uses | Outline | CodeMap, total: int = 0) -> Outcome:
    """Return an outcome that marks what is stored text, and says what it lacks. `total`: of the lines."""
    marked = [f"{CONTENT}{line}" for line in lines] or ["Nothing."]
    marked += more(total, len(lines))
    if found.pending:
        structured |= {"pending": found.pending, "degraded": list(found.degraded)}
        marked += [f"{each}." for each in found.degraded]
    return Outcome({**structured, "notice": NOTICE}, "\n".join((NOTICE, "", *marked)))


def _listed(rows: list[Json], *names: str) -> list[str]:
    return ["  ".join(str(row[name]) for name in names if row.get(name)) for row in rows]


def _found(found: Symbols) -> Outcome:
    rows = [_symbol(one) for one in found.items]
    lines = _listed(rows, "kind", "name", "at", "signature", "doc")
    return _told({"symbols": rows, "total": found.total}, lines, found, found.total)


def _uses(found: Uses) -> Outcome:
    rows = [_use(one) for one in found.items]
    lines = [f"{row['used_in']}:{_joined(row['lines'])}  {row['name'] or '(file)'}{_defined(row)}" for row in rows]
    symbols = [_symbol(one) for one in found.symbols[:_SHOWN]]
    return _told({"symbols": symbols, "uses": rows, "total": found.total}, lines, found, found.total)


def _defined(row: Json) -> str:
    """Return where a callee is defined, when that is another file than the one that calls it."""
    return "" if row["path"] == row["used_in"] else f"  in {row['path']}"


def _joined(numbers: list[Any]) -> str:
    return ",".join(map(str, numbers))


def _outline(found: Outline) -> Outcome:
    rows = [_symbol(one) for one in found.symbols[:_LISTED]]
    imports = [one_line(path) for path in found.imports[:_LISTED]]
    total = len(found.symbols)
    structured: Json = {"symbols": rows, "imports": imports, "total": total}
    return _told(structured, _listed(rows, "at", "signature"), found, total)


def _map(found: CodeMap) -> Outcome:
    lines = [_indented(line) for line in found.text.splitlines()]
    structured = {"map": "\n".join(lines), "tokens": found.tokens, "symbols": found.symbols, "of": found.of_symbols}
    return _told(structured, lines, found)


def _indented(line: str) -> str:
    words = line.lstrip(" ")
    return " " * (len(line) - len(words)) + one_line(words)
