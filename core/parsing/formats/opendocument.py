"""Read OpenDocument texts and slides, zipped or as one XML file: headings, lists, tables, boxes, notes, comments."""

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field

from muisti.core.model.unreadable import Encrypted
from muisti.core.parsing.formats.equations import of_element, written
from muisti.core.parsing.formats.numbering import Counts, Level
from muisti.core.parsing.formats.package import Element, Package, attribute, children_of, events
from muisti.core.parsing.parsed import About, Options, Outline, block, heading, raised, spread, table
from muisti.core.parsing.pieces import Piece

CONTENT, STYLES = "content.xml", "styles.xml"
MANIFEST, _ENCRYPTION = "META-INF/manifest.xml", b"encryption-data"
SPAN = 100  # rows or columns that a cell takes at most
SPACES = 100  # that one element means at most
_BLANKS = re.compile(r"[ \t\r\n]+")
_FORMS = {"a": "lowerLetter", "A": "upperLetter", "i": "lowerRoman", "I": "upperRoman", "": "none"}
_PARAGRAPHS = frozenset({"text-p", "text-h"})
_TITLES = frozenset({"title", "Title"})
# What is no text of the document: deleted text, forms and declarations, the patterns that indexes are built by.
_LEFT_OUT = frozenset(
    {
        "text-tracked-changes", "office-forms", "office-event-listeners", "text-sequence-decls", "text-script",
        "text-table-of-content-source", "text-alphabetical-index-source", "text-illustration-index-source",
        "text-bibliography-source", "text-object-index-source", "text-table-index-source", "text-user-index-source",
        "text-ruby-text", "office-binary-data", "svg-title", "svg-desc", "text-note-citation", "dc-creator", "dc-date",
        "table-content-validations", "table-tracked-changes", "table-named-expressions", "meta-creator-initials",
        "meta-date-string",
    }
)  # fmt: skip
_APART = frozenset({"text-note", "office-annotation"})
_AS_TEXT = {"text-tab": "\t", "text-line-break": "\n"}


class Source:
    """The parts of a document: those of a ZIP file, or the one XML file that holds them all."""

    def __init__(self, data: bytes | bytearray) -> None:
        self._package = Package(data) if data[:2] == b"PK" else None
        self._data = bytes(data) if self._package is None else b""
        if self._package is not None and MANIFEST in self._package and _ENCRYPTION in self._package.bytes(MANIFEST):
            raise Encrypted("The document is encrypted; it needs a password.")

    @property
    def has_images(self) -> bool:
        """Return whether there are pictures in the file."""
        return self._package.has_images if self._package is not None else b"binary-data" in self._data

    def children(self, part: str, container: str) -> Iterator[Element]:
        """Yield the children of the first element of that tag in a part; none where there is no such part."""
        if self._package is None:
            yield from children_of(events([self._data], "the file"), container)
        elif part in self._package:
            yield from self._package.children(part, container)

    def inner(self, element: Element) -> Element | None:
        """Return the content of an object inside the document, such as a chart, the first time it is asked for."""
        if len(element):
            return element
        name = f"{(attribute(element, 'href') or '').removeprefix('./')}/{CONTENT}"
        if self._package is None or name not in self._package or not self._package.first(name):
            return None
        return self._package.tree(name)


@dataclass(slots=True)
class Styles:
    """Names of the styles of titles, levels of lists by the list's style, and the styles that hide."""

    titles: set[str] = field(default_factory=lambda: set(_TITLES))
    lists: dict[str, Mapping[int, Level]] = field(default_factory=dict[str, Mapping[int, Level]])
    outline: Mapping[int, Level] = field(default_factory=dict[int, Level])
    hidden: set[str] = field(default_factory=set[str])
    shifted: dict[str, bool] = field(default_factory=dict[str, bool])  # whether down, of styles of raised text

    def add(self, style: Element) -> None:
        """Add a style."""
        name = attribute(style, "name") or ""
        if style.tag == "text-list-style":
            self.lists[name] = dict(_levels(style))
        elif style.tag == "text-outline-style":
            self.outline = dict(_levels(style))
        elif style.tag == "style-style":
            if attribute(style, "parent-style-name") in self.titles:
                self.titles.add(name)
            for properties in style:
                if attribute(properties, "display") == "false" or attribute(properties, "visibility") == "hidden":
                    self.hidden.add(name)
                place = (attribute(properties, "text-position") or "").split()
                if place and (place[0] in ("super", "sub") or place[0].strip("-%0123456789.") == ""):
                    self.shifted[name] = place[0].startswith(("sub", "-"))


def _levels(style: Element) -> Iterator[tuple[int, Level]]:
    for level in style:
        depth = _number(attribute(level, "level"), 1) - 1
        if level.tag.endswith("-bullet") or level.tag.endswith("-image"):
            yield depth, Level(1, "bullet", "")
            continue
        form = attribute(level, "num-format") or ""
        places = _number(attribute(level, "display-levels"), 1)
        numbers = ".".join(f"%{at + 1}" for at in range(max(depth + 1 - places, 0), depth + 1))
        pattern = f"{attribute(level, 'num-prefix') or ''}{numbers}{attribute(level, 'num-suffix') or ''}"
        start = _number(attribute(level, "start-value"), 1)
        yield depth, Level(start, _FORMS.get(form, "decimal"), pattern if form else "")


def _number(text: str | None, otherwise: int, most: int = 1 << 20) -> int:
    return min(int(text), most) if text is not None and text.isdecimal() and len(text) < 10 else otherwise


def opened(data: bytes | bytearray, about: About) -> tuple[Source, Styles]:
    """Return the parts of a document and its styles, and complete what is known about it."""
    source, styles = Source(data), Styles()
    about.images = source.has_images
    for part, container in ((STYLES, "office-styles"), (CONTENT, "office-automatic-styles")):
        for style in source.children(part, container):
            styles.add(style)
    for one in source.children("meta.xml", "office-meta"):
        if one.tag == "dc-title":
            about.title = " ".join((one.text or "").split()) or None
    return source, styles


def read(data: bytes | bytearray, options: Options, about: About) -> Iterator[Piece]:
    """Yield the text of an OpenDocument text. Raises what `Package` raises, and `Encrypted`."""
    source, styles = opened(data, about)
    reader = Blocks(source, styles, about)
    for child in source.children(CONTENT, "office-text"):
        yield from reader.block(child)
    yield from reader.notes()
    seen: set[str] = set()
    for master in source.children(STYLES, "office-master-styles"):
        for margin in master:
            text = reader.joined(margin)
            if margin.tag.startswith(("style-header", "style-footer")) and text and text not in seen:
                seen.add(text)
                yield block(Outline(), f"{margin.tag[6:12].capitalize()}: {text}", "note")


def read_slides(data: bytes | bytearray, options: Options, about: About) -> Iterator[Piece]:
    """Yield the text of an OpenDocument presentation or drawing. Raises what `read` raises."""
    source, styles = opened(data, about)
    about.pages = 0
    hidden: list[int] = []
    for container in ("office-presentation", "office-drawing"):
        for page in source.children(CONTENT, container):
            if page.tag == "draw-page":
                about.pages += 1
                if attribute(page, "style-name") in styles.hidden:
                    hidden.append(about.pages)
                reader = Blocks(source, styles, about, about.pages)
                for child in page:
                    yield from reader.block(child)
                yield from reader.notes()
    if hidden:
        about.notes.append(f"Slides that are hidden were read: {', '.join(map(str, hidden[:20]))}.")


class Blocks:
    """A walk over the blocks of a text, a slide or what is in a sheet's cells; notes and comments come at its end."""

    def __init__(self, source: Source, styles: Styles, about: About, page: int | None = None) -> None:
        self._source, self._styles, self._about, self._page = source, styles, about, page
        self._outline = Outline()
        self._counts = Counts()
        self._lists = 0
        self._notes: list[str] = []
        self._fields: dict[str, str] = {}  # values of the fields of the user
        self._special: Mapping[str, Callable[[Element], Iterator[Piece]]] = {
            "text-p": self._paragraph, "text-h": self._heading, "table-table": self._table,
            "draw-frame": self._frame, "presentation-notes": self._speaker,
            "text-list": lambda element: self._list(element, self._new_list(), "", 0),
        }  # fmt: skip

    def block(self, element: Element) -> Iterator[Piece]:
        """Yield the pieces of an element and all in it."""
        special = self._special.get(element.tag)
        if special is not None:
            yield from special(element)
        elif element.tag in _APART:
            self._aside(element)
        elif element.tag == "text-tracked-changes":
            self._note_deleted(element)
        elif element.tag == "text-user-field-decl":
            self._fields[attribute(element, "name") or ""] = attribute(element, "string-value") or ""
        elif element.tag not in _LEFT_OUT:
            yield from self._described(element)
            for child in element:
                yield from self.block(child)

    def notes(self) -> Iterator[Piece]:
        """Yield the notes and comments that the blocks so far held."""
        for text in self._notes:
            yield block(Outline(), text, "note", self._page)
        self._notes = []

    def joined(self, element: Element) -> str:
        """Return the paragraphs of an element in one line."""
        texts = (" ".join(self.text(one).split()) for one in _paragraphs(element))
        return " ".join(text for text in texts if text)

    def text(self, element: Element) -> str:
        """Return the text of a paragraph, with that of boxes in it. Notes are kept for later."""
        out: list[str] = []
        self._collect(element, out)
        return "".join(out).strip()

    def _collect(self, element: Element, out: list[str]) -> None:
        out.append(_BLANKS.sub(" ", element.text or ""))
        for child in element:
            if (short := self._short(child)) is not None:
                out.append(short)
            elif child.tag in _APART:
                self._aside(child)
            elif child.tag == "text-span":
                self._collect_span(child, out)
            elif child.tag in ("draw-object", "table-table"):
                out += ["\n" + piece.text.strip() + "\n" for piece in self.block(child)]
            elif child.tag not in _LEFT_OUT:
                out += [f" ![{text}] " for text in _descriptions(child)]
                if child.tag in _PARAGRAPHS and out and not out[-1].endswith("\n"):
                    out.append("\n")
                self._collect(child, out)
                if child.tag == "draw-text-box":
                    out.append("\n")
            out.append(_BLANKS.sub(" ", child.tail or ""))

    def _short(self, element: Element) -> str | None:
        """Return the text of blanks, marks and fields of the user; None for other elements."""
        if element.tag == "text-s":
            return " " * _number(attribute(element, "c"), 1, SPACES)
        if element.tag == "text-user-field-get":  # its text may be older than the value
            return self._fields.get(attribute(element, "name") or "") or element.text or ""
        return _AS_TEXT.get(element.tag)

    def _collect_span(self, element: Element, out: list[str]) -> None:
        down = self._styles.shifted.get(attribute(element, "style-name") or "")
        inner: list[str] = []
        self._collect(element, out if down is None else inner)
        if down is not None:
            out.append(raised("".join(inner), down=down))

    def _aside(self, element: Element) -> None:
        """Keep a footnote, an endnote or a comment."""
        if not (text := self.joined(element)):
            return
        citation = element.find("text-note-citation")
        if citation is not None:
            self._notes.append(f"[^{(citation.text or '').strip()}]: {text}")
        else:
            author = element.findtext("dc-creator")
            self._notes.append(f"Comment by {author}: {text}" if author else f"Comment: {text}")

    def _note_deleted(self, element: Element) -> None:
        words = sum(len(self.joined(one).split()) for one in element.iter("text-deletion"))
        self._about.leave_out("Deleted text of tracked changes", words)

    def _paragraph(self, element: Element) -> Iterator[Piece]:
        if text := self.text(element):
            if attribute(element, "style-name") in self._styles.titles:
                yield heading(self._outline, 1, text, self._page)
            else:
                yield block(self._outline, text, page=self._page)

    def _heading(self, element: Element) -> Iterator[Piece]:
        level = _number(attribute(element, "outline-level"), 1, 10)
        label = ""
        if level - 1 in self._styles.outline and attribute(element, "is-list-header") != "true":
            label = self._counts.label("outline", self._styles.outline, level - 1)
        if text := self.text(element):
            yield heading(self._outline, level, f"{label} {text}".strip(), self._page)

    def _new_list(self) -> str:
        self._lists += 1
        return str(self._lists)

    def _list(self, element: Element, key: str, style: str, depth: int) -> Iterator[Piece]:
        style = attribute(element, "style-name") or style
        if attribute(element, "continue-numbering") == "true" or attribute(element, "continue-list"):
            key = style
        levels = self._styles.lists.get(style, {})
        for item in element:
            if item.tag not in ("text-list-item", "text-list-header"):
                continue
            label = ""
            if item.tag == "text-list-item" and item.find("text-p") is not None:
                stated = attribute(item, "start-value")
                label = self._counts.label(key, levels, depth, _number(stated, 1) if stated else None)
            for child in item:
                if child.tag == "text-list":
                    yield from self._list(child, key, style, depth + 1)
                elif child.tag == "text-p":
                    if text := self.text(child):
                        mark = f"{'  ' * min(depth, 8)}{label} " if label else ""
                        yield block(self._outline, mark + text, "list" if label else "text", self._page)
                        label = ""
                else:
                    yield from self.block(child)

    def _table(self, element: Element) -> Iterator[Piece]:
        if text := table([cells for cells in self._rows(element, {}) if any(cells)]):
            yield block(self._outline, text.rstrip("\n"), "table", self._page)

    def _rows(self, element: Element, above: dict[int, tuple[int, str]]) -> Iterator[list[str]]:
        for child in element:
            if child.tag == "table-table-row":
                cells = [cell for cell in child if cell.tag == "table-table-cell"]
                yield spread([(self.joined(cell), *_spans(cell)) for cell in cells], above)
            elif child.tag.startswith("table-table-") or child.tag == "text-soft-page-break":
                yield from self._rows(child, above)

    def _frame(self, element: Element) -> Iterator[Piece]:
        kind = attribute(element, "class")
        if kind in ("title", "page") and self._page is not None:
            if text := self.joined(element):
                yield heading(self._outline, 1, text, self._page)
            return
        yield from self._described(element)
        for child in element:
            yield from self.block(child)
            if child.tag in ("draw-object", "table-table"):  # a picture of it follows
                return

    def _described(self, element: Element) -> Iterator[Piece]:
        for text in _descriptions(element):
            yield block(self._outline, f"![{text}]", page=self._page)
        if element.tag == "draw-object" and (inner := self._source.inner(element)) is not None:
            yield from self._object(inner)

    def _object(self, root: Element) -> Iterator[Piece]:
        """Yield an equation as it was written, a chart as its titles and values, or a document."""
        formulas = [one.text for one in root.iter() if one.tag.rpartition("}")[2] == "annotation" and one.text]
        if root.tag.rpartition("}")[2] == "math" and not formulas:
            formulas = [written(of_element(root))]
        for formula in filter(None, map(str.strip, formulas)):
            yield block(self._outline, f"${formula}$", page=self._page)
        body = None if formulas else root.find(".//office-body")
        if body is not None:
            yield from self.block(body)

    def _speaker(self, element: Element) -> Iterator[Piece]:
        kept = (one for one in element if attribute(one, "class") == "notes")
        if text := "\n".join(filter(None, map(self.joined, kept))):
            yield block(self._outline, "Notes: " + text, "note", self._page)


def _spans(cell: Element) -> tuple[int, int]:
    """Return how many rows and columns a cell takes."""
    rows, columns = (attribute(cell, f"number-{what}-spanned") for what in ("rows", "columns"))
    return _number(rows, 1, SPAN) or 1, _number(columns, 1, SPAN) or 1


def _descriptions(element: Element) -> Iterator[str]:
    """Yield the alternative texts of a picture or a shape."""
    for child in element:
        if child.tag in ("svg-title", "svg-desc") and (text := " ".join((child.text or "").split())):
            yield text


def _paragraphs(element: Element) -> Iterator[Element]:
    """Yield the paragraphs below an element, without those of notes and comments."""
    for child in element:
        if child.tag in _PARAGRAPHS:
            yield child
        elif child.tag not in _APART and child.tag not in _LEFT_OUT:
            yield from _paragraphs(child)
