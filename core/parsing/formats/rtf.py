"""Read Rich Text Format: headings, lists, tables, text boxes, then footnotes, comments, headers and footers."""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field, replace

from muisti.core.model.unreadable import Broken
from muisti.core.parsing.encodings import codec_of, decode
from muisti.core.parsing.parsed import About, Options, Outline, block, heading, raised, table
from muisti.core.parsing.pieces import Piece

_TOKEN = re.compile(
    rb"\\([a-zA-Z]{1,32})(-?\d{1,10})? ?|\\'([0-9a-fA-F]{2})|\\([^a-zA-Z])|([{}])|[\r\n\0]+|([^\\{}\r\n\0]+)", re.DOTALL
)
_HEADING = re.compile(r"heading (\d)", re.IGNORECASE)
DEEPEST = 10_000  # groups inside each other
ROWS = 1_000  # of a table that are given as one
_LETTERS = {
    "tab": "\t", "line": "\n", "page": "\n", "column": "\n", "sect": "\n", "softline": "\n", "emdash": "—",
    "endash": "–", "emspace": " ", "enspace": " ", "qmspace": " ", "bullet": "•", "lquote": "‘", "rquote": "’",
    "ldblquote": "“", "rdblquote": "”", "nestcell": " | ", "nestrow": "\n", "~": " ", "_": "-", "{": "{", "}": "}",
    "\\": "\\", "\r": "\n", "\n": "\n",
}  # fmt: skip
_CHARSETS = {
    77: "mac_roman", 128: "cp932", 129: "cp949", 130: "johab", 134: "gb18030", 136: "cp950", 161: "cp1253",
    162: "cp1254", 163: "cp1258", 177: "cp1255", 178: "cp1256", 186: "cp1257", 204: "cp1251", 222: "cp874",
    238: "cp1250", 254: "cp437", 255: "cp850",
}  # fmt: skip
_PAGES = {"mac": "mac_roman", "pc": "cp437", "pca": "cp850"}
# Groups whose text is kept apart, with what it is called.
_APART = {
    "footnote": "", "annotation": "Comment: ", "header": "Header: ", "headerl": "Header: ", "headerr": "Header: ",
    "headerf": "Header: ", "footer": "Footer: ", "footerl": "Footer: ", "footerr": "Footer: ", "footerf": "Footer: ",
    "shptxt": "", "dptxbxtext": "",
}  # fmt: skip
_BOXES = frozenset({"shptxt", "dptxbxtext"})
# Groups that begin with an unknown mark are left out, besides those in which text is.
_KEPT = frozenset({"shpinst", "ud", "moMath", "moMathPara", "fldrslt", "dptxbx", *_APART})
_LEFT_OUT = frozenset(
    {
        "colortbl", "fldinst", "pict", "objdata", "stylesheet", "info", "filetbl", "listtable", "revtbl", "rsidtbl",
        "generator", "themedata", "xe", "tc", "sp", "sn", "sv", "bkmkstart", "bkmkend", "mmathPict", "mchr",
        "mbegChr", "mendChr", "msepChr", "mtype", "mpos", "mgrow", "mdegHide", "mmaxDist", "upr", "nonesttables",
        "shprslt", "ffname", "ffdeftext", "formfield", "datafield", "atnid", "atnauthor", "atrfstart", "atrfend",
        "atndate", "atnref", "atnparent", "atntime", "atnicn", "ftnsep", "ftnsepc", "aftnsep", "aftnsepc", "ftncn",
        "aftncn", "private", "template", "falt", "panose", "pntxtb", "pntxta", "pn", "objclass", "objname",
    }
)  # fmt: skip


@dataclass(slots=True)
class _Group:
    """State within a pair of braces. `kind` is the destination that its text goes to."""

    kind: str = "body"
    codec: str = ""
    skipped: int = 1  # characters after a letter of Unicode that replace it for older readers
    deleted: bool = False
    shift: str = ""  # `super` or `sub`
    apart: bool = False  # whether it interrupts a paragraph
    unknown: bool = False  # after the mark of a group that may be left out


@dataclass(slots=True)
class _Paragraph:
    """The paragraph that is being read."""

    parts: list[str] = field(default_factory=list[str])
    level: int = 0
    label: str = ""
    in_table: bool = False

    def text(self) -> str:
        """Return its text, in which the halves of a letter are joined."""
        text = "".join(self.parts)
        return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace").strip()


def read(data: bytes | bytearray, options: Options, about: About) -> Iterator[Piece]:
    """Yield the text of a file in Rich Text Format. Raises `Broken` where it nests too deep."""
    reading = _Reading(about, codec_of(options.encoding))
    yield from reading.pieces(bytes(data))


class _Reading:
    def __init__(self, about: About, encoding: str | None) -> None:
        self._about, self._stated = about, encoding
        self._page = encoding or "cp1252"
        self._group, self._groups = _Group(), list[_Group]()
        self._fonts: dict[int, str] = {}
        self._font = self._style = -1
        self._levels: dict[int, int] = {}  # of headings, by style
        self._raw = bytearray()  # letters that are not decoded yet
        self._left = 0  # characters that are still to skip
        self._paragraph = _Paragraph()
        self._open: list[_Paragraph] = []  # those that notes and boxes interrupt
        self._apart: list[str] = []
        self._cells: list[str] = []
        self._rows: list[list[str]] = []
        self._outline = Outline()
        self._deleted = self._objects = self._symbols = self._field = 0
        self._symbol: tuple[int, int] | None = None  # groups around a field that names one, and parts before it

    def pieces(self, data: bytes) -> Iterator[Piece]:
        at = 0
        while (token := _TOKEN.match(data, at)) is not None:
            at = token.end()
            word, number, byte, symbol, brace, plain = token.groups()
            if byte or plain:
                self._bytes(plain or bytes([int(byte, 16)]))
                continue
            self._decoded()
            if brace == b"{":
                self._begin()
            elif brace == b"}":
                yield from self._end()
            elif word == b"bin":
                at += max(int(number or 0), 0)
            elif word or symbol:
                yield from self._word((word or symbol).decode("latin-1"), int(number) if number else None)
        self._decoded()
        while self._groups:
            yield from self._end()
        yield from self._ended()
        yield from self._tabled()
        for text in dict.fromkeys(self._apart):
            yield block(Outline(), text, "note")
        self._noted()

    def _noted(self) -> None:
        self._about.leave_out("Deleted text of tracked changes", self._deleted)
        if self._objects:
            self._about.note(f"Objects embedded in the document were not read: {self._objects}.")
        if self._symbols:
            self._about.note(f"Symbols that are only numbers of fields were left out: {self._symbols}.")

    def _bytes(self, data: bytes) -> None:
        """Add bytes of text, without those that replace a letter of Unicode for older readers."""
        skipped = min(self._left, len(data))
        self._left -= skipped
        self._raw += data[skipped:]

    def _decoded(self) -> None:
        if self._raw:
            text = decode(bytes(self._raw), self._group.codec or self._page)
            self._raw.clear()
            self._add(text)

    def _add(self, text: str) -> None:
        kind = self._group.kind
        if kind == "out":
            return
        if self._group.deleted:
            self._deleted += len(text.split())
        elif kind == "field":
            if text.lstrip().startswith("SYMBOL "):
                self._symbol = (self._field, len(self._paragraph.parts))
        elif kind == "label":
            self._paragraph.label += text
        elif kind == "style":
            if named := _HEADING.match(text.strip()):
                self._levels[self._style] = int(named[1])
        elif kind == "title":
            self._about.title = f"{self._about.title or ''}{text}".strip() or None
        elif kind not in ("fonts", "info"):
            shift = self._group.shift
            self._paragraph.parts.append(raised(text, down=shift == "sub") if shift else text)

    def _begin(self) -> None:
        if len(self._groups) > DEEPEST:
            raise Broken(f"Groups of the file are nested deeper than {DEEPEST:,} levels.")
        self._left = 0
        self._groups.append(self._group)
        self._group = replace(self._group, unknown=False, apart=False)

    def _end(self) -> Iterator[Piece]:
        self._left = 0
        ended = self._group
        self._group = self._groups.pop() if self._groups else _Group()
        if self._symbol is not None and len(self._groups) < self._symbol[0]:
            self._symbols += len(self._paragraph.parts) == self._symbol[1]
            self._symbol = None
        if ended.apart:
            text, self._paragraph = self._paragraph.text(), self._open.pop()
            if ended.kind in _BOXES:
                yield from self._shown(text, 0, "") if text and self._group.kind == "body" else ()
            elif text:
                self._apart.append(_APART[ended.kind] + " ".join(text.split()))

    def _word(self, word: str, number: int | None) -> Iterator[Piece]:
        """Follow a control word."""
        if self._left and word != "u":  # a control word counts as one of those characters
            self._left -= 1
            return
        group = self._group
        if word == "*":
            group.unknown = True
            return
        if group.unknown:
            group.unknown = False
            if word not in _KEPT:
                self._leave_out(word)
                return
        if word in _LEFT_OUT or word.endswith("Pr"):
            self._leave_out(word)
        elif word in _APART and group.kind != "out" and not group.apart:
            group.apart = True
            self._open.append(self._paragraph)
            self._paragraph, group.kind = _Paragraph(), word
        elif word in ("par", "cell", "row", "trowd"):
            yield from self._broken(word)
        elif word == "u" and number is not None:
            self._add(chr(number % 0x10000))
            self._left = group.skipped
        elif word in _LETTERS:
            self._add(_LETTERS[word])
        else:
            self._formatted(word, number)

    def _leave_out(self, word: str) -> None:
        kinds = {"stylesheet": "style", "info": "info", "fldinst": "field"}
        self._about.images = self._about.images or word == "pict"
        self._objects += word == "objdata"
        self._field = len(self._groups) - 1 if word == "fldinst" else self._field
        if self._group.kind not in ("out", "fonts"):
            self._group.kind = kinds.get(word, "out")

    def _formatted(self, word: str, number: int | None) -> None:
        """Follow a control word that changes how text is read."""
        group = self._group
        if (kind := self._destination(word)) is not None:
            group.kind = kind
        elif word == "ansicpg" and self._stated is None:
            self._page = codec_of(f"cp{number}") or self._page
        elif word in _PAGES and self._stated is None:
            self._page = _PAGES[word]
        elif word == "fcharset":
            self._fonts[self._font] = _CHARSETS.get(number or 0, "")
        elif word == "f" and number is not None:
            self._font = number
            group.codec = self._fonts.get(number, "") if self._stated is None else ""
        elif word == "uc":
            group.skipped = min(max(number or 0, 0), 8)
        elif word == "deleted":
            group.deleted = number != 0
        else:
            self._paragraphed(word, number)

    def _destination(self, word: str) -> str | None:
        """Return where the text of a group goes that begins with such a word; None for other words."""
        before = self._group.kind
        if word == "ud":
            return self._groups[-2].kind if len(self._groups) > 1 else "body"
        if word in ("listtext", "pntext") and before != "out":
            return "label"
        return "fonts" if word == "fonttbl" else "title" if word == "title" and before == "info" else None

    def _paragraphed(self, word: str, number: int | None) -> None:
        """Follow a control word that says of what kind a paragraph is."""
        paragraph = self._paragraph
        if word == "pard":
            paragraph.level, paragraph.in_table = 0, False
        elif word == "intbl":
            paragraph.in_table = True
        elif word == "plain":
            self._group.deleted, self._group.shift = False, ""
        elif word in ("super", "sub", "nosupersub"):
            self._group.shift = word if number != 0 and word != "nosupersub" else ""
        elif word == "outlinelevel" and number is not None and 0 <= number < 9:
            paragraph.level = number + 1
        elif word == "s" and number is not None:
            self._style = number
            if self._group.kind == "body":
                paragraph.level = self._levels.get(number, 0)

    def _broken(self, word: str) -> Iterator[Piece]:
        """End a paragraph, a cell or a row."""
        if self._group.kind == "out":
            return
        if self._group.kind in _APART or (word == "par" and self._paragraph.in_table):
            self._paragraph.parts.append("\n")
        elif word == "par":
            yield from self._ended()
        elif word == "cell":
            self._cells.append(self._taken()[0])
        elif word == "row":
            self._rows.append(self._cells)
            self._cells = []
            if len(self._rows) >= ROWS:
                yield from self._tabled()

    def _taken(self) -> tuple[str, int, str]:
        before = self._paragraph
        self._paragraph = _Paragraph(level=before.level, in_table=before.in_table)
        return before.text(), before.level, " ".join(before.label.split())

    def _ended(self) -> Iterator[Piece]:
        text, level, label = self._taken()
        if text:
            yield from self._shown(text, level, label)

    def _shown(self, text: str, level: int, label: str) -> Iterator[Piece]:
        yield from self._tabled()
        if level:
            yield heading(self._outline, level, f"{label} {text}" if label.strip("·•-") else text)
        elif label:
            mark = label if any(map(str.isalnum, label)) else "-"
            yield block(self._outline, f"{mark} {text}", "list")
        else:
            yield block(self._outline, text)

    def _tabled(self) -> Iterator[Piece]:
        if self._cells:  # of a row that does not end
            self._rows.append(self._cells)
        rows, self._rows, self._cells = [cells for cells in self._rows if any(cells)], [], []
        if text := table(rows):
            yield block(self._outline, text.rstrip("\n"), "table")
