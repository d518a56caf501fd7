"""The building of a record from syntax nodes in the order of the text, with the scopes that are open."""

from collections.abc import Iterable, Mapping
from functools import cache
from importlib import import_module
from typing import TYPE_CHECKING, Any

from muisti.core.parsing.code.grammars import load, parse
from muisti.core.parsing.code.records import TOP, Binding, Chain, Definition, Export, Form, Kind, Mention, Record, Use

if TYPE_CHECKING:
    from tree_sitter import Node

SIGNATURE = 240  # characters of a signature
DOC = 200
LONGEST_CHAIN = 24
DEEPEST = 1_000  # levels of a syntax tree that are read; a cursor that goes below 65,535 takes quadratic time


@cache
def _query(language: str, patterns: str) -> Any:
    tree_sitter: Any = import_module("tree_sitter")
    return tree_sitter.Query(load(language), patterns)


def nodes(source: bytes, language: str, patterns: str, order: Mapping[str, int]) -> list[tuple[str, "Node"]]:
    """Return the captured nodes of a file with the names of their captures, outer before inner, by their place.

    `order` decides between captures of one node.
    """
    tree_sitter: Any = import_module("tree_sitter")
    cursor = tree_sitter.QueryCursor(_query(language, patterns))
    cursor.set_max_start_depth(DEEPEST)
    captured = cursor.captures(parse(source, language).root_node)
    found = [
        (node.start_byte, -node.end_byte, order.get(name, 9), number, name, node)
        for name, group in captured.items()
        for number, node in enumerate(group)
    ]
    found.sort(key=lambda one: one[:5])
    return [(name, node) for *_, name, node in found]


def text(node: "Node | None") -> str:
    """Return the source text of a node, empty for none."""
    return "" if node is None or node.text is None else node.text.decode("utf-8", "replace")


class Builder:
    """Collects the parts of a record. The open scopes are a stack of numbers of definitions, with where they end."""

    def __init__(self, path: str, language: str, source: bytes) -> None:
        self.path, self.language, self.source = path, language, source
        self.definitions: list[Definition] = []
        self.bindings: list[Binding] = []
        self.mentions: list[Mention] = []
        self.imports: list[tuple[str, int]] = []
        self.stars: list[str] = []
        self.exports: list[Export] = []
        self.gives: dict[int, list[Chain]] = {}
        self.package = ""
        self._open: list[tuple[int, int]] = [(TOP, len(source) + 1)]

    def enter(self, at: int) -> int:
        """Close the scopes that end before a place. Return the innermost one that is open there."""
        while len(self._open) > 1 and self._open[-1][1] <= at:
            self._open.pop()
        return self._open[-1][0]

    def kind(self, scope: int) -> str:
        """Return the kind of a scope, `module` for that of the file."""
        return self.definitions[scope].kind if scope >= 0 else "module"

    def around(self, scope: int) -> int:
        """Return the class that a function is a method of, `TOP` for none."""
        parent = self.definitions[scope].parent if scope >= 0 else TOP
        return parent if self.kind(parent) in ("class", "interface", "object") else TOP

    def define(
        self, node: "Node", name: str, kind: Kind, parent: int, *, scope: "Node | None" = None, **more: Any
    ) -> int:
        """Add a definition whose lines are those of a node. `scope` is the node inside which its names live."""
        above = f"{self.definitions[parent].qualified}." if parent >= 0 and self.definitions[parent].qualified else ""
        number = len(self.definitions)
        start, end = node.start_point[0] + 1, node.end_point[0] + 1
        self.definitions.append(
            Definition(name, above + name if name else above[:-1], kind, parent, start, end, **more)
        )
        if scope is not None:
            self._open.append((number, scope.end_byte))
        return number

    def reopen(self, number: int, node: "Node") -> None:
        """Open the scope of a definition once more, inside a node."""
        self._open.append((number, node.end_byte))

    def bind(self, scope: int, name: str, form: Form, chains: Iterable[Chain] = (), where: int | None = None) -> None:
        """Add a binding, unless nothing can be said of it and the name is of a class or module already."""
        self.bindings.append(Binding(scope, name, form, tuple(chains), scope if where is None else where))

    def mention(self, scope: int, use: Use, chain: Chain | None, node: "Node") -> None:
        """Add a use of a name, whose place is that of a node."""
        if chain:
            line, column = node.start_point
            self.mentions.append(Mention(scope, use, chain, line + 1, column))

    def slice(self, start: int, end: int, most: int = SIGNATURE) -> str:
        """Return source text in one line, cut to a number of characters."""
        part = self.source[start : min(end, start + 4 * most)].decode("utf-8", "ignore")
        return " ".join(part.split())[:most]

    def record(self) -> Record:
        """Return the record of all that was collected."""
        definitions = list(self.definitions)
        for number, chains in self.gives.items():
            one = definitions[number]
            if not one.returns:
                definitions[number] = Definition(
                    one.name,
                    one.qualified,
                    one.kind,
                    one.parent,
                    one.start,
                    one.end,
                    one.signature,
                    one.doc,
                    one.bases,
                    one.parameters,
                    one.returns,
                    tuple(dict.fromkeys(chains)),
                    one.flags,
                )
        return Record(
            self.path,
            self.language,
            tuple(definitions),
            tuple(self.bindings),
            tuple(self.mentions),
            tuple(self.imports),
            tuple(dict.fromkeys(self.stars)),
            tuple(self.exports),
            self.package,
        )
