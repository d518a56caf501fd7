"""Which files are read, and as what kind of text their findings count."""

import ast
import tokenize
from collections.abc import Iterator
from pathlib import Path, PurePath

from tests.language import marked, python
from tests.language.prose import Block, blocks
from tests.language.rules import Finding, findings

DOCS = "docs"
KINDS = (
    DOCS,
    "help of commands",
    *(f"{what} of {where}" for what in ("docstrings", "comments") for where in ("core", "service", "others")),
)
FOLDERS = ("core", "service", "clients", "loadtests", "deploy", "tests")
TOP = ("README.md", "Makefile", "Containerfile", "pyproject.toml", "fly.toml")
# Written by clients/python/generate, or by others.
GENERATED = (
    "clients/python/muisti_client/_async_client.py", "clients/python/muisti_client/_async_groups.py",
    "clients/python/muisti_client/_async_handles.py", "clients/python/muisti_client/_sync_*.py",
    "clients/python/muisti_client/calls.py", "clients/python/muisti_client/options.py",
    "clients/python/muisti_client/replies.py", "clients/python/muisti_client/results.py",
    "clients/python/muisti_client/types.py", "core/embedding/weights/*",
    "core/embedding/minilm/vocab.txt", "service/static/*", "deploy/docs/assets/*.js",
)  # fmt: skip
_SKIPPED = {"__pycache__", "node_modules", ".venv", "build"}


def read(root: Path) -> Iterator[Finding]:
    """Yield the findings of all files below a root, in the order of their paths."""
    for path in files(root):
        yield from read_file(root, path)


def files(root: Path) -> Iterator[PurePath]:
    """Yield the paths that are read, relative to the root."""
    docs = (path for path in (root / "docs").rglob("*.md"))
    code = (path for folder in FOLDERS for path in (root / folder).rglob("*") if not _SKIPPED & {*path.parts})
    for path in sorted([*(root / name for name in TOP), *docs, *code]):
        inside = path.relative_to(root)
        if path.is_file() and not any(inside.match(pattern) for pattern in GENERATED):
            yield inside


def read_file(root: Path, path: PurePath) -> Iterator[Finding]:
    """Yield the findings of one file; of a file that is no text we know, none."""
    where = path.parts[0] if path.parts[0] in ("core", "service") else "others"
    marks = marked.BY_NAME.get(path.name) or marked.MARKS.get(path.suffix)
    if path.suffix == ".py":
        with tokenize.open(root / path) as file:
            yield from _of_python(file.read(), path, where)
    elif path.suffix == ".md":
        lines = (root / path).read_text("utf-8").splitlines()
        yield from _all(DOCS, path, blocks(enumerate(lines, 1)))
    elif marks:
        yield from _all(f"comments of {where}", path, marked.comments((root / path).read_text("utf-8"), marks))


def _of_python(source: str, path: PurePath, where: str) -> Iterator[Finding]:
    tree = ast.parse(source)
    for docstring in python.docstrings(tree):
        for place, block in enumerate(docstring):
            yield from findings(f"docstrings of {where}", path, block, opens_docstring=place == 0)
    yield from _all("help of commands", path, python.helps(tree))
    yield from _all(f"comments of {where}", path, python.comments(source))


def _all(kind: str, path: PurePath, found: Iterator[Block]) -> Iterator[Finding]:
    for block in found:
        yield from findings(kind, path, block)
