"""Docstrings and the code that they describe."""

import ast
import random
import textwrap
import warnings
from collections.abc import Iterable, Iterator

from deploy.model.values import Kind, Pair
from deploy.model.words import is_english, name_words, one_line, sentences

FUNCTIONS_PER_PACKAGE = 1_200
LONGEST_CODE = 1_500  # characters
SKIPPED = ("/tests/", "/test/", "/_vendor/", "/vendor/", "/vendored/", "test_", "_pb2", "/migrations/", "conftest")
NAME_FORMS = ("{}", "python {}", "how to {} in python", "how to {}", "{} python", "function to {}")

Definition = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef


def python_pairs(files: Iterable[tuple[str, bytes]], chance: random.Random) -> list[Pair]:
    """Pairs of one package's modules, at most `FUNCTIONS_PER_PACKAGE` functions and classes chosen by `chance`."""
    modules = [(name, data) for name, data in files if name.endswith(".py") and not _skipped(name)]
    chance.shuffle(modules)
    pairs: list[Pair] = []
    seen: set[str] = set()
    left = FUNCTIONS_PER_PACKAGE
    for _, data in modules:
        for name, docstring, code in _documented(data):
            first = sentences(docstring)[0]
            if first in seen:
                continue
            seen.add(first)
            pairs += _forms(name, docstring, code, chance)
            left -= 1
            if left == 0:
                return pairs
    return pairs


def _skipped(name: str) -> bool:
    return any(part in f"/{name}" for part in SKIPPED)


def _documented(data: bytes) -> Iterator[tuple[str, str, str]]:
    """Name, docstring and dedented source of every documented function and class."""
    try:
        source = data.decode()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            tree = ast.parse(source)
    except (SyntaxError, ValueError, RecursionError):  # another Python's syntax, or generated
        return
    lines = source.splitlines()
    for node in ast.walk(tree):
        if not isinstance(node, Definition):
            continue
        docstring = ast.get_docstring(node)
        if docstring and len(docstring) >= 20 and is_english(docstring[:400]):
            yield node.name, docstring, _source(node, lines)


def _source(node: Definition, lines: list[str]) -> str:
    """Return the source of a definition without its docstring; a class up to its first lines of code."""
    docstring = node.body[0]
    before = lines[node.lineno - 1 : docstring.lineno - 1]
    after = lines[docstring.end_lineno or docstring.lineno : node.end_lineno]
    return textwrap.dedent("\n".join(before + after))[:LONGEST_CODE]


def _forms(name: str, docstring: str, code: str, chance: random.Random) -> Iterator[Pair]:
    parts = sentences(docstring)
    first = parts[0].rstrip(".")
    rest = " ".join(parts[1:])[:LONGEST_CODE]
    words = name_words(name)
    whole = f'{code.split(chr(10))[0]}\n    """{docstring[:600]}"""\n' + "\n".join(code.split("\n")[1:])
    if len(code) > 40 and 3 <= len(first.split()) <= 40:
        yield Pair(Kind.CODE, first, whole if chance.random() < 0.3 else code)
    if len(words) > 3 and not name.startswith("__"):
        asked = chance.choice(NAME_FORMS).format(words)
        if len(code) > 40 and len(words.split()) > 1:
            yield Pair(Kind.CODE, asked, whole[:LONGEST_CODE])
        if chance.random() < 0.5:
            yield Pair(Kind.CODE, asked, one_line(docstring)[:LONGEST_CODE])
    if len(rest) > 60 and 3 <= len(first.split()) <= 40:
        yield Pair(Kind.CODE, first, rest)
