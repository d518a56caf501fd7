"""Commands about source code among the documents: find, callers, callees, outline, map."""

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

import click

from muisti.client import Call, calls
from muisti.core.model.terms import EDGE_KINDS, SYMBOL_KINDS, SYMBOLS_MAX, USES_MAX
from muisti.service.cli.base import Globals, Subcommands
from muisti.service.cli.options import choice, integer, option
from muisti.service.cli.output import talk
from muisti.service.cli.session import ask
from muisti.service.cli.views import View, cell, grid, stack, tabbed

if TYPE_CHECKING:
    from rich.console import RenderableType
    from rich.text import Text

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

kinds = choice("--kind kinds", "Kind of use; repeat it for more.  [default: calls]", EDGE_KINDS, multiple=True)
uses = integer("-n --limit", "Uses at most.  [default: 100]", 1, USES_MAX)


def _ask(options: Globals, request: Callable[[str], Call], view: View) -> None:
    """Print an answer, and what of the code is not read yet."""
    for each in ask(options, request, view, reads=True)["degraded"]:
        talk(f"Note: {each}.")


def _uses_view(*, by_user: bool) -> View:
    return View(
        lambda data: _uses(data, by_user=by_user),
        lambda data: [_use_line(one, by_user=by_user) for one in data["items"]],
        "Nothing in the stored code.",
    )


def _given(kinds: tuple[str, ...], limit: int | None) -> dict[str, Any]:
    return {"kinds": ",".join(kinds) or None, "limit": limit}


@code.has("muisti code find Client.get", "muisti code find parse --kind function --json")
@click.argument("name")
@choice("--kind", "Find only symbols of this kind.", SYMBOL_KINDS)
@option("--path", "Beginning of the paths of files.", metavar="TEXT")
@integer("-n --limit", "Symbols at most.  [default: 20]", 1, SYMBOLS_MAX)
def find(options: Globals, name: str, **given: Any) -> None:
    """Find functions, classes and methods by their name.

    The name may be qualified, as Client.get, and may say its file, as client.py:Client.get. Where no symbol has the
    name, those whose names contain it are shown. Prints kind, qualified name, file and line, and signature.
    """
    view = View(_symbols, lambda data: [_line(one) for one in data["items"]], "No such symbol.")
    _ask(options, lambda space: calls.find_symbols(space, name=name, **given), view)


@code.has("muisti code callers Client.get", "muisti code callers Base --kind inherits")
@click.argument("symbol")
@kinds
@uses
def callers(options: Globals, symbol: str, kinds: tuple[str, ...], limit: int | None) -> None:
    """Show what calls a symbol.

    Prints the file and lines of the calls, and the function that they are in.
    """
    given = _given(kinds, limit)
    _ask(options, lambda space: calls.get_callers(space, symbol=symbol, **given), _uses_view(by_user=True))


@code.has("muisti code callees Client", "muisti code callees main.py:run --json")
@click.argument("symbol")
@kinds
@uses
def callees(options: Globals, symbol: str, kinds: tuple[str, ...], limit: int | None) -> None:
    """Show what a symbol calls, and what is defined inside of it.

    Prints the file and lines of the calls, the name of each callee, and where it is defined.
    """
    given = _given(kinds, limit)
    _ask(options, lambda space: calls.get_callees(space, symbol=symbol, **given), _uses_view(by_user=False))


@code.has("muisti code outline src/app.py")
@click.argument("path")
def outline(options: Globals, path: str) -> None:
    """Show the symbols of a file, in order, and the files that it imports."""
    view = View(_outline, lambda data: [_line(one) for one in data["symbols"]])
    _ask(options, lambda space: calls.get_outline(space, path=path), view)


@code.has("muisti code map --budget 2000", "muisti code map --about src/app.py", name="map")
@integer("--budget", "Tokens at most.  [default: 1000]", 64, 100_000)
@option("--about mentioned", "Path, folder or symbol that matters; repeat it.", metavar="TEXT", multiple=True)
def map_(options: Globals, budget: int | None, mentioned: tuple[str, ...]) -> None:
    """Show the most used definitions, within a number of tokens.

    Definitions are ranked by who uses them. With --about, what those files and symbols use comes first.
    """
    about = ",".join(mentioned) or None
    view = View(_map, lambda data: data["text"].splitlines())
    _ask(options, lambda space: calls.get_code_map(space, mentioned=about, token_budget=budget), view)


def _place(one: Mapping[str, Any]) -> str:
    return f"{one['path']}:{one['start']}"


def _line(one: Mapping[str, Any]) -> str:
    return tabbed(one["kind"], one["qualified"], _place(one), one["signature"])


def _use_line(one: Mapping[str, Any], *, by_user: bool) -> str:
    """Return who uses whom; of callees, `of` is the user."""
    name = "" if one["symbol"] is None else one["symbol"]["qualified"]
    user, used = (name, one["of"]) if by_user else (one["of"], name)
    row = (f"{one['used_in']}:{_lines(one)}", user, one["kind"], used, one["certainty"])
    return tabbed(*row) if by_user else tabbed(*row, _defined(one))


def _defined(one: Mapping[str, Any]) -> str:
    return one["path"] if one["symbol"] is None else _place(one["symbol"])


def _lines(one: Mapping[str, Any]) -> str:
    return ",".join(str(line) for line in one["lines"])


def _name(one: Mapping[str, Any] | None) -> "Text":
    return cell("(file)", "dim") if one is None else cell(one["qualified"], COLOURS.get(one["kind"], "white"))


def _symbols(data: Mapping[str, Any]) -> "RenderableType":
    table = grid(None, "kind", "name", "where", "signature")
    for one in data["items"]:
        words = stack(cell(one["signature"]), cell(one["doc"], "dim")) if one["doc"] else cell(one["signature"])
        table.add_row(cell(one["kind"], "dim"), _name(one), cell(_place(one), "blue"), words)
    rest = data["total"] - len(data["items"])
    return stack(table, *([cell(f"{rest:,} more; --limit shows them.", "dim")] if rest > 0 else []))


def _uses(data: Mapping[str, Any], *, by_user: bool) -> "RenderableType":
    heads = [cell("") + _name(one) + cell(f"  {_place(one)}", "dim") for one in data["symbols"]]
    columns = ("caller",) if by_user else ("callee", "defined")
    table = grid(None, "where", "lines", *columns, "kind")
    for one in data["items"]:
        kind = one["kind"] + ("" if one["certainty"] == "certain" else f" ({one['certainty']})")
        defined = () if by_user else (cell(_defined(one), "blue"),)
        where = cell(one["used_in"], "blue")
        table.add_row(where, cell(_lines(one)), _name(one["symbol"]), *defined, cell(kind, "dim"))
    rest = data["total"] - len(data["items"])
    return stack(*heads, table, *([cell(f"{rest:,} more; --limit shows them.", "dim")] if rest > 0 else []))


def _outline(data: Mapping[str, Any]) -> "RenderableType":
    parts = [cell(data["path"], "bold") + cell(f"  {data['language']}", "dim")]
    for one in data["symbols"]:
        depth = one["qualified"].count(".")
        words = one["signature"] or one["qualified"]
        parts.append(cell(f"{one['start']:>6}  {'  ' * depth}", "dim") + cell(words, COLOURS.get(one["kind"], "white")))
    parts += [cell(f"imports {path}", "dim") for path in data["imports"]]
    return stack(*parts)


def _map(data: Mapping[str, Any]) -> "RenderableType":
    head = f"{data['tokens']:,} tokens, {data['symbols']:,} of {data['of_symbols']:,} definitions"
    lines = [cell(one, "" if one.startswith(" ") else "blue") for one in data["text"].splitlines()]
    return stack(*lines, cell(head, "dim"))
