"""Source code among the documents of a space: symbols, what uses them and what they use, outlines and maps."""

from collections.abc import Sequence

import msgspec

from muisti.core.conversations.context.counting import counter
from muisti.core.documents.symbols import sql as code
from muisti.core.documents.symbols.indexing import CodeIndex
from muisti.core.documents.symbols.mapping import Graph, draw
from muisti.core.documents.symbols.reading import CodeReader
from muisti.core.documents.symbols.sql import Seen
from muisti.core.model.code import CodeMap, Outline, Resolution, Symbols, Uses
from muisti.core.model.errors import InvalidInput
from muisti.core.model.terms import MAP_MAX, MAP_MIN, MENTIONED_MAX, SYMBOLS_MAX, USES_MAX, EdgeKind, SymbolKind
from muisti.core.store.database import Database
from muisti.core.views.calls import Calls


class CodeParts(msgspec.Struct, frozen=True, kw_only=True):
    """Parts that `Code` uses."""

    database: Database
    index: CodeIndex
    reader: CodeReader


class Code:
    """The source code that one caller sees. Every method raises `NotFound` when there is no such space."""

    __slots__ = ("_calls", "_parts")

    def __init__(self, parts: CodeParts, calls: Calls) -> None:
        self._parts = parts
        self._calls = calls

    def find(
        self, space: str, query: str, *, kind: SymbolKind | None = None, path: str | None = None, limit: int = 20
    ) -> Symbols:
        """Return the symbols of a name, `Client.get` or `file.py:Client.get`; else those whose names contain it."""
        _check("limit", limit, 1, SYMBOLS_MAX)
        return self._parts.reader.find(
            space, query, self._calls.caller, self._calls.clock(), kind=kind, path=path, limit=limit
        )

    def callers(self, space: str, symbol: str, *, kinds: Sequence[EdgeKind] = ("calls",), limit: int = 100) -> Uses:
        """Return what uses the symbols of a name, by file and line.

        Raises:
            NotFound: the caller sees no symbol of this name.
        """
        _check("limit", limit, 1, USES_MAX)
        return self._parts.reader.callers(
            space, symbol, self._calls.caller, self._calls.clock(), kinds=kinds, limit=limit
        )

    def callees(self, space: str, symbol: str, *, kinds: Sequence[EdgeKind] = ("calls",), limit: int = 100) -> Uses:
        """Return what the symbols of a name use, and what is defined inside of them.

        Raises:
            NotFound: the caller sees no symbol of this name.
        """
        _check("limit", limit, 1, USES_MAX)
        return self._parts.reader.callees(
            space, symbol, self._calls.caller, self._calls.clock(), kinds=kinds, limit=limit
        )

    def outline(self, space: str, path: str) -> Outline:
        """Return the symbols of a file, in order.

        Raises:
            NotFound: the caller sees no source file of this path.
        """
        return self._parts.reader.outline(space, path, self._calls.caller, self._calls.clock())

    def map(self, space: str, *, token_budget: int = 1_000, mentioned: Sequence[str] = ()) -> CodeMap:
        """Return the most used definitions as a text of at most `token_budget` tokens of cl100k_base.

        `mentioned` are paths, folders and names of symbols that the map shall be about.
        """
        _check("token_budget", token_budget, MAP_MIN, MAP_MAX)
        if len(mentioned) > MENTIONED_MAX:
            raise InvalidInput.at("$.mentioned", f"has {len(mentioned)} entries; {MENTIONED_MAX} are allowed")
        opened = self._parts.reader.opened(space)
        found = opened.space
        seen = Seen(self._calls.caller.own_category, self._calls.clock())
        symbols, edges = self._parts.database.read([code.all_symbols(found, seen), code.all_edges(found, seen)])
        drawn = draw(Graph(symbols, edges), mentioned, token_budget, counter().count)
        return CodeMap(**drawn._asdict(), pending=opened.pending, degraded=opened.degraded, seq=str(found.seq))

    def resolve(self, space: str) -> Resolution:
        """Read and resolve all files that have changed since the last time."""
        return self._parts.index.resolve(space)


def _check(name: str, value: int, least: int, most: int) -> None:
    if not least <= value <= most:
        raise InvalidInput.at(f"$.{name}", f"is {value}; {least} to {most:,} are allowed")
