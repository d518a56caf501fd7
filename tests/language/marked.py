"""Prose of the comments of other languages, where a line of comment begins with a mark."""

from collections.abc import Iterator

from tests.language.prose import Block, blocks

MARKS = {
    **dict.fromkeys((".sh", ".yaml", ".yml", ".toml", ".txt"), ("#",)),
    **dict.fromkeys((".c", ".h", ".ts", ".mjs", ".js"), ("//", "/**", "/*", "*/", "*")),
    ".sql": ("--",),
}
BY_NAME = dict.fromkeys(("Makefile", "Containerfile", "Caddyfile"), ("#",))


def comments(source: str, marks: tuple[str, ...]) -> Iterator[Block]:
    """Yield the comments that have lines of their own; what follows code on its line is left out."""
    yield from blocks((number, _unmarked(line.strip(), marks)) for number, line in enumerate(source.splitlines(), 1))


def _unmarked(line: str, marks: tuple[str, ...]) -> str:
    mark = next((mark for mark in marks if line.startswith(mark)), None)
    return "" if mark is None or line.startswith("#!") else line.removeprefix(mark).removesuffix("*/").strip()
