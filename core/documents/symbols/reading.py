"""Answers about the source code of a space: symbols by name, who uses them, what they use, and outlines of files."""

import json
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple, cast

import msgspec
import numpy as np

from muisti.core.conversations.context.counting import counter
from muisti.core.documents.symbols import sql as code
from muisti.core.documents.symbols.indexing import CodeIndex
from muisti.core.documents.symbols.sql import SYMBOL_WIDTH, Seen
from muisti.core.model.choices import (
    EDGE_KINDS,
    MAP_MAX,
    MAP_MIN,
    MENTIONED_MAX,
    SYMBOLS_MAX,
    USES_MAX,
    EdgeKind,
    SymbolKind,
)
from muisti.core.model.code import CodeMap, Outline, Resolution, Symbol, Symbols, Use, Uses
from muisti.core.model.errors import Busy, InvalidInput, NotFound, StoreUnavailable
from muisti.core.model.ids import id_text
from muisti.core.read.reading import find_space
from muisti.core.store.database import Database, Row, Statement
from muisti.core.store.sql.spaces import SpaceRow
from muisti.core.write.calls import Calls

BEING_READ = "they are being read now; ask again in a moment"
CANDIDATES = 1_000  # symbols of a name that are looked at


class Opened(NamedTuple):
    """A space whose code is read, the number of files that are not resolved, and in words what that means."""

    space: SpaceRow
    pending: int
    degraded: tuple[str, ...] = ()

    @property
    def hint(self) -> str:
        """The words for the error about something that is not found."""
        return "; ".join(self.degraded)


def opened(database: Database, index: CodeIndex, name: str) -> Opened:
    """Return a space after its files have been resolved, as far as `catch_up` goes and the database can write."""
    found = find_space(database, name)
    pending = index.pending(found)
    reason = "ask again for all"
    if pending:
        try:
            done = index.catch_up(name)
            pending, reason = (pending, BEING_READ) if done is None else (done.pending, reason)
        except (StoreUnavailable, Busy) as refused:  # read although it takes no writes
            reason = f"the database takes no writes: {refused}"
    told = f"{pending:,} source files are not resolved yet, and the answer lacks what has changed in them; {reason}"
    return Opened(found, pending, (told,) if pending else ())


class Code(msgspec.Struct, frozen=True, kw_only=True):
    """The source code that one caller sees. Every method raises `NotFound` when there is no such space.

    A question first resolves what has changed, as far as `CodeIndex.catch_up` goes.
    """

    calls: Calls
    database: Database
    index: CodeIndex

    def find(
        self, space: str, query: str, *, kind: SymbolKind | None = None, path: str | None = None, limit: int = 20
    ) -> Symbols:
        """Return the symbols of a name, `Client.get` or `file.py:Client.get`; else those whose names contain it.

        `path` is the beginning of a path.
        """
        _check("limit", limit, 1, SYMBOLS_MAX)
        opened, found, seen = self._opened(space)
        place, name = split(query, "name")
        rows = self._rows(code.named(found, name, seen, CANDIDATES))
        rows = rows or self._rows(code.like(found, name, seen, CANDIDATES))
        symbols = [
            one
            for row in rows
            for one in [symbol(row)]
            if (kind is None or one.kind == kind) and one.path.startswith(path or "") and is_at(one.path, place)
        ]
        return Symbols(
            items=tuple(symbols[:limit]),
            total=len(symbols),
            pending=opened.pending,
            degraded=opened.degraded,
            seq=str(found.seq),
        )

    def callers(self, space: str, symbol: str, *, kinds: Sequence[EdgeKind] = ("calls",), limit: int = 100) -> Uses:
        """Return what uses the symbols of a name, by file and line; `file.py:name` names those of a file.

        Raises:
            NotFound: the caller sees no symbol of this name.
        """
        return self._uses(space, symbol, code.callers, kinds, limit)

    def callees(self, space: str, symbol: str, *, kinds: Sequence[EdgeKind] = ("calls",), limit: int = 100) -> Uses:
        """Return what the symbols of a name use, and what is defined inside of them.

        Raises:
            NotFound: the caller sees no symbol of this name.
        """
        return self._uses(space, symbol, code.callees, kinds, limit)

    def outline(self, space: str, path: str) -> Outline:
        """Return the symbols of a file. The end of a path is enough when one file alone has it.

        Raises:
            NotFound: the caller sees no source file of this path.
        """
        opened, found, seen = self._opened(space)
        rows = self._rows(code.file(found, path, seen))
        if not rows:
            hint = opened.hint or "documents in one of the languages of docs/concepts/code.md are read"
            raise NotFound("source file", path, hint)
        row, memory, language, unresolved = cast(tuple[int, bytes, str, int | None], rows[0])
        symbols, imports = self.database.read([code.of_file(found, path, seen), code.imported(row)])
        return Outline(
            path=path,
            document=id_text(memory),
            language=language,
            symbols=tuple(symbol(one) for one in symbols if one[SYMBOL_WIDTH] == row),
            imports=tuple(cast(str, one) for (one,) in imports),
            unresolved=unresolved or 0,
            pending=opened.pending,
            degraded=opened.degraded,
            seq=str(found.seq),
        )

    def map(self, space: str, *, token_budget: int = 1_000, mentioned: Sequence[str] = ()) -> CodeMap:
        """Return the most used definitions as a text of at most `token_budget` tokens of cl100k_base.

        `mentioned` are paths, folders and names of symbols that the map shall be about.
        """
        _check("token_budget", token_budget, MAP_MIN, MAP_MAX)
        if len(mentioned) > MENTIONED_MAX:
            raise InvalidInput.at("$.mentioned", f"has {len(mentioned)} entries; {MENTIONED_MAX} are allowed")
        opened, found, seen = self._opened(space)
        symbols, edges = self.database.read([code.all_symbols(found, seen), code.all_edges(found, seen)])
        drawn = draw(Graph(symbols, edges), mentioned, token_budget, counter().count)
        return CodeMap(**drawn._asdict(), pending=opened.pending, degraded=opened.degraded, seq=str(found.seq))

    def resolve(self, space: str) -> Resolution:
        """Read and resolve all files that have changed since the last time."""
        return self.index.resolve(space)

    def _opened(self, space: str) -> tuple[Opened, SpaceRow, Seen]:
        found = opened(self.database, self.index, space)
        return found, found.space, Seen(self.calls.caller.own_category, self.calls.clock())

    def _uses(
        self, space: str, query: str, ask: Callable[..., Statement], kinds: Sequence[EdgeKind], limit: int
    ) -> Uses:
        _check("limit", limit, 1, USES_MAX)
        if not kinds or not {*kinds} <= {*EDGE_KINDS}:
            raise InvalidInput.at("$.kinds", f"has an unknown kind; those that exist are {', '.join(EDGE_KINDS)}")
        opened, found, seen = self._opened(space)
        place, name = split(query)
        rows = [row for row in self._rows(code.named(found, name, seen, CANDIDATES)) if is_at(cast(str, row[3]), place)]
        if not rows:
            raise NotFound("symbol", query, opened.hint or "find symbols by a part of the name")
        named: Sequence[Any] = [(cast(bytes, row[4]).hex(), row[1]) for row in rows]
        if ask is code.callees:
            named = [row[SYMBOL_WIDTH : SYMBOL_WIDTH + 2] for row in rows]
        uses = self._rows(ask(found, named, kinds, seen, limit))
        total = cast(int, uses[0][-1]) if uses else 0
        return Uses(
            symbols=tuple(map(symbol, rows)),
            items=tuple(map(_use, uses)),
            total=total,
            pending=opened.pending,
            degraded=opened.degraded,
            seq=str(found.seq),
        )

    def _rows(self, statement: Statement) -> list[Row]:
        return self.database.read([statement])[0]


def _check(name: str, value: int, least: int, most: int) -> None:
    if not least <= value <= most:
        raise InvalidInput.at(f"$.{name}", f"is {value}; {least} to {most:,} are allowed")


def split(query: str, field: str = "symbol") -> tuple[str, str]:
    """Split `path:name` into both; the path is empty when there is none.

    >>> split("src/app.py:Client.get"), split("Client::get"), split("Client#get")
    (('src/app.py', 'Client.get'), ('', 'Client.get'), ('', 'Client.get'))
    """
    query = query.strip().replace("::", ".").replace("#", ".").removesuffix("()")
    path, colon, name = query.rpartition(":")
    if not name:
        raise InvalidInput.at(f"$.{field}", "is empty; give a name such as Client.get, or client.py:Client.get")
    return (path, name) if colon else ("", query)


def is_at(path: str, place: str) -> bool:
    """Return whether a path is a place, or ends with it."""
    return not place or path == place or path.endswith(f"/{place}")


def symbol(row: Row) -> Symbol:
    """Read the first columns of a row as a symbol."""
    name, qualified, kind, path, memory, language, start, stop, signature, doc, category = cast(
        tuple[str, str, SymbolKind, str, bytes, str, int, int, str, str, str | None], row[:SYMBOL_WIDTH]
    )
    return Symbol(
        name=name,
        qualified=qualified,
        kind=kind,
        path=path,
        document=id_text(memory),
        language=language,
        start=start,
        end=stop,
        signature=signature,
        doc=doc,
        category=category,
    )


def _use(row: Row) -> Use:
    kind, of, lines, certainty, path, used_in = cast(
        tuple[EdgeKind, str, str, Any, str, str], row[SYMBOL_WIDTH : SYMBOL_WIDTH + 6]
    )
    return Use(
        kind=kind,
        symbol=None if row[0] is None else symbol(row),
        path=path,
        used_in=used_in,
        lines=tuple(json.loads(lines)),
        certainty=certainty,
        of=of,
    )


DAMPING = 0.85
ROUNDS = 60
CLOSE = 1e-7  # change of all ranks at which they are final
MENTIONED = 0.9  # of the rank that starts a round, when something is mentioned
TO_ALL = 0.15  # of the rank of a file that its definitions share, whether they are used or not
LINE = 160  # characters of a line of the map


class _Node(NamedTuple):
    symbol: Symbol
    parent: int  # the place of the definition around it, -1 for none
    depth: int


class Drawn(NamedTuple):
    """A map: its text and tokens, the files and definitions in it, and the number of definitions that there are."""

    text: str
    tokens: int
    files: int
    symbols: int
    of_symbols: int


class Graph:
    """Definitions with what they use, as arrays. Nodes are definitions first, then files.

    The rank of a definition is that of PageRank over uses. A definition passes its rank on to what it uses, a file to
    all that it defines. What the caller mentions gets most of the rank that starts each round.
    """

    def __init__(self, symbols: Sequence[Row], edges: Sequence[Row]) -> None:
        self.nodes: list[_Node] = []
        self._files: dict[int, int] = {}
        places: dict[tuple[int, int], int] = {}
        targets: dict[tuple[bytes, str], int] = {}
        for row in symbols:
            version, number, parent = cast(tuple[int, int, int], row[SYMBOL_WIDTH : SYMBOL_WIDTH + 3])
            around = places.get((version, parent), -1)
            place = places[(version, number)] = len(self.nodes)
            targets.setdefault((cast(bytes, row[4]), cast(str, row[1])), place)
            depth = 0 if around < 0 else self.nodes[around].depth + 1
            self.nodes.append(_Node(symbol(row), around, depth))
            self._files.setdefault(version, len(self._files))
        self.size = len(self.nodes) + len(self._files)
        self._edges = self._arrays(symbols, edges, places, targets)

    def _arrays(
        self,
        symbols: Sequence[Row],
        edges: Sequence[Row],
        places: dict[tuple[int, int], int],
        targets: dict[tuple[bytes, str], int],
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        first = len(self.nodes)
        self._file_of = [first + self._files[cast(int, row[SYMBOL_WIDTH])] for row in symbols]
        sources: list[int] = []
        ends: list[int] = []
        weights: list[float] = []
        for version, scope, memory, name, lines in cast(list[tuple[int, int, bytes, str, int]], edges):
            end = targets.get((memory, name))
            file = self._files.get(version)
            source = places.get((version, scope), None if file is None else first + file)
            if end is not None and source is not None and source != end:
                sources.append(source)
                ends.append(end)
                weights.append(float(np.sqrt(lines)))
        for place, file in enumerate(self._file_of):
            sources += [file, place]
            ends += [place, file]
            weights += [TO_ALL, TO_ALL]
        return np.array(sources, np.int64), np.array(ends, np.int64), np.array(weights)

    def ranks(self, mentioned: Sequence[str]) -> np.ndarray:
        """Return the rank of each definition."""
        if not self.nodes:
            return np.zeros(0)
        sources, ends, weights = self._edges
        out = np.bincount(sources, weights, self.size)
        share = weights / out[sources]
        restart = self._restart(mentioned)
        ranks = restart
        for _ in range(ROUNDS):
            passed = np.bincount(ends, ranks[sources] * share, self.size)
            lost = float(ranks[out == 0].sum())
            after = DAMPING * (passed + lost * restart) + (1 - DAMPING) * restart
            change = float(np.abs(after - ranks).sum())
            ranks = after
            if change < CLOSE:
                break
        return ranks[: len(self.nodes)]

    def _restart(self, mentioned: Sequence[str]) -> np.ndarray:
        restart = np.full(self.size, 1 / self.size)
        about = np.zeros(self.size)
        wanted = [split(one, "mentioned") for one in mentioned if one.strip(" :")]
        for place, node in enumerate(self.nodes):
            one = node.symbol
            if any(_is_named(one, name) and is_at(one.path, path) for path, name in wanted):
                about[place] = 1.0
            if any(is_at(one.path, path) or one.path.startswith(f"{path.rstrip('/')}/") for path in mentioned if path):
                about[self._file_of[place]] = 1.0
        total = float(about.sum())
        return restart if total == 0 else (1 - MENTIONED) * restart + MENTIONED * about / total


def _is_named(one: Symbol, name: str) -> bool:
    return name in (one.name, one.qualified) or one.qualified.endswith(f".{name}")


def draw(graph: Graph, mentioned: Sequence[str], budget: int, count: Callable[[str], int]) -> Drawn:
    """Return the map with the most definitions, best first, that takes at most `budget` tokens."""
    ranks = graph.ranks(mentioned)
    order = np.argsort(-ranks, kind="stable")
    shown: set[int] = set()
    best, tokens = "", 0
    low, high = 0, min(len(order), budget)
    while low < high:
        middle = (low + high + 1) // 2
        text = _text(graph, {int(place) for place in order[:middle]})
        taken = count(text)
        if taken <= budget:
            low, best, tokens = middle, text, taken
            shown = {int(place) for place in order[:middle]}
        else:
            high = middle - 1
    paths = {graph.nodes[place].symbol.path for place in shown}
    return Drawn(text=best, tokens=tokens, files=len(paths), symbols=len(shown), of_symbols=len(graph.nodes))


def _text(graph: Graph, chosen: set[int]) -> str:
    whole: set[int] = set()
    for place in chosen:
        while place >= 0 and place not in whole:
            whole.add(place)
            place = graph.nodes[place].parent
    lines: list[str] = []
    path = None
    for place in sorted(whole):
        node = graph.nodes[place]
        if node.symbol.path != path:
            lines += ([""] if lines else []) + [f"{node.symbol.path}:"]
            path = node.symbol.path
        words = node.symbol.signature or f"{node.symbol.kind} {node.symbol.name}"
        lines.append(f"{'  ' * (node.depth + 1)}{words[:LINE]}")
    return "\n".join(lines)
