"""Blocks of prose: paragraphs, list items and table cells of Markdown, of docstrings and of comments."""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

_FENCE = re.compile(r"\s*(```|~~~)")
_ITEM = re.compile(r"\s*(?:[-*+]|\d+[.)])\s+")
_HEADING = re.compile(r"#{1,6}\s+")
_RULE = re.compile(r"\s*(?:-{3,}|={3,}|\*{3,})\s*$")
_TABLE_RULE = re.compile(r"\s*\|[\s:|-]+\|\s*$")
_CELL_END = re.compile(r"(?<!\\)\|")
_CODE_SPAN = re.compile(r"`[^`]*`")
_INDENTED = " " * 4


@dataclass(frozen=True, slots=True)
class Block:
    """Prose that sentences do not leave, and the line of a file where it begins."""

    line: int
    text: str


@dataclass
class _Open:
    """The lines of the block that is being read."""

    line: int = 0
    lines: list[str] = field(default_factory=list)

    def add(self, number: int, text: str) -> None:
        if not self.lines:
            self.line = number
        self.lines.append(text.strip())

    def close(self) -> Iterator[Block]:
        if self.lines:
            yield Block(self.line, "\n".join(self.lines))
            self.lines = []


def blocks(lines: Iterable[tuple[int, str]]) -> Iterator[Block]:
    """Yield the blocks of Markdown, given as numbered lines, without its code blocks and quotations."""
    block = _Open()
    for number, line in _without_code(lines):
        if line.lstrip().startswith("|"):
            yield from block.close()
            yield from _cells(number, line)
        elif not line.strip() or line.startswith(">") or _RULE.match(line):
            yield from block.close()
        elif heading := _HEADING.match(line):
            yield from block.close()
            yield Block(number, line[heading.end() :])
        elif item := _ITEM.match(line):
            yield from block.close()
            block.add(number, line[item.end() :])
        elif block.lines or not line.startswith(_INDENTED):
            block.add(number, line)
    yield from block.close()


def _without_code(lines: Iterable[tuple[int, str]]) -> Iterator[tuple[int, str]]:
    """Leave an empty line in place of each line of fences, doctests and click's preformatted paragraphs."""
    fenced = preformatted = False
    for number, line in lines:
        if _FENCE.match(line):
            fenced = not fenced
            yield number, ""
            continue
        preformatted = bool(line.strip()) and (preformatted or line.lstrip().startswith((">>>", "\b", "\\b")))
        yield number, "" if fenced or preformatted else line


def _cells(number: int, line: str) -> Iterator[Block]:
    if _TABLE_RULE.match(line):
        return
    masked = _CODE_SPAN.sub(lambda code: "x" * len(code[0]), line)
    start = 0
    for end in [*_CELL_END.finditer(masked)]:
        if cell := line[start : end.start()].strip():
            yield Block(number, cell)
        start = end.end()
