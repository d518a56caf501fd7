"""Decode a stream of bytes to windows of text, and read Markdown line by line, in bounded memory."""

import codecs
import re
from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING, BinaryIO

from muisti.core.model.unreadable import Broken, UnknownFormat
from muisti.core.parsing.detect import wide_encoding
from muisti.core.parsing.encodings import MIXED, Guess, codec_of, escaped, fitting, guess
from muisti.core.parsing.parsed import Outline
from muisti.core.parsing.pieces import Piece, PieceKind
from muisti.core.support.regex import regex

if TYPE_CHECKING:
    from typing_extensions import Buffer


READ = 1 << 18  # bytes
WINDOW = 1 << 15  # characters of a piece of plain text at most
_STATED = regex(
    rb"""(?:\s*<\?xml\b[^>]{0,200}?\bencoding\s*=\s*["']|@charset\s+["']"""
    rb"""|(?:[^\n]{0,200}\n)?(?:[ \t\f]*\#|[^\n]{0,200}-\*-)[^\n]{0,200}?coding[:=][ \t]*)([\w.-]{1,40})"""
)
_CATALOGUE = regex(rb'"Content-Type: [^\n"]{0,80}charset=([\w.-]{1,40})')  # of translations


class _Guessing(codecs.BufferedIncrementalDecoder):
    """Decode UTF-8 until a byte is none, then what the bytes there seem to be in. `on_guess` is called with that.

    In a text most of which is UTF-8, each other byte is read as Windows-1252.
    """

    def __init__(self, on_guess: Callable[[Guess], None]) -> None:
        super().__init__()
        self._on_guess = on_guess
        self._inner: codecs.IncrementalDecoder | None = None
        self._plain = True  # while all is ASCII

    def _buffer_decode(self, input: "Buffer", errors: str, final: bool) -> tuple[str, int]:
        data = bytes(input)
        if self._inner is not None:
            return self._inner.decode(data, final), len(data)
        try:
            text, used = codecs.utf_8_decode(data, "strict", final)
        except UnicodeDecodeError:
            return self._guessed(data, final)
        self._plain = self._plain and len(text) == used
        return text, used

    def _guessed(self, data: bytes, final: bool) -> tuple[str, int]:
        found = guess(data) if self._plain else Guess(MIXED, 1.0)
        if found is None:
            raise UnknownFormat("The file is no text: its bytes are in no encoding that is known.")
        self._on_guess(found)
        name = "utf-8" if found.encoding == MIXED else found.encoding
        self._inner = codecs.getincrementaldecoder(name)(MIXED)
        return self._inner.decode(data, final), len(data)


def encoding_stated(head: bytes) -> str | None:
    """Return the encoding that a file states: as XML, a style sheet, a catalogue, or by PEP 263. None if none fits.

    >>> encoding_stated("# -*- coding: koi8-r -*-\\nx = 'Да'".encode("koi8-r")), encoding_stated(b"# coding: no-such")
    ('koi8-r', None)
    """
    if head.startswith(codecs.BOM_UTF8):
        return None
    found = _STATED.match(head) or _CATALOGUE.search(head[:8192])
    return (fitting(found[1].decode("ascii"), head) if found is not None else None) or escaped(head)


def decoded(
    head: bytes, stream: BinaryIO, encoding: str | None = None, on_guess: Callable[[Guess], None] = lambda guess: None
) -> Iterator[str]:
    """Yield the text of a stream whose first bytes have been read, without a byte-order mark.

    The encoding is the given one, else UTF-16 or UTF-32 where the bytes look like it, else the one that the text
    states, else UTF-8. For bytes that are not UTF-8 it is a guess, which `on_guess` is called with. Raises
    `UnknownFormat` for an unknown encoding, a NUL or bytes that are no text, and `Broken` where the given encoding does
    not fit.
    """
    decoder = _decoder(head, encoding, on_guess)
    first = True
    try:
        for block in _blocks(head, stream):
            text = decoder.decode(block, final=not block)
            if first and text:
                text, first = text.removeprefix("\ufeff"), False
            if "\0" in text:
                raise UnknownFormat("The file holds NUL characters after its start; it is no text.")
            if text:
                yield text
    except UnicodeError as error:
        raise Broken(f"The text is not in the encoding {encoding or 'of its byte-order mark'}: {error}.") from error


def _decoder(head: bytes, encoding: str | None, on_guess: Callable[[Guess], None]) -> codecs.IncrementalDecoder:
    if encoding is not None:
        name = codec_of(encoding)
        if name is None:
            raise UnknownFormat(f"The encoding {encoding!r} is not known.")
        # The web's Windows-1252 has a letter or a control character for each byte, Python's for all but five.
        return codecs.getincrementaldecoder(name)(MIXED if name == "cp1252" else "strict")
    if (wide := wide_encoding(head)) is not None:
        return codecs.getincrementaldecoder(wide)("strict")
    stated = encoding_stated(head)
    return _Guessing(on_guess) if stated in (None, "utf-8") else codecs.getincrementaldecoder(stated)(MIXED)


def _blocks(head: bytes, stream: BinaryIO) -> Iterator[bytes]:
    """Yield the bytes of the stream from its start, then an empty block."""
    if head:
        yield head
    while block := stream.read(READ):
        yield block
    yield b""


def lines(texts: Iterable[str], longest: int = WINDOW) -> Iterator[str]:
    """Yield the lines of a text with their ends. A longer line than `longest` comes in parts.

    >>> [*lines(["a\\nb", "c\\n", "d"])]
    ['a\\n', 'bc\\n', 'd']
    """
    rest = ""
    for text in texts:
        parts = (rest + text).split("\n")
        rest = parts.pop()
        for part in parts:
            yield part + "\n"
        while len(rest) > longest:
            yield rest[:longest]
            rest = rest[longest:]
    if rest:
        yield rest


def windows(texts: Iterable[str], size: int = WINDOW) -> Iterator[str]:
    """Yield a text in windows of at most `size` characters, each cut at a blank line, else a line, else a blank.

    >>> [*windows(["one two\\n\\nthr", "ee four"], 12)]
    ['one two\\n\\n', 'three four']
    """
    rest = ""
    for text in texts:
        rest += text
        at = 0
        while len(rest) - at > size:
            cut = _cut(rest, at, at + size)
            yield rest[at:cut]
            at = cut
        rest = rest[at:]
    if rest:
        yield rest


def _cut(text: str, start: int, end: int) -> int:
    half = start + (end - start) // 2
    for mark in ("\n\n", "\n", " "):
        found = text.rfind(mark, half, end)
        if found >= 0:
            return found + len(mark)
    return end


_HEADING = regex(r" {0,3}(#{1,6})(?![^ \t\r\n])(.*)")
_FENCE = regex(r" {0,3}(`{3,}|~{3,})[ \t]*([^\s`{]*)")
_UNDERLINE = regex(r" {0,3}(=+|-{2,})[ \t]*\r?\n?$")
_LIST = regex(r"\s*(?:[-*+]|\d{1,9}[.)])[ \t]")
_TITLE = regex(r"title:(.*)", re.IGNORECASE)


class MarkdownReader:
    """Reader of one Markdown text. After its pieces have been read, `title` is the first title, or None."""

    def __init__(self, top: tuple[str, ...] = ()) -> None:
        self.title: str | None = None
        self._outline = Outline(top)
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
        return Piece(text=text, kind="heading", headings=self._outline.path)

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
