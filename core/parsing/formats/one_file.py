"""Read documents that are one file of XML: FictionBook, notes of Evernote, Word's and Excel's XML of 2003 and later.

Entities may not be declared, and pictures and attachments in the file are not read.
"""

import re
from collections.abc import Callable, Iterator, Mapping
from html.entities import html5
from xml.parsers import expat

from muisti.core.model.unreadable import Broken, FileTooLarge, Unsafe
from muisti.core.parsing.encodings import decode, fitting
from muisti.core.parsing.formats.html import markup_pieces
from muisti.core.parsing.parsed import About, Options, Outline, block, heading, table
from muisti.core.parsing.pieces import Piece

DEPTH = 400  # of elements inside each other
_FEED = 1 << 16
_DECLARED = re.compile(rb"(?:\xef\xbb\xbf)?+\s*+<\?xml[^>]*?encoding\s*+=\s*+[\"']([\w.:-]+)[^>]*+>")
_DATA = frozenset({"binary", "binData", "binaryData", "data", "recognition"})  # pictures and other files, as base64
_INLINE = frozenset(
    {"strong", "emphasis", "style", "a", "strikethrough", "sub", "sup", "code", "image", "Font", "B", "I"}
)
_OF_WORD = frozenset({"wordDocument", "package"})
_LEVEL = re.compile(r"(?:heading|berschrift|titre|t.tulo|заголовок) ?([1-6])", re.IGNORECASE)


def read(data: bytes | bytearray, options: Options, about: About) -> Iterator[Piece]:
    """Yield the text of a document. Raises `Broken` for bad XML, and `Unsafe` for entities or depth."""
    declared = _DECLARED.match(data[:1024])
    codec = None if declared is None else fitting(declared[1].decode("ascii"), bytes(data[:_FEED]))
    source = bytes(data)
    if codec is not None and codec != "utf-8":  # expat knows few encodings
        source = decode(source, codec).encode("utf-8", "replace")
    reader = _Reader(about, options.max_cells)
    parser = expat.ParserCreate("utf-8" if codec is not None else None, "}")
    parser.buffer_text = True
    parser.UseForeignDTD(True)
    parser.EntityDeclHandler = _refuse
    parser.SkippedEntityHandler = lambda name, _: reader.text(html5.get(f"{name};", ""))
    parser.StartElementHandler, parser.EndElementHandler, parser.CharacterDataHandler = (
        reader.start, reader.end, reader.text,
    )  # fmt: skip
    try:
        for at in range(0, len(source), _FEED):
            parser.Parse(source[at : at + _FEED], False)
            yield from reader.taken()
        parser.Parse(b"", True)
    except expat.ExpatError as error:
        raise Broken(f"The XML of the file is damaged: {error}.") from error
    yield from reader.taken()
    if reader.files:
        about.note(f"Pictures and other files inside the file were not read: {reader.files:,}.")


def _refuse(*_: object) -> None:
    raise Unsafe("The file declares an entity, which may stand for any amount of text.")


class _Reader:
    """State of a reading: the elements that are open, and the pieces that are complete."""

    def __init__(self, about: About, cells: int) -> None:
        self.files = 0
        self._about, self._cells = about, cells
        self._outline = Outline()
        self._open: list[str] = []
        self._text: list[str] = []
        self._pieces: list[Piece] = []
        self._root = ""
        self._sections = self._unread = 0
        self._level = 0  # of the heading that a paragraph of Word is
        self._rows: list[list[str]] = []

    def taken(self) -> Iterator[Piece]:
        """Yield the pieces that are complete."""
        pieces, self._pieces = self._pieces, []
        yield from pieces

    def text(self, text: str) -> None:
        if not self._unread and (self._root not in _OF_WORD or self._open[-1] == "t"):
            self._text.append(text)

    def start(self, tag: str, attributes: Mapping[str, str]) -> None:
        name = tag.rpartition("}")[2]
        if len(self._open) > DEPTH:
            raise Unsafe(f"Elements of the file are nested deeper than {DEPTH} levels.")
        self._root = self._root or name
        is_titled = "title" in self._open
        self._open.append(name)
        if self._unread or name in _DATA and self._root != "Workbook":
            self._unread += 1
            self.files += self._unread == 1
            return
        named = {key.rpartition("}")[2]: value for key, value in attributes.items()}
        if self._root in _OF_WORD:
            self._start_of_words(name, named)
        elif self._root == "Workbook":
            self._start_of_sheets(name, named)
        elif self._root == "en-export":
            self._text.clear()
        elif name not in _INLINE:
            self._sections += name == "section"
            if not is_titled:
                self._flush()

    def _start_of_words(self, name: str, named: Mapping[str, str]) -> None:
        if name == "pStyle":
            found = _LEVEL.match(named.get("val", ""))
            self._level = int(found[1]) if found is not None else 0
        elif name in ("tab", "br"):
            self._text.append("\t" if name == "tab" else "\n")

    def _start_of_sheets(self, name: str, named: Mapping[str, str]) -> None:
        if name == "Worksheet":
            self._pieces.append(heading(self._outline, 1, named.get("Name", "")))
        elif name == "Row":
            self._rows.append([])
        elif name == "Cell" and self._rows:
            place = int(named["Index"]) if named.get("Index", "").isdecimal() else 0
            self._cells -= max(place - len(self._rows[-1]), 1)
            if self._cells < 0:
                raise FileTooLarge("The workbook has more cells than are read.")
            self._rows[-1] += [""] * (place - 1 - len(self._rows[-1]))
            self._text.clear()

    def end(self, tag: str) -> None:
        name = self._open.pop()
        if self._unread:
            self._unread -= 1
            return
        finish: Mapping[str, Callable[[str], None]] = {
            "FictionBook": self._of_book, "en-export": self._of_notes, "Workbook": self._of_sheets,
        }  # fmt: skip
        finish.get(self._root, self._of_words)(name)

    def _of_book(self, name: str) -> None:
        if name == "book-title" and not self._about.title:
            self._about.title = "".join(self._text).strip() or None
        if name == "title":
            if title := self._joined():
                self._pieces.append(heading(self._outline, max(self._sections, 1), title))
        elif name not in _INLINE:
            if "title" in self._open:
                self._text.append(" ")
            else:
                self._flush()
        self._sections -= name == "section"

    def _of_notes(self, name: str) -> None:
        text = self._joined()
        if name == "title" and text:
            self._pieces.append(heading(self._outline, 1, text))
        elif name == "content" and text:
            self._pieces += markup_pieces(text, self._outline, self._about)
        elif name in ("tag", "source-url", "author", "file-name", "created") and text:
            self._pieces.append(block(self._outline, f"{name}: {text}"))

    def _of_sheets(self, name: str) -> None:
        if name == "Title" and not self._about.title:
            self._about.title = self._joined() or None
        elif name == "Cell" and self._rows:
            self._rows[-1].append(self._joined())
        elif name == "Table":
            rows, self._rows = [row for row in self._rows if any(row)], []
            if rows:
                self._pieces.append(block(self._outline, table(rows).rstrip("\n"), "table"))
        elif name not in ("Data", "Comment", *_INLINE):
            self._text.clear()

    def _of_words(self, name: str) -> None:
        if name != "p":
            return
        text, level = self._joined(), self._level
        self._level = 0
        if text:
            self._pieces.append(heading(self._outline, level, text) if level else block(self._outline, text))

    def _joined(self) -> str:
        text, self._text = "".join(self._text).strip(), []
        return text

    def _flush(self) -> None:
        if text := " ".join(self._joined().split()):
            self._pieces.append(block(self._outline, text))
