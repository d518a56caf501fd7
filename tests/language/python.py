"""Prose of Python files: docstrings, comments, and the help of options."""

import ast
import inspect
import io
import re
import tokenize
from collections.abc import Iterator

from tests.language.prose import Block, blocks

_DIRECTIVE = re.compile(r"#(?:!|\s*(?:noqa|type:|pyright:|ruff:|fmt:|pragma|-\*-))")
_HELP = {"help", "short_help", "epilog"}
_Documented = ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef


def docstrings(tree: ast.Module) -> Iterator[list[Block]]:
    """Yield the blocks of each docstring, which come together since its first words have a rule of their own."""
    for node in ast.walk(tree):
        if isinstance(node, _Documented) and (text := ast.get_docstring(node, clean=False)):
            yield [*blocks(enumerate(inspect.cleandoc(text).splitlines(), node.body[0].lineno))]


def helps(tree: ast.Module) -> Iterator[Block]:
    """Yield what options of a command line say of themselves."""
    for node in ast.walk(tree):
        if isinstance(node, ast.keyword) and node.arg in _HELP and (text := _literal(node.value)):
            yield Block(node.value.lineno, text)


def comments(source: str) -> Iterator[Block]:
    """Yield comments; lines of comment alone that follow each other are one, unless an empty comment parts them."""
    open_: list[tuple[int, int, str]] = []
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type != tokenize.COMMENT or _DIRECTIVE.match(token.string):
            continue
        (number, column), text = token.start, token.string.lstrip("#").strip()
        alone = not token.line[:column].strip()
        if open_ and not (alone and open_[-1][:2] == (number - 1, column)):
            yield from _joined(open_)
            open_ = []
        open_.append((number, column if alone else -1, text))
    yield from _joined(open_)


def _joined(lines: list[tuple[int, int, str]]) -> Iterator[Block]:
    yield from blocks((number, text) for number, _, text in lines)


def _literal(value: ast.expr) -> str:
    """The text of a string; what an f-string fills in counts as one word."""
    if isinstance(value, ast.Constant):
        return value.value if isinstance(value.value, str) else ""
    if isinstance(value, ast.JoinedStr):
        return "".join(_literal(part) or "CODE" for part in value.values)
    if isinstance(value, ast.BinOp):
        return _literal(value.left) + _literal(value.right)
    return ""
