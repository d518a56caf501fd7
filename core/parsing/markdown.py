"""Read Markdown line by line: headings with their path, code, tables and lists. No character of the text is lost."""

import re
from collections.abc import Iterable, Iterator

from muisti.core.model.documents import Piece, PieceKind
from muisti.core.parsing.blocks import Outline
from muisti.core.parsing.text import WINDOW

_HEADING = re.compile(r" {0,3}(#{1,6})(?![^ \t\r\n])(.*)")
_FENCE = re.compile(r" {0,3}(`{3,}|~{3,})[ \t]*([^\s`{]*)")
_UNDERLINE = re.compile(r" {0,3}(=+|-{2,})[ \t]*\r?\n?$")
_LIST = re.compile(r"\s*(?:[-*+]|\d{1,9}[.)])[ \t]")
_TITLE = re.compile(r"title:(.*)", re.IGNORECASE)


class MarkdownReader:
    """Reader of one Markdown text. After its pieces have been read, `title` is the first title, or None."""

    def __init__(self, top: tuple[str, ...] = (), page: int | None = None) -> None:
        self.title: str | None = None
        self._outline = Outline(top)
        self._page = page
        self._lines: list[str] = []
        self._size = 0
        self._kind: PieceKind = "text"
        self._language: str | None = None
        self._fence: str | None = None  # the mark that ends the code, where the reader is in code

    def pieces(self, lines: Iterable[str]) -> Iterator[Piece]:
        """Yield the pieces of a text that comes as lines with their ends."""
        for number, line in enumerate(lines):
            if number == 0 and line.rstrip() == "---":
                yield from self._begin("code", line, "yaml")
                self._fence = "---"
            elif self._fence is not None:
                yield from self._in_code(line)
            elif self._is_plain(line):
                yield from self._add(self._kind if self._kind in ("list", "text") else "text", line)
            else:
                yield from self._marked(line)
        yield from self._flush()

    def _is_plain(self, line: str) -> bool:
        """Return whether a line begins with no mark; most lines, so the test is quick."""
        mark = line.lstrip()[:1]
        return bool(mark) and mark not in "#`~|=-*+0123456789"

    def _marked(self, line: str) -> Iterator[Piece]:
        heading = _HEADING.match(line)
        fence = _FENCE.match(line)
        if heading:
            yield from self._flush()
            yield self._heading(len(heading[1]), _open(heading[2]), line)
        elif fence:
            yield from self._begin("code", line, fence[2].lower() or None)
            self._fence = fence[1]
        elif _UNDERLINE.match(line) and self._kind == "text" and self._lines and self._lines[-1].strip():
            yield from self._underlined(line)
        elif line.lstrip().startswith("|"):
            yield from self._add("table", line)
        elif _LIST.match(line):
            yield from self._add("list", line)
        else:
            yield from self._add(self._kind if not line.strip() or self._kind == "list" else "text", line)

    def _in_code(self, line: str) -> Iterator[Piece]:
        if self._fence == "---" and self.title is None and (stated := _TITLE.match(line)):
            self.title = _unquoted(stated[1].strip()) or None
        mark, stripped = self._fence or "", line.strip()
        yield from self._add("code", line)
        if stripped.startswith(mark) and not stripped.strip(mark[0]):
            yield from self._flush()
            self._kind, self._fence, self._language = "text", None, None

    def _underlined(self, line: str) -> Iterator[Piece]:
        """Yield a heading whose title is the line before its underline."""
        title = self._lines.pop()
        yield from self._flush()
        yield self._heading(1 if line.lstrip()[0] == "=" else 2, title, title + line)

    def _heading(self, level: int, title: str, text: str) -> Piece:
        title = " ".join(title.split())
        if self.title is None and level == 1:
            self.title = title or None
        self._outline.enter(level, title)
        return Piece(text=text, kind="heading", page=self._page, headings=self._outline.path)

    def _begin(self, kind: PieceKind, line: str, language: str | None) -> Iterator[Piece]:
        yield from self._flush()
        self._kind, self._language = kind, language
        yield from self._add(kind, line)

    def _add(self, kind: PieceKind, line: str) -> Iterator[Piece]:
        if kind != self._kind or self._size + len(line) > WINDOW:
            yield from self._flush()
        self._kind = kind
        self._lines.append(line)
        self._size += len(line)

    def _flush(self) -> Iterator[Piece]:
        if self._lines:
            yield Piece(
                text="".join(self._lines),
                kind=self._kind,
                page=self._page,
                headings=self._outline.path,
                language=self._language,
            )
        self._lines, self._size = [], 0
        if self._fence is None:
            self._kind = "text"


def _unquoted(text: str) -> str:
    """Return a text without a quotation mark at its start and at its end."""
    quotes = ('"', "'")
    text = text[1:] if text.startswith(quotes) else text
    return text[:-1] if text.endswith(quotes) else text


def _open(text: str) -> str:
    """Return the text of a heading without the number signs that close it."""
    text = text.strip()
    opened = text.rstrip("#")
    return opened.rstrip() if opened[-1:] in (" ", "\t") and opened != text else text
