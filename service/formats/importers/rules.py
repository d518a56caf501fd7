"""Rules for agents, such as CLAUDE.md, AGENTS.md and .cursorrules: a memory for each list item and paragraph.

A memory begins with the heading above it, and its metadata name the file, the line and the headings.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from hashlib import sha256
from pathlib import PurePosixPath
from typing import Any

from muisti.core.model.choices import SourceClass, Type
from muisti.service.formats.importers.items import Failed, Found, Item, Skipped, clean, without
from muisti.service.formats.importers.shapes import Shape
from muisti.service.formats.importers.source_files import Source
from muisti.service.formats.markdown import BadFrontMatter, read_fields, read_plainly

CATEGORY = "rules"
NAMES = re.compile(
    r"(?i)((CLAUDE|AGENTS|GEMINI)(\.local|\.override)?\.md|\.(cursor|windsurf|cline|roo)rules|\.goosehints|\.rules"
    r"|copilot-instructions\.md|[^/]+\.(mdc|instructions\.md))"
)
DIGEST_HEX = 32
LEAD = 7  # level of a paragraph that leads to a list, below those of headings
ELSEWHERE = "names another file"
_COMMENT = re.compile(r"<!--(?:(?!<!--).)*?-->", re.DOTALL)
_HEADING = re.compile(r"(#{1,6})\s+(.*)")
_BULLET = re.compile(r"(?:[-*+]|\d{1,9}[.)])\s+(?:\[[ xX]\]\s+)?")
_FENCE = re.compile(r"\s*(```|~~~)")
_LINE = re.compile(r"\s*([-=*_]\s*){3,}$")
_POINTER = re.compile(r"@\S+|\[[^\]]{1,200}\]\([^()\s]{1,300}\.md\)(\s+[-–—:].*)?", re.DOTALL)
_GUARD = re.compile(r"\b(?:never|must not|do not|don't|may not|forbidden)\b", re.IGNORECASE)
_FOR_ALL = re.compile(r"(?i)this file provides guidance to .{1,80} when working with code in this repository\.?")


@dataclass(frozen=True, slots=True)
class Statement:
    """A list item or a paragraph, in the line where it begins; `headings` are those above it."""

    line: int
    headings: tuple[str, ...]
    text: str

    @property
    def whole(self) -> str:
        """The text with the heading that says what it is about."""
        return f"{self.headings[-1]}: {self.text}" if self.headings else self.text

    @property
    def digest(self) -> str:
        return sha256(clean(self.whole).encode()).hexdigest()[:DIGEST_HEX]

    @property
    def type(self) -> Type:
        return "guard" if _GUARD.search(self.whole) else "procedure"


def detect(shape: Shape) -> bool:
    return bool(shape.members) and all(NAMES.fullmatch(PurePosixPath(name).name) for name in shape.members)


def read(source: Source) -> Iterator[Found]:
    with source.parts() as parts:
        for part in parts:
            text = part.text()
            yield from (text,) if isinstance(text, Failed) else items(part.name, text)


def items(name: str, text: str, source_class: SourceClass = "unknown", kind: Type | None = None) -> Iterator[Found]:
    """Yield the statements of a file as memories; `kind` is their type where it does not follow from their words."""
    fields, statements = statements_of(text)
    for one in statements:
        place = f"{name}:{one.line}"
        if _POINTER.fullmatch(one.text):
            yield Skipped(place, ELSEWHERE)
        elif not _FOR_ALL.fullmatch(one.text):
            yield Item(
                external=f"{name}\n{one.digest}",
                place=place,
                memory={
                    "content": one.whole,
                    "category": CATEGORY,
                    "type": kind or one.type,
                    "source": place,
                    "source_class": source_class,
                    "metadata": {
                        "file": name,
                        "line": one.line,
                        "digest": one.digest,
                        **without({"headings": list(one.headings)}),
                    },
                },
                rest=fields,
            )


def statements_of(text: str) -> tuple[Mapping[str, Any], list[Statement]]:
    """Return the fields before a text, and its statements.

    >>> [(one.line, one.whole) for one in statements_of("# Boat\\n\\n## Sails\\n- Dry them\\n  - at sea\\n\\nAsk.")[1]]
    [(4, 'Sails: Dry them\\n  - at sea'), (7, 'Sails: Ask.')]
    """
    try:
        fields, body = read_fields(text)
    except BadFrontMatter:
        fields, body = read_plainly(text)
    before = text.count("\n", 0, len(text) - len(body))
    body = _COMMENT.sub(lambda comment: "\n" * comment[0].count("\n"), body)
    return without(fields), list(_Reader(before).statements(body))


class _Reader:
    """Reads lines to statements. A paragraph that ends with a colon is a heading of the list after it."""

    def __init__(self, before: int) -> None:
        self._number, self._start = before, 0
        self._headings: list[tuple[int, str]] = []
        self._lines: list[str] = []
        self._fence = ""
        self._listed = False

    def statements(self, body: str) -> Iterator[Statement]:
        for line in body.splitlines():
            self._number += 1
            if self._ends(line):
                yield from self._taken()
            self._take(line)
        yield from self._taken()

    def _ends(self, line: str) -> bool:
        """Tell whether a line ends the statement before it."""
        if self._fence or not self._lines:
            return False
        if _HEADING.match(line) or _BULLET.match(line):
            return True
        is_flush = not line[:1].isspace()
        if self._listed:
            return bool(line.strip()) and is_flush and not self._lines[-1].strip() and not _FENCE.match(line)
        return not self._lines[-1].strip() and bool(line.strip()) and not _FENCE.match(line)

    def _take(self, line: str) -> None:
        if (fence := _FENCE.match(line)) and self._fence in ("", fence[1]):
            self._fence = "" if self._fence else fence[1]
        elif not self._fence and (heading := _HEADING.match(line)):
            level = len(heading[1])
            self._headings = [one for one in self._headings if one[0] < level]
            self._headings.append((level, heading[2].rstrip().rstrip("#").rstrip()))
            return
        if self._lines or (line.strip() and not _LINE.match(line)):
            if not self._lines:
                self._start, self._listed = self._number, bool(_BULLET.match(line))
            self._lines.append(line)

    def _taken(self) -> Iterator[Statement]:
        lines, self._lines = self._lines, []
        text = _BULLET.sub("", "\n".join(lines).strip(), count=1) if self._listed else "\n".join(lines).strip()
        text = text.strip()
        if text and not self._listed:
            self._headings = [one for one in self._headings if one[0] < LEAD]
        above = tuple(name for level, name in self._headings if level > 1 and name)
        if text.endswith(":") and "\n" not in text and not self._listed:
            self._headings.append((LEAD, text[:-1]))
        elif text:
            yield Statement(self._start, above, text)
