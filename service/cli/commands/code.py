"""Commands about source code among the documents: find, callers, callees, outline, map."""

from typing import Any

import click

from muisti.client import calls
from muisti.core.model.choices import EDGE_KINDS, SYMBOL_KINDS, SYMBOLS_MAX, USES_MAX
from muisti.service.terminal.base import Globals, Subcommands
from muisti.service.terminal.options import JOINED, choice, integer, option
from muisti.service.terminal.session import ask
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

code = Subcommands(
    "code",
    examples=("muisti code find Client", "muisti code callers Client.get", "muisti code map --budget 2000"),
    help="Find symbols of stored source code, and what uses them.\n\nThe code comes from documents. Names are resolved "
    "by scopes, imports and types.",
)

kinds = choice("--kind kinds", "Kind of use; repeat it for more.  [default: calls]", EDGE_KINDS, **JOINED)
uses = integer("-n --limit", "Uses at most.  [default: 100]", 1, USES_MAX)


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


@code.has("muisti code find Client.get", "muisti code find parse --kind function --json")
@click.argument("name")
@choice("--kind", "Find only symbols of this kind.", SYMBOL_KINDS)
@option("--path", "Beginning of the paths of files.", metavar="TEXT")
@integer("-n --limit", "Symbols at most.  [default: 20]", 1, SYMBOLS_MAX)
def find(options: Globals, **given: Any) -> None:
    """Find functions, classes and methods by their name.

    The name may be qualified, as Client.get, and may say its file, as client.py:Client.get. Where no symbol has the
    name, those whose names contain it are shown. Prints kind, qualified name, file and line, and signature.
    """
    ask(options, lambda space: calls.find_symbols(space, **given), SYMBOLS, reads=True)


@code.has("muisti code callers Client.get", "muisti code callers Base --kind inherits")
@click.argument("symbol")
@kinds
@uses
def callers(options: Globals, **given: Any) -> None:
    """Show what calls a symbol.

    Prints the file and lines of the calls, and the function that they are in.
    """
    ask(options, lambda space: calls.get_callers(space, **given), _with_symbols(CALLERS), reads=True)


@code.has("muisti code callees Client", "muisti code callees main.py:run --json")
@click.argument("symbol")
@kinds
@uses
def callees(options: Globals, **given: Any) -> None:
    """Show what a symbol calls, and what is defined inside of it.

    Prints the file and lines of the calls, the name of each callee, and where it is defined.
    """
    ask(options, lambda space: calls.get_callees(space, **given), _with_symbols(CALLEES), reads=True)


@code.has("muisti code outline src/app.py")
@click.argument("path")
def outline(options: Globals, path: str) -> None:
    """Show the symbols of a file, in order, and the files that it imports."""
    view = View(_outline, lambda data: SYMBOLS.plain({"items": data["symbols"]}))
    ask(options, lambda space: calls.get_outline(space, path=path), view, reads=True)


@code.has("muisti code map --budget 2000", "muisti code map --about src/app.py", name="map")
@integer("--budget token_budget", "Tokens at most.  [default: 1000]", 64, 100_000)
@option("--about mentioned", "Path, folder or symbol that matters; repeat it.", metavar="TEXT", **JOINED)
def map_(options: Globals, **given: Any) -> None:
    """Show the most used definitions, within a number of tokens.

    Definitions are ranked by who uses them. With --about, what those files and symbols use comes first.
    """
    view = View(_map, lambda data: data["text"].splitlines())
    ask(options, lambda space: calls.get_code_map(space, **given), view, reads=True)


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
