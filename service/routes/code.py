"""Source code among the documents of a space: symbols, callers, callees, outlines, maps."""

from typing import Annotated, cast

from litestar import Response

from muisti.core.model.choices import (
    EDGE_KINDS,
    MAP_MAX,
    MAP_MIN,
    SYMBOL_KINDS,
    SYMBOLS_MAX,
    USES_MAX,
    EdgeKind,
    SymbolKind,
)
from muisti.core.model.code import CodeMap, Outline, Symbols, Uses
from muisti.core.model.errors import InvalidInput
from muisti.service.http.parameters import between, query
from muisti.service.http.request import Request
from muisti.service.http.respond import answered
from muisti.service.http.routing import Routes
from muisti.service.settings import names_in

routes = Routes("code")

NameText = Annotated[str, query("A name such as `get`, `Client.get` or `client.py:Client.get`, or a part of a name.")]
SymbolText = Annotated[str, query("A name such as `get`, `Client.get` or `client.py:Client.get`.")]
KindParameter = Annotated[str | None, query("Kind of the symbols.", enum=SYMBOL_KINDS)]
KindsParameter = Annotated[
    str | None, query(f"Kinds of uses, with commas: {', '.join(EDGE_KINDS)}. Calls, unless it is given.")
]
BelowParameter = Annotated[str | None, query("Beginning of the paths of files.")]
PathParameter = Annotated[str, query("Path of the document.")]
FoundParameter = Annotated[int, between("Symbols at most.", 1, SYMBOLS_MAX)]
UsesParameter = Annotated[int, between("Uses at most.", 1, USES_MAX)]
BudgetParameter = Annotated[int, between("Tokens of the text at most.", MAP_MIN, MAP_MAX)]
MentionedParameter = Annotated[str | None, query("Paths, folders and symbols that the map is about, with commas.")]


@routes.get("/code/symbols", needs="read")
async def find_symbols(
    request: Request,
    name: NameText,
    kind: KindParameter = None,
    path: BelowParameter = None,
    limit: FoundParameter = 20,
) -> Response[Symbols]:
    """Find functions, classes, methods and constants by their name.

    Symbols of exactly this name come first. When there are none, those whose names contain it are found.
    """
    return await answered(request, request.memories.code.find, name, kind=_symbol_kind(kind), path=path, limit=limit)


@routes.get("/code/callers", needs="read")
async def get_callers(
    request: Request, symbol: SymbolText, kinds: KindsParameter = None, limit: UsesParameter = 100
) -> Response[Uses]:
    """List what calls a symbol, by file and line.

    Names are resolved by scopes, imports and types: an equal name elsewhere is no use. When several symbols have the
    name, `of` says which is used.
    """
    return await answered(request, request.memories.code.callers, symbol, kinds=_edge_kinds(kinds), limit=limit)


@routes.get("/code/callees", needs="read")
async def get_callees(
    request: Request, symbol: SymbolText, kinds: KindsParameter = None, limit: UsesParameter = 100
) -> Response[Uses]:
    """List what a symbol calls. What is defined inside of it counts: the methods of a class, functions in functions."""
    return await answered(request, request.memories.code.callees, symbol, kinds=_edge_kinds(kinds), limit=limit)


@routes.get("/code/outline", needs="read")
async def get_outline(request: Request, path: PathParameter) -> Response[Outline]:
    """List the symbols of a file in order, and the files of the space that it imports."""
    return await answered(request, request.memories.code.outline, path)


@routes.get("/code/map", needs="read")
async def get_code_map(
    request: Request, token_budget: BudgetParameter = 1_000, mentioned: MentionedParameter = None
) -> Response[CodeMap]:
    """Make a text of the definitions that are used most, within a number of tokens.

    Definitions are ranked by PageRank over their uses. `mentioned` draws the rank to files and symbols.
    """
    return await answered(request, request.memories.code.map, token_budget=token_budget, mentioned=names_in(mentioned))


def _symbol_kind(text: str | None) -> SymbolKind | None:
    if text is not None and text not in SYMBOL_KINDS:
        raise InvalidInput.at("$.kind", f"{text[:80]!r} is none of {', '.join(SYMBOL_KINDS)}")
    return cast("SymbolKind | None", text)


def _edge_kinds(text: str | None) -> tuple[EdgeKind, ...]:
    """Read kinds of uses with commas between; only calls when there is none."""
    names = names_in(text) or ("calls",)
    if unknown := [name for name in names if name not in EDGE_KINDS]:
        raise InvalidInput.at("$.kinds", f"{unknown[0][:80]!r} is none of {', '.join(EDGE_KINDS)}")
    return cast(tuple[EdgeKind, ...], names)
