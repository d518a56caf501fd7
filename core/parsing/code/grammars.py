"""Grammars of programming languages, each loaded when a file of its language is first parsed.

    tree = parse("def f(): ...", "python")

Seven languages come with Muisti. The others need the extra `muisti[grammars]`, which `GrammarMissing` names.
"""

from collections.abc import Mapping
from functools import cache
from importlib import import_module
from importlib.util import find_spec
from pathlib import PurePosixPath
from threading import local
from typing import TYPE_CHECKING, Any

from msgspec import Struct

from muisti.core.model.errors import InvalidInput

if TYPE_CHECKING:
    from tree_sitter import Parser, Tree

EXTRA = "muisti[grammars]"
# Steps of a parser, each of a hundred operations: a number for any text, and one more for so many bytes. Of 4,500 files
# the one that needs most takes a step for 37 bytes. Recovery from faults may take the square of the length.
STEPS, STEP = 64, 16
READ = 1 << 16  # bytes that a parser is given together


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


class _Parsers(local):
    """Parsers of one thread, by language; two threads may not share one."""

    def __init__(self) -> None:
        self.of: dict[str, Parser] = {}


_PARSERS = _Parsers()


def _parser(language: str) -> "Parser":
    found = _PARSERS.of.get(language)
    if found is None:
        tree_sitter: Any = import_module("tree_sitter")
        found = _PARSERS.of[language] = tree_sitter.Parser(load(language))
    return found


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
