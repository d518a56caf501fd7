"""Grammars of programming languages, each loaded when a file of its language is first parsed; definitions in a text.

    tree = parse("def f(): ...", "python")

Seven languages come with Muisti. The others need the extra `muisti[grammars]`, which `GrammarMissing` names.
"""

from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from importlib import import_module
from importlib.util import find_spec
from pathlib import PurePosixPath
from threading import local
from typing import TYPE_CHECKING, Any, NamedTuple

from msgspec import Struct

from muisti.core.model.errors import InvalidInput

if TYPE_CHECKING:
    from tree_sitter import Node, Parser, Tree


EXTRA = "muisti[grammars]"
# Steps of a parser, each of a hundred operations: a number for any text, and one more for so many bytes. Of 4,500 files
# the one that needs most takes a step for 37 bytes. Recovery from faults may take the square of the length.
STEPS, STEP = 64, 16
READ = 1 << 8  # bytes that a parser is given together; the text of each node is a copy of as many at least


class Grammar(Struct, frozen=True):
    """The last part of the name of a package, the function in it that gives the grammar, and the endings of files."""

    package: str
    function: str
    endings: tuple[str, ...]
    bundled: bool = True


# By the name of the language. An ending belongs to one language alone.
GRAMMARS: Mapping[str, Grammar] = {
    "python": Grammar("python", "language", (".py", ".pyi", ".pyw")),
    "javascript": Grammar("javascript", "language", (".js", ".jsx", ".mjs", ".cjs")),
    "typescript": Grammar("typescript", "language_typescript", (".ts", ".mts", ".cts")),
    "tsx": Grammar("typescript", "language_tsx", (".tsx",)),
    "go": Grammar("go", "language", (".go",)),
    "rust": Grammar("rust", "language", (".rs",)),
    "java": Grammar("java", "language", (".java",)),
    "c": Grammar("c", "language", (".c", ".h")),
    "bash": Grammar("bash", "language", (".sh", ".bash"), bundled=False),
    "cpp": Grammar("cpp", "language", (".cc", ".cpp", ".cxx", ".hh", ".hpp", ".hxx"), bundled=False),
    "csharp": Grammar("c_sharp", "language", (".cs",), bundled=False),
    "kotlin": Grammar("kotlin", "language", (".kt", ".kts"), bundled=False),
    "lua": Grammar("lua", "language", (".lua",), bundled=False),
    "php": Grammar("php", "language_php", (".php",), bundled=False),
    "ruby": Grammar("ruby", "language", (".rb", ".rake"), bundled=False),
    "scala": Grammar("scala", "language", (".scala",), bundled=False),
    "swift": Grammar("swift", "language", (".swift",), bundled=False),
}
_BY_ENDING = {ending: name for name, grammar in GRAMMARS.items() for ending in grammar.endings}


class GrammarMissing(InvalidInput):
    """The grammar of a language is not installed; the message names the extra that has it."""


class TooIntricate(Exception):
    """Parsing a text takes more work than its length allows, as the faults in it are so many."""


def language_of(path: str) -> str | None:
    """Return the language of a file by the ending of its name, None when no grammar is known for it.

    >>> language_of("src/app.TSX"), language_of("notes.md")
    ('tsx', None)
    """
    return _BY_ENDING.get(PurePosixPath(path).suffix.lower())


@cache
def is_available(language: str) -> bool:
    """Return whether the grammar of a language is installed. Nothing is loaded."""
    grammar = GRAMMARS.get(language)
    return grammar is not None and find_spec(f"tree_sitter_{grammar.package}") is not None


def parse(source: str | bytes, language: str) -> "Tree":
    """Parse source text into a syntax tree, whose offsets count bytes of UTF-8. Broken code gives a tree with errors.

    The work is bounded by the length of the text, and equal texts end alike. Other threads run between the steps.
    Trees can be very deep: walk them with a cursor or a stack, never by recursion.

    Raises:
        GrammarMissing: no grammar of the language is installed.
        TooIntricate: the text needs more work than its length allows.
    """
    data = source.encode("utf-8", "surrogatepass") if isinstance(source, str) else source
    parser = _parser(language)
    left = STEPS + len(data) // STEP

    def is_over(_place: int, _has_error: bool) -> bool:
        nonlocal left
        left -= 1
        return left < 0

    def read(at: int, _point: object) -> bytes:
        return data[at : at + READ]

    try:
        return parser.parse(read, progress_callback=is_over)
    except ValueError as error:  # of a parser that was stopped, the only one there is
        parser.reset()
        raise TooIntricate(language) from error


_PARSERS = local()  # of a thread, by language: two threads may not share one


def _parser(language: str) -> "Parser":
    known: dict[str, Parser] = _PARSERS.__dict__
    if language not in known:
        tree_sitter: Any = import_module("tree_sitter")
        known[language] = tree_sitter.Parser(load(language))
    return known[language]


def check(name: str) -> Grammar:
    """Return the grammar of a language. Nothing is loaded.

    Raises:
        GrammarMissing: no grammar of the language is installed.
    """
    grammar = GRAMMARS.get(name)
    if grammar is None:
        raise GrammarMissing.at("$.language", f"{name[:80]!r} is no known language: {', '.join(GRAMMARS)}")
    if not is_available(name):
        advice = "install Muisti again" if grammar.bundled else f"pip install '{EXTRA}'"
        raise GrammarMissing.at("$.language", f"the grammar of {name} is not installed: {advice}")
    return grammar


@cache
def load(name: str) -> Any:
    """Return the `tree_sitter.Language` of a language. Raises what `check` raises."""
    grammar = check(name)
    tree_sitter: Any = import_module("tree_sitter")
    return tree_sitter.Language(getattr(import_module(f"tree_sitter_{grammar.package}"), grammar.function)())


DEFINITIONS = frozenset({
    "function_definition", "class_definition", "function_declaration", "generator_function_declaration",
    "class_declaration", "abstract_class_declaration", "method_definition", "method_declaration",
    "constructor_declaration", "interface_declaration", "enum_declaration", "record_declaration",
    "type_alias_declaration", "type_spec", "annotation_type_declaration", "internal_module", "function_item",
    "impl_item", "struct_item", "enum_item", "trait_item", "mod_item", "macro_definition", "union_item",
    "struct_specifier", "enum_specifier", "union_specifier", "class_specifier", "namespace_definition",
    "namespace_declaration", "struct_declaration", "object_declaration", "protocol_declaration", "trait_definition",
    "object_definition", "method", "singleton_method", "module", "class", "trait_declaration",
})  # fmt: skip
# Nodes around a definition that belong to it.
WRAPPERS = frozenset({
    "decorated_definition", "export_statement", "ambient_declaration", "lexical_declaration", "variable_declaration",
    "template_declaration", "type_definition", "type_declaration",
})  # fmt: skip
# Nodes that are looked into for definitions, beside definitions and wrappers.
CONTAINERS = frozenset({
    "ERROR", "block", "class_body", "statement_block", "declaration_list", "enum_body", "interface_body",
    "enum_body_declarations", "field_declaration_list", "preproc_ifdef", "preproc_if", "preproc_else",
    "linkage_specification", "if_statement", "else_clause", "try_statement", "with_statement", "body_statement",
    "template_body", "expression_statement",
})  # fmt: skip

# Values of a variable that make it a definition.
FUNCTIONS = frozenset(("arrow_function", "function_expression", "function"))

# Types that are definitions only with a body, and refer to one otherwise.
REFERENCES = frozenset(("struct_specifier", "enum_specifier", "union_specifier", "class_specifier"))


_INNER = DEFINITIONS | WRAPPERS | {"variable_declarator"}
NAME_MAX = 200  # characters of a name
DEEPEST = 6  # levels of definitions in definitions that are looked for
_INNER_BYTES = bytes(range(0x80, 0xC0))  # of UTF-8: all but the first of a character


class Definition(NamedTuple):
    """A definition with the decorators and comments before it. `start` and `stop` are places in the text.

    Its `column` tells its depth: a fault in the code hides the classes around a definition, not its indentation.
    """

    start: int
    stop: int
    symbol: str
    column: int


def definitions(text: str, language: str) -> list[Definition]:
    r"""Return the definitions of source code in order, each before those in it.

    Raises:
        GrammarMissing: no grammar of the language is installed.
        TooIntricate: the text needs more work than its length allows.

    >>> [(one.symbol, one.column) for one in definitions("class A:\n    def f(self): ...\n", "python")]
    [('A', 0), ('A.f', 4)]
    """
    source = text.encode("utf-8", "surrogatepass")
    spans = sorted(_walk(parse(source, language).root_node), key=lambda one: (one.start, -one.stop))
    places = _characters(source, {place for one in spans for place in (one.start, one.stop)})
    return [one._replace(start=_line_start(text, places[one.start]), stop=places[one.stop]) for one in spans]


def _characters(source: bytes, places: set[int]) -> dict[int, int]:
    """Return the place in the text of places in its UTF-8."""
    found: dict[int, int] = {}
    before, count = 0, 0
    for place in sorted(places):
        count += len(source[before:place].translate(None, _INNER_BYTES))
        found[place], before = count, place
    return found


def _line_start(text: str, at: int) -> int:
    """Return where the line begins when there is only white space before a place, else the place."""
    bare = at
    while bare and text[bare - 1] in " \t":
        bare -= 1
    return bare if not bare or text[bare - 1] in "\n\r" else at


def _walk(root: "Node") -> Iterator[Definition]:
    """Yield the definitions below a node in any order; places count bytes."""
    todo: list[tuple[Node, str, int]] = [(root, "", 0)]
    while todo:
        node, scope, depth = todo.pop()
        for start, child in _with_comments(node.named_children):
            inner = _defined(child)
            if inner is not None:
                symbol = _name(inner, scope)
                yield Definition(start, child.end_byte, symbol, child.start_point[1])
                body = (inner.child_by_field_name("value") or inner).child_by_field_name("body")
                if body is not None and depth < DEEPEST:
                    todo.append((body, symbol, depth + 1))
            elif child.type in CONTAINERS:
                todo.append((child, scope, depth))


def _with_comments(nodes: "Iterable[Node]") -> "Iterator[tuple[int, Node]]":
    """Yield the nodes but comments, each with the first byte of the comments right before it."""
    start, row, last = -1, -2, -2  # of the comments, and the last row of what is before them
    for node in nodes:
        above = node.start_point[0]
        if "comment" in node.type or node.type == "attribute_item":
            if above > row + 1 or start < 0:
                start = node.start_byte if above > last else -1
            row = node.end_point[0]
            continue
        yield (start if start >= 0 and above <= row + 1 else node.start_byte), node
        start, last = -1, node.end_point[0]


def _defined(node: "Node") -> "Node | None":
    """Return the definition that a node is or wraps, or the variable that holds a function."""
    while node.type in WRAPPERS:
        inner = [child for child in node.named_children if child.type in _INNER]
        if not inner:
            return None
        node = inner[-1]
    if node.type == "variable_declarator":
        value = node.child_by_field_name("value")
        return node if value is not None and value.type in FUNCTIONS else None
    if node.type not in DEFINITIONS or (node.type in REFERENCES and node.child_by_field_name("body") is None):
        return None
    return node


def _name(node: "Node", scope: str) -> str:
    """Return the qualified name of a definition: its scope or the type of its receiver, and what it is called."""
    named = node.child_by_field_name("name") or node.child_by_field_name("type")
    inner = node if node.child_by_field_name("name") is None else None
    while inner is not None and (inner := inner.child_by_field_name("declarator")) is not None:
        named = inner
    receiver = node.child_by_field_name("receiver")
    owner = _text(receiver).split("[")[0].split()[-1].strip("(*)") if receiver is not None else ""
    return ".".join(part for part in (scope, owner, _text(named).split("<")[0] if named is not None else "") if part)


def _text(node: "Node") -> str:
    return (node.text or b"").decode("utf-8", "replace")[:NAME_MAX]
