"""The building of a record from syntax nodes in the order of the text, and the reading of annotations into chains."""

from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from importlib import import_module
from typing import TYPE_CHECKING, Any

from msgspec import structs

from muisti.core.parsing.code.grammars import load, parse
from muisti.core.parsing.code.records import TOP, Binding, Chain, Definition, Export, Form, Kind, Mention, Record, Use
from muisti.core.support.regex import regex

if TYPE_CHECKING:
    from tree_sitter import Node


LONGEST = 400  # characters of an annotation; a longer one is not read
NESTED = 12

# Generic types that stand for their arguments, and those that hold them.
_SAME = frozenset({
    "Optional", "Union", "Annotated", "ClassVar", "Final", "Required", "NotRequired", "ReadOnly", "Awaitable",
    "Coroutine", "Promise", "Partial", "Readonly", "NonNullable", "Box", "Rc", "Arc", "Option", "Result", "RefCell",
    "Mutex", "RwLock", "Supplier", "CompletableFuture", "PromiseLike",
})  # fmt: skip
_MANY = frozenset({
    "list", "List", "Sequence", "MutableSequence", "Iterable", "Iterator", "set", "Set", "frozenset", "FrozenSet",
    "tuple", "Tuple", "deque", "Deque", "Collection", "Generator", "AsyncIterator", "AsyncIterable", "AsyncGenerator",
    "Array", "ReadonlyArray", "ReadonlySet", "IterableIterator", "Vec", "VecDeque", "HashSet", "BTreeSet", "ArrayList",
    "LinkedList", "Stream",
})  # fmt: skip
_BY_KEY = frozenset({
    "dict", "Dict", "Mapping", "MutableMapping", "defaultdict", "OrderedDict", "Map", "ReadonlyMap", "WeakMap",
    "Record", "HashMap", "BTreeMap", "TreeMap",
})  # fmt: skip
_NOTHING = frozenset({
    "None", "Any", "NoneType", "undefined", "null", "void", "unknown", "any", "never", "str", "int", "bool", "float",
    "bytes", "object", "string", "number", "boolean", "symbol", "bigint", "Callable", "Literal", "TypeVar", "this",
})  # fmt: skip
_TOKEN = regex(r"""[\w$]+(?:(?:\.|::)[\w$]+)*|["'][^"']*["']|=>|\[\]|[\[\]<>(){},|&?:]|\S""")
_DOTS = regex(r"\.|::")
_OPEN = {"[": "]", "<": ">", "(": ")", "{": "}"}


def types(text: str) -> tuple[Chain, ...]:
    """Return the types that an annotation names, each an alternative; unions and options are taken apart.

    >>> types("Optional[list['Foo']]"), types("a.B | None"), types("Promise<Foo[]>"), types("type[C]")
    ((('[*]', 'Foo'),), (('a', 'B'),), (('[*]', 'Foo'),), (('@', 'C'),))
    """
    if len(text) > LONGEST:
        return ()
    return tuple(dict.fromkeys(_union(_Tokens(text), 0)))


class _Tokens:
    """Tokens of an annotation, and the place of the next one."""

    def __init__(self, text: str) -> None:
        self._tokens = _TOKEN.findall(text)
        self.at = 0

    def peek(self) -> str:
        return self._tokens[self.at] if self.at < len(self._tokens) else ""

    def take(self) -> str:
        token = self.peek()
        self.at += 1
        return token

    def skip(self, end: str) -> None:
        """Pass the tokens up to the bracket that closes the one just taken."""
        wanted = [end]
        while wanted and (token := self.take()):
            if token in _OPEN:
                wanted.append(_OPEN[token])
            elif token == wanted[-1]:
                wanted.pop()


def _union(tokens: _Tokens, depth: int) -> list[Chain]:
    found = _one(tokens, depth)
    while tokens.peek() in ("|", "&"):
        tokens.take()
        found += _one(tokens, depth)
    if tokens.peek() == "=>":  # a function, not what it returns
        tokens.take()
        _union(tokens, depth)
        return []
    return found


def _one(tokens: _Tokens, depth: int) -> list[Chain]:
    token = tokens.peek()
    if not token or token in "])}>,|&" or token == "=>":
        return []
    tokens.take()
    if depth > NESTED:
        return []
    if token in ("|", "?", "&", "*", "dyn", "mut", "impl", "readonly", "const", "struct"):
        return _one(tokens, depth)
    if token in ("keyof", "typeof"):
        found = _one(tokens, depth)
        return [("@", *chain) for chain in found] if token == "typeof" else []
    if token == "[]":  # of Go: a slice of what follows
        return [("[*]", *chain) for chain in _one(tokens, depth)]
    if token == "(":
        found = _union(tokens, depth + 1)
        tokens.skip(")")
        return _suffixed(tokens, found)
    if token in _OPEN:
        tokens.skip(_OPEN[token])
        return _suffixed(tokens, [])
    if token[0] in "\"'":
        return list(types(token[1:-1])) if len(token) > 2 else []
    return _suffixed(tokens, _named(tokens, token, depth))


def _named(tokens: _Tokens, name: str, depth: int) -> list[Chain]:
    chain = tuple(_DOTS.split(name))
    last = chain[-1]
    arguments: list[list[Chain]] = []
    if (opening := tokens.peek()) in ("[", "<"):
        tokens.take()
        arguments = [*_arguments(tokens, _OPEN[opening], depth)]
    if arguments and last in _SAME:
        return [one for found in arguments for one in found]
    if arguments and last in _MANY:
        return [("[*]", *one) for one in arguments[0]]
    if arguments and last in _BY_KEY:
        return [("{*}", *one) for one in arguments[-1]]
    if arguments and last in ("type", "Type"):
        return [("@", *one) for one in arguments[0]]
    if not last or last in _NOTHING or not (last[0].isalpha() or last[0] in "_$"):
        return []
    return [chain]


def _arguments(tokens: _Tokens, end: str, depth: int) -> Iterator[list[Chain]]:
    while (token := tokens.peek()) and token != end:
        if token == ",":
            tokens.take()
            continue
        before = tokens.at
        yield _union(tokens, depth + 1)
        if tokens.at == before:
            tokens.take()
    tokens.take()


def _suffixed(tokens: _Tokens, found: list[Chain]) -> list[Chain]:
    while tokens.peek() == "[]":
        tokens.take()
        found = [("[*]", *chain) for chain in found]
    return found


SIGNATURE = 240  # characters of a signature
DOC = 200
LONGEST_CHAIN = 24
DEEPEST = 1_000  # levels of a syntax tree that are read; a cursor that goes below 65,535 takes quadratic time


@cache
def _query(language: str, patterns: str) -> Any:
    tree_sitter: Any = import_module("tree_sitter")
    return tree_sitter.Query(load(language), patterns)


def captures(named: Mapping[str, str]) -> str:
    """Return the patterns that capture nodes: those of each type, divided by blanks, under a name."""
    return "\n".join(f"({node}) @{name}" for name, types in named.items() for node in types.split())


def nodes(source: bytes, language: str, patterns: str, order: Mapping[str, int]) -> list[tuple[str, "Node"]]:
    """Return the captured nodes of a file with the names of their captures, outer before inner, by their place.

    `order` decides between captures of one node.
    """
    tree_sitter: Any = import_module("tree_sitter")
    cursor = tree_sitter.QueryCursor(_query(language, patterns))
    cursor.set_max_start_depth(DEEPEST)
    captured = cursor.captures(parse(source, language).root_node)
    found = [
        ((node.start_byte, -node.end_byte, order.get(name, 9), -node.descendant_count, name), node)
        for name, group in captured.items()
        for node in group
    ]
    found.sort(key=lambda one: one[0])  # whole, as a group comes in the order of addresses in memory
    return [(key[-1], node) for key, node in found]


def text(node: "Node | None") -> str:
    """Return the source text of a node, empty for none."""
    data = None if node is None else node.text
    return "" if data is None else data.decode("utf-8", "replace")


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
                definitions[number] = structs.replace(one, gives=tuple(dict.fromkeys(chains)))
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
