"""Source code among the documents of a space: symbols, callers, callees, outlines, maps."""

from typing import Annotated, cast

from litestar import Response, get
from litestar.di import NamedDependency
from litestar.params import FromPath, QueryParameter

from muisti.core.model.code import CodeMap, Outline, Symbols, Uses
from muisti.core.model.errors import InvalidInput
from muisti.core.model.terms import (
    EDGE_KINDS,
    MAP_MAX,
    MAP_MIN,
    SYMBOL_KINDS,
    SYMBOLS_MAX,
    USES_MAX,
    EdgeKind,
    SymbolKind,
)
from muisti.service.auth.middleware import memories
from muisti.service.http.decode import Request
from muisti.service.http.parameters import between
from muisti.service.http.respond import read
from muisti.service.runtime.workers import Backend
from muisti.service.settings import names_in

NameText = Annotated[
    str,
    QueryParameter(description="A name such as `get`, `Client.get` or `client.py:Client.get`, or a part of a name."),
]
SymbolText = Annotated[str, QueryParameter(description="A name such as `get`, `Client.get` or `client.py:Client.get`.")]
KindParameter = Annotated[str | None, QueryParameter(description="Kind of the symbols.", enum=list(SYMBOL_KINDS))]
KindsParameter = Annotated[
    str | None,
    QueryParameter(description=f"Kinds of uses, with commas: {', '.join(EDGE_KINDS)}. Calls, unless it is given."),
]
BelowParameter = Annotated[str | None, QueryParameter(description="Beginning of the paths of files.")]
PathParameter = Annotated[str, QueryParameter(description="Path of the document.")]
FoundParameter = Annotated[int, between("Symbols at most.", 1, SYMBOLS_MAX)]
UsesParameter = Annotated[int, between("Uses at most.", 1, USES_MAX)]
BudgetParameter = Annotated[
    int,
    between("Tokens of the text at most.", MAP_MIN, MAP_MAX),
]
MentionedParameter = Annotated[
    str | None, QueryParameter(description="Paths, folders and symbols that the map is about, with commas.")
]


@get("/code/symbols", operation_id="findSymbols", tags=["code"], needs="read")
async def find_symbols(
    request: Request,
    space: FromPath[str],
    backend: NamedDependency[Backend],
    name: NameText,
    kind: KindParameter = None,
    path: BelowParameter = None,
    limit: FoundParameter = 20,
) -> Response[Symbols]:
    """Find functions, classes, methods and constants by their name.

    Symbols of exactly this name come first. When there are none, those whose names contain it are found.
    """
    ask = memories(request, backend).code.find
    found = await backend.store(ask, space, name, kind=_symbol_kind(kind), path=path, limit=limit)
    return read(found, found.seq)


@get("/code/callers", operation_id="getCallers", tags=["code"], needs="read")
async def get_callers(
    request: Request,
    space: FromPath[str],
    backend: NamedDependency[Backend],
    symbol: SymbolText,
    kinds: KindsParameter = None,
    limit: UsesParameter = 100,
) -> Response[Uses]:
    """List what calls a symbol, by file and line.

    Names are resolved by scopes, imports and types: an equal name elsewhere is no use. When several symbols have the
    name, `of` says which is used.
    """
    ask = memories(request, backend).code.callers
    found = await backend.store(ask, space, symbol, kinds=_edge_kinds(kinds), limit=limit)
    return read(found, found.seq)


@get("/code/callees", operation_id="getCallees", tags=["code"], needs="read")
async def get_callees(
    request: Request,
    space: FromPath[str],
    backend: NamedDependency[Backend],
    symbol: SymbolText,
    kinds: KindsParameter = None,
    limit: UsesParameter = 100,
) -> Response[Uses]:
    """List what a symbol calls. What is defined inside of it counts: the methods of a class, functions in functions."""
    ask = memories(request, backend).code.callees
    found = await backend.store(ask, space, symbol, kinds=_edge_kinds(kinds), limit=limit)
    return read(found, found.seq)


@get("/code/outline", operation_id="getOutline", tags=["code"], needs="read")
async def get_outline(
    request: Request, space: FromPath[str], backend: NamedDependency[Backend], path: PathParameter
) -> Response[Outline]:
    """List the symbols of a file in order, and the files of the space that it imports."""
    found = await backend.store(memories(request, backend).code.outline, space, path)
    return read(found, found.seq)


@get("/code/map", operation_id="getCodeMap", tags=["code"], needs="read")
async def get_code_map(
    request: Request,
    space: FromPath[str],
    backend: NamedDependency[Backend],
    token_budget: BudgetParameter = 1_000,
    mentioned: MentionedParameter = None,
) -> Response[CodeMap]:
    """Make a text of the definitions that are used most, within a number of tokens.

    Definitions are ranked by PageRank over their uses. `mentioned` draws the rank to files and symbols.
    """
    ask = memories(request, backend).code.map
    found = await backend.store(ask, space, token_budget=token_budget, mentioned=names_in(mentioned))
    return read(found, found.seq)


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


ROUTES = (find_symbols, get_callers, get_callees, get_outline, get_code_map)
