"""Maps of repositories: the definitions that are used most, within a number of tokens.

The rank of a definition is that of PageRank over uses. A definition passes its rank on to what it uses, a file to all
that it defines. What the caller mentions gets most of the rank that starts each round, so that the map is about it.
"""

from collections.abc import Callable, Sequence
from typing import NamedTuple, cast

import numpy as np

from muisti.core.documents.symbols.reading import is_at, split, symbol
from muisti.core.documents.symbols.sql import SYMBOL_WIDTH
from muisti.core.model.code import Symbol
from muisti.core.store.database import Row

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
    """Definitions with what they use, as arrays. Nodes are definitions first, then files."""

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
        anew = self._anew(mentioned)
        ranks = anew
        for _ in range(ROUNDS):
            passed = np.bincount(ends, ranks[sources] * share, self.size)
            lost = float(ranks[out == 0].sum())
            after = DAMPING * (passed + lost * anew) + (1 - DAMPING) * anew
            change = float(np.abs(after - ranks).sum())
            ranks = after
            if change < CLOSE:
                break
        return ranks[: len(self.nodes)]

    def _anew(self, mentioned: Sequence[str]) -> np.ndarray:
        anew = np.full(self.size, 1 / self.size)
        about = np.zeros(self.size)
        wanted = [split(one, "mentioned") for one in mentioned if one.strip(" :")]
        for place, node in enumerate(self.nodes):
            one = node.symbol
            if any(_is_named(one, name) and is_at(one.path, path) for path, name in wanted):
                about[place] = 1.0
            if any(is_at(one.path, path) or one.path.startswith(f"{path.rstrip('/')}/") for path in mentioned if path):
                about[self._file_of[place]] = 1.0
        total = float(about.sum())
        return anew if total == 0 else (1 - MENTIONED) * anew + MENTIONED * about / total


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
    """Return the chosen definitions by file, each below those around it."""
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
