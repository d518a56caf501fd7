"""Commands about source code among the documents: find, callers, callees, outline, map."""

from muisti.client import calls
from muisti.core.model.choices import EDGE_KINDS
from muisti.service.terminal.calling import Operations
from muisti.service.terminal.options import JOINED, choice, option
from muisti.service.terminal.views import Field, Row, Shown, Text, View, cell, dim, listed, rest, stack

COLOURS = {
    "class": "yellow",
    "interface": "yellow",
    "type": "yellow",
    "object": "yellow",
    "function": "green",
    "method": "cyan",
    "constant": "magenta",
}

code = Operations(
    "code",
    examples=("muisti code find Client", "muisti code callers Client.get", "muisti code map --budget 2000"),
    help="Find symbols of stored source code, and what uses them.\n\nThe code comes from documents. Names are resolved "
    "by scopes, imports and types.",
)

KINDS = choice("--kind kinds", "Kind of use; repeat it for more.  [default: calls]", EDGE_KINDS, **JOINED)


def _place(one: Row) -> str:
    return f"{one['path']}:{one['start']}"


def _lines(one: Row) -> str:
    return ",".join(map(str, one["lines"]))


def _defined(one: Row) -> str:
    return one["path"] if one["symbol"] is None else _place(one["symbol"])


def _user(one: Row) -> str:
    return "" if one["symbol"] is None else one["symbol"]["qualified"]


def _used_in(one: Row) -> str:
    return f"{one['used_in']}:{_lines(one)}"


def _name(one: Row | None) -> Text:
    return cell("(file)", "dim") if one is None else cell(one["qualified"], COLOURS.get(one["kind"], "white"))


def _words(one: Row) -> Shown:
    return stack(cell(one["signature"]), cell(one["doc"], "dim")) if one["doc"] else cell(one["signature"])


def _kind(one: Row) -> Text:
    return cell(one["kind"] + ("" if one["certainty"] == "certain" else f" ({one['certainty']})"), "dim")


SYMBOLS = listed(
    {"kind": dim("kind"), "name": _name, "where": lambda one: cell(_place(one), "blue"), "signature": _words},
    ("kind", "qualified", _place, "signature"),
    none="No such symbol.",
    note=rest,
)
USES: dict[str, Field] = {"where": lambda one: cell(one["used_in"], "blue"), "lines": _lines}
NONE = "Nothing in the stored code."
CALLERS = listed(
    {**USES, "caller": lambda one: _name(one["symbol"]), "kind": _kind},
    (_used_in, _user, "kind", "of", "certainty"),
    none=NONE,
    note=rest,
)
CALLEES = listed(
    {
        **USES,
        "callee": lambda one: _name(one["symbol"]),
        "defined": lambda one: cell(_defined(one), "blue"),
        "kind": _kind,
    },
    (_used_in, "of", "kind", _user, "certainty", _defined),
    none=NONE,
    note=rest,
)


def _with_symbols(view: View) -> View:
    return view._replace(
        table=lambda data: stack(
            *(_name(one) + cell(f"  {_place(one)}", "dim") for one in data["symbols"]), view.table(data)
        )
    )


def _outline(data: Row) -> Shown:
    parts = [cell(data["path"], "bold") + cell(f"  {data['language']}", "dim")]
    for one in data["symbols"]:
        depth = one["qualified"].count(".")
        words = one["signature"] or one["qualified"]
        parts.append(cell(f"{one['start']:>6}  {'  ' * depth}", "dim") + cell(words, COLOURS.get(one["kind"], "white")))
    parts += [cell(f"imports {path}", "dim") for path in data["imports"]]
    return stack(*parts)


def _map(data: Row) -> Shown:
    head = f"{data['tokens']:,} tokens, {data['symbols']:,} of {data['of_symbols']:,} definitions"
    lines = [cell(one, "" if one.startswith(" ") else "blue") for one in data["text"].splitlines()]
    return stack(*lines, cell(head, "dim"))


code.call(
    "find NAME --kind --path -n,--limit",
    calls.find_symbols,
    SYMBOLS,
    "muisti code find Client.get",
    "muisti code find parse --kind function --json",
    help="""Find functions, classes and methods by their name.

    The name may be qualified, as Client.get, and may say its file, as client.py:Client.get. Where no symbol has the
    name, those whose names contain it are shown. Prints kind, qualified name, file and line, and signature.
    """,
    texts={"kind": "Find only symbols of this kind."},
)
code.call(
    "callers SYMBOL -n,--limit",
    calls.get_callers,
    _with_symbols(CALLERS),
    "muisti code callers Client.get",
    "muisti code callers Base --kind inherits",
    prints="the file and lines of the calls, and the function that they are in",
    more=(KINDS,),
)
code.call(
    "callees SYMBOL -n,--limit",
    calls.get_callees,
    _with_symbols(CALLEES),
    "muisti code callees Client",
    "muisti code callees main.py:run --json",
    help="Show what a symbol calls, and what is defined inside of it.",
    prints="the file and lines of the calls, the name of each callee, and where it is defined",
    more=(KINDS,),
)
code.call(
    "outline PATH",
    calls.get_outline,
    View(_outline, lambda data: SYMBOLS.plain({"items": data["symbols"]})),
    "muisti code outline src/app.py",
)
code.call(
    "map --budget=token_budget",
    calls.get_code_map,
    View(_map, lambda data: data["text"].splitlines()),
    "muisti code map --budget 2000",
    "muisti code map --about src/app.py",
    help="""Show the most used definitions, within a number of tokens.

    Definitions are ranked by who uses them. With --about, what those files and symbols use comes first.
    """,
    more=(option("--about mentioned", "Path, folder or symbol that matters; repeat it.", metavar="TEXT", **JOINED),),
)
