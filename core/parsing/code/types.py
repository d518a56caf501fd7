"""Types as they are written in annotations, read into chains."""

import re
from collections.abc import Iterator

from muisti.core.parsing.code.records import Chain

LONGEST = 400  # characters of an annotation; a longer one is not read
DEEPEST = 12

# Generic types that stand for their arguments, and those that hold them.
_SAME = frozenset(
    [
        "Optional",
        "Union",
        "Annotated",
        "ClassVar",
        "Final",
        "Required",
        "NotRequired",
        "ReadOnly",
        "Awaitable",
        "Coroutine",
        "Promise",
        "Partial",
        "Readonly",
        "NonNullable",
        "Box",
        "Rc",
        "Arc",
        "Option",
        "Result",
        "RefCell",
        "Mutex",
        "RwLock",
        "Supplier",
        "CompletableFuture",
        "PromiseLike",
    ]
)
_MANY = frozenset(
    [
        "list",
        "List",
        "Sequence",
        "MutableSequence",
        "Iterable",
        "Iterator",
        "set",
        "Set",
        "frozenset",
        "FrozenSet",
        "tuple",
        "Tuple",
        "deque",
        "Deque",
        "Collection",
        "Generator",
        "AsyncIterator",
        "AsyncIterable",
        "AsyncGenerator",
        "Array",
        "ReadonlyArray",
        "ReadonlySet",
        "IterableIterator",
        "Vec",
        "VecDeque",
        "HashSet",
        "BTreeSet",
        "ArrayList",
        "LinkedList",
        "Stream",
    ]
)
_BY_KEY = frozenset(
    [
        "dict",
        "Dict",
        "Mapping",
        "MutableMapping",
        "defaultdict",
        "OrderedDict",
        "Map",
        "ReadonlyMap",
        "WeakMap",
        "Record",
        "HashMap",
        "BTreeMap",
        "TreeMap",
    ]
)
_NOTHING = frozenset(
    [
        "None",
        "Any",
        "NoneType",
        "undefined",
        "null",
        "void",
        "unknown",
        "any",
        "never",
        "str",
        "int",
        "bool",
        "float",
        "bytes",
        "object",
        "string",
        "number",
        "boolean",
        "symbol",
        "bigint",
        "Callable",
        "Literal",
        "TypeVar",
        "this",
    ]
)
_TOKEN = re.compile(r"""[\w$]+(?:(?:\.|::)[\w$]+)*|["'][^"']*["']|=>|\[\]|[\[\]<>(){},|&?:]|\S""")
_DOTS = re.compile(r"\.|::")
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
    if depth > DEEPEST:
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
