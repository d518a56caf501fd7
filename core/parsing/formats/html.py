"""Read HTML: headings, paragraphs, lists, tables, code, without scripts and styles; or only the main content.

An EPUB is read as its chapters in reading order, each of which is a web page.
"""

import re
from collections.abc import Iterator
from itertools import count

from selectolax.lexbor import LexborHTMLParser, LexborNode

from muisti.core.model.unreadable import Broken, Encrypted, ExtraMissing, Unsafe
from muisti.core.parsing.encodings import codec_of, text_of
from muisti.core.parsing.encodings import decode as decoded
from muisti.core.parsing.formats.equations import DEEP as DEEP_MATH
from muisti.core.parsing.formats.equations import Math, written
from muisti.core.parsing.formats.package import Element, Package, resolved
from muisti.core.parsing.parsed import About, Options, Outline, block, heading, raised, spread, table
from muisti.core.parsing.pieces import Piece, PieceKind
from muisti.core.parsing.text import MarkdownReader, lines

try:  # an optional extra
    import trafilatura
except ImportError:
    trafilatura = None

DEEP = 200  # levels of elements above which the reader of main content loses text without a word
DEEPEST = 20_000  # levels of elements that are read
SPAN = 100  # rows or columns that a cell spans at most
FRAMES = 3  # pages inside each other that are read
NAMED = 20  # addresses that a note lists
INNER = 4  # elements inside each other that a raised text may have
_DROPPED = frozenset(("script", "style", "head", "rp"))
_FRAMES = frozenset(("iframe", "frame"))
_UNSEEN = frozenset(("noscript", "template", "noframes", "object", "canvas", "select", "datalist", "rt", *_FRAMES))
_UNTYPED = frozenset(("hidden", "password", "checkbox", "radio", "file", "color", "range"))
_NAMED = frozenset(("img", "area", "svg", "input", "button", "a", "i", "span"))  # what may have a name and no text
_TAGS = re.compile(r"<[^<>]*+>")
_BLOCKS = frozenset(
    {
        "p", "div", "section", "article", "main", "header", "footer", "nav", "aside", "ul", "ol", "dl", "dd",
        "dt", "blockquote", "figure", "figcaption", "form", "fieldset", "address", "body", "html", "pre",
        "hr", "li", "details", "summary", "caption", "center", "dir", "hgroup", "legend", "menu", "option",
        "search", "td", "th", "tr", "table", "tbody", "thead", "tfoot", "text", "title", "desc", "textarea",
    }
)  # fmt: skip
_HEADINGS = {f"h{level}": level for level in range(1, 7)}
_LAYOUT = "table, h1, h2, h3, h4, h5, h6, pre, ul, ol, form, article, section"
_TAG = re.compile(r"<(/?)([a-zA-Z][a-zA-Z0-9]*)")
# Elements that have no end, or whose end is often left out.
_UNCLOSED = frozenset(
    {
        "area", "base", "br", "col", "embed", "hr", "img", "input", "link", "meta", "source", "track", "wbr",
        "p", "li", "td", "tr", "th", "dt", "dd", "option", "tbody", "thead",
    }
)  # fmt: skip
_BLANKS = re.compile(r"\s+")
_CHARSET = re.compile(rb"<meta[^<>]+charset\s*+=\s*+(?:[\"']\s*+)?+([a-zA-Z0-9_:-]+)", re.IGNORECASE)
_DECLARED = re.compile(rb"<\?xml[^<>]+encoding\s*+=\s*+[\"']([a-zA-Z0-9_:-]+)", re.IGNORECASE)


def read(data: bytes | bytearray, options: Options, about: About) -> Iterator[Piece]:
    """Yield the text of a web page. Raises `ExtraMissing` for main content without the extra `web`."""
    source = decode(bytes(data), about, options.encoding)
    _refuse_depth(source)
    page = LexborHTMLParser(source)
    title = page.css_first("title")
    about.title = (" ".join(title.text().split()) or None) if title is not None else None
    root = page.css_first("html")
    about.language = (root.attributes.get("lang") or None) if root is not None else None
    if not options.main_content:
        yield from pieces_of(page.body or page.css_first("frameset"), Outline(), about)
        return
    if trafilatura is None:
        raise ExtraMissing('The main content of web pages needs the extra `web`: pip install "muisti[web]".')
    main = None if _is_deep(page.body) else trafilatura.extract(source, output_format="markdown", include_tables=True)
    if main and main.strip():
        yield from MarkdownReader().pieces(lines([main.strip() + "\n"]))
    else:
        about.notes.append("No main content was found, so the whole page was read.")
        yield from pieces_of(page.body, Outline(), about)


def _refuse_depth(source: str) -> None:
    """Raise `Unsafe` for a page of very many levels, which the parser takes quadratic time for."""
    if source.count("<") < DEEPEST:
        return
    depth = 0
    for tag in _TAG.finditer(source):
        if tag[2].lower() not in _UNCLOSED:
            depth += -1 if tag[1] else 1
            if depth > DEEPEST:
                raise Unsafe(f"Elements of the page are nested deeper than {DEEPEST:,} levels.")


def decode(data: bytes, about: About, encoding: str | None = None, label: str | None = None) -> str:
    """Return a page as text, by the given encoding, its mark, a label that came with it, or what it states itself."""
    if (codec := codec_of(encoding)) is not None:
        return decoded(data, codec).removeprefix("\ufeff")
    start = data[:4096]
    found = _DECLARED.search(start) or _CHARSET.search(start)
    return text_of(data, label or (found[1].decode("ascii") if found else None), about.note)


def markup_pieces(source: str, outline: Outline, about: About, page: int | None = None) -> Iterator[Piece]:
    """Yield the text of HTML in another document, such as a chapter or an e-mail."""
    yield from pieces_of(LexborHTMLParser(source).body, outline, about, page)


def pieces_of(body: LexborNode | None, outline: Outline, about: About, page: int | None = None) -> Iterator[Piece]:
    """Yield the text of an element and all in it."""
    if body is not None:
        walk = _Walk(outline, about, page)
        yield from walk.pieces(body)
        walk.end()


def _is_deep(body: LexborNode | None) -> bool:
    """Return whether elements are nested deeper than the reader of main content can read."""
    waiting = [(body, 0)] if body is not None else []
    while waiting:
        node, depth = waiting.pop()
        if depth > DEEP:
            return True
        child = node.child
        while child is not None:
            if child.child is not None:
                waiting.append((child, depth + 1))
            child = child.next
    return False


class _Walk:
    """A walk over elements without recursion, so that no depth of nesting ends it."""

    def __init__(
        self, outline: Outline, about: About, page: int | None = None, depth: int = 0, *, cell: bool = False
    ) -> None:
        self._outline, self._about, self._page, self._depth = outline, about, page, depth
        self._in_cell = cell  # where tables are walked like other elements, or each would be a walk in another
        self._elsewhere: list[str] = []
        self._words: list[str] = []
        self._label = ""
        self._lists: list[Iterator[int] | None] = []

    def pieces(self, root: LexborNode) -> Iterator[Piece]:
        """Yield the pieces of an element."""
        waiting: list[tuple[LexborNode, bool]] = [(root, False)]
        while waiting:
            node, ended = waiting.pop()
            tag = node.tag or ""
            if ended:
                yield from self._leave(node, tag)
            elif tag == "-text":
                self._words.append(_BLANKS.sub(" ", node.text_content or ""))
            elif tag in _DROPPED or tag.startswith("-"):
                continue
            elif tag in _UNSEEN:
                yield from self._unseen(node, tag)
            elif tag in ("br", "math", "sup", "sub") and (text := _special(node, tag)):
                self._words.append(text)
            elif tag == "pre" or (tag == "table" and self._is_data(node)):
                yield from self._flush()
                yield from self._whole(node, tag)
            else:
                if tag in _BLOCKS or tag in _HEADINGS:
                    yield from self._flush()
                    self._enter(tag)
                elif tag in _NAMED and (name := _name(node, tag)):
                    self._words.append(f" {name} ")
                waiting.append((node, True))
                waiting.extend((child, False) for child in reversed([*_children(node)]))
        yield from self._flush()

    def _is_data(self, node: LexborNode) -> bool:
        """Return whether a table is one of data, and not of the layout of a page."""
        return not self._in_cell and node.css_first(_LAYOUT, default=node) in (None, node)

    def end(self) -> None:
        """Name the frames whose pages are elsewhere."""
        if self._elsewhere:
            more = f" and {len(self._elsewhere) - NAMED} more" if len(self._elsewhere) > NAMED else ""
            self._about.note(f"Pages in frames were not read: {', '.join(self._elsewhere[:NAMED])}{more}.")

    def _unseen(self, node: LexborNode, tag: str) -> Iterator[Piece]:
        """Yield the page in a frame, and count the words that a browser does not show."""
        inside, address = node.attributes.get("srcdoc"), (node.attributes.get("src") or "").strip()
        if tag in _FRAMES and inside and self._depth < FRAMES:
            yield from self._flush()
            frame = LexborHTMLParser(inside)
            if frame.body is not None:
                yield from _Walk(self._outline, self._about, self._page, self._depth + 1).pieces(frame.body)
        elif tag in _FRAMES and (inside or address):
            self._elsewhere.append(address[:200] or "one inside others")
        else:
            self._about.leave_out(f"Text in elements <{tag}>", len(_TAGS.sub(" ", node.html or "").split()))

    def _enter(self, tag: str) -> None:
        if tag in ("ul", "ol", "menu", "dir"):
            self._lists.append(count(1) if tag == "ol" else None)
        elif tag == "li":
            numbers = self._lists[-1] if self._lists else None
            depth = max(len(self._lists) - 1, 0)
            self._label = "  " * min(depth, 8) + ("- " if numbers is None else f"{next(numbers)}. ")

    def _leave(self, node: LexborNode, tag: str) -> Iterator[Piece]:
        if tag in _HEADINGS:
            title = self._taken()
            if title:
                yield heading(self._outline, _HEADINGS[tag], title, self._page)
        elif tag in _BLOCKS:
            yield from self._flush()
            if tag in ("ul", "ol", "menu", "dir") and self._lists:
                self._lists.pop()

    def _whole(self, node: LexborNode, tag: str) -> Iterator[Piece]:
        """Yield a block of code, or a table, whose elements are not walked one by one."""
        if tag == "pre":
            text = node.text().strip("\n")
            if text.strip():
                yield self._piece(f"```\n{text}\n```", "code")
            return
        caption = node.css_first("caption")
        if caption is not None and (text := self._text(caption)):
            yield self._piece(text, "text")
        if text := table([cells for cells in self._rows(node) if any(cells)]):
            yield self._piece(text.rstrip("\n"), "table")

    def _taken(self) -> str:
        parts = "".join(self._words).split("\n")
        self._words = []
        return "\n".join(line for part in parts if (line := _BLANKS.sub(" ", part).strip()))

    def _flush(self) -> Iterator[Piece]:
        text = self._taken()
        if text:
            yield self._piece(self._label + text, "list" if self._label else "text")
            self._label = ""

    def _piece(self, text: str, kind: PieceKind) -> Piece:
        return block(self._outline, text, kind, self._page)

    def _rows(self, node: LexborNode) -> Iterator[list[str]]:
        """Yield the cells of each row of a table. A cell that spans rows is in each of them."""
        spanning: dict[int, tuple[int, str]] = {}  # by column: how many rows more, and the text
        for part in _children(node):
            rows = _children(part) if part.tag in ("tbody", "thead", "tfoot") else iter((part,))
            for row in rows:
                if row.tag == "tr":
                    cells = [one for one in _children(row) if one.tag in ("td", "th")]
                    yield spread([(self._text(one), *_spans(one)) for one in cells], spanning)

    def _text(self, node: LexborNode) -> str:
        """Return the text of a cell in one line."""
        only = node.child
        if only is not None and only.tag == "-text" and only.next is None:
            return " ".join((only.text_content or "").split())
        walk = _Walk(Outline(), self._about, self._page, self._depth, cell=True)
        return " ".join(" ".join(piece.text.split()) for piece in walk.pieces(node))


def _spans(cell: LexborNode) -> tuple[int, int]:
    """Return how many rows and columns a cell takes."""
    return _span(cell, "rowspan"), _span(cell, "colspan")


def _span(cell: LexborNode, name: str) -> int:
    value = cell.attributes.get(name) or "1"
    return min(int(value), SPAN) if value.isdecimal() and len(value) < 6 and int(value) else 1


def _children(node: LexborNode) -> Iterator[LexborNode]:
    child = node.child
    while child is not None:
        yield child
        child = child.next


def _name(node: LexborNode, tag: str) -> str:
    """Return the text shown for an element: a picture, a field, or a button without a word."""
    attributes = node.attributes
    named = (attributes.get("alt") or "").strip() or (attributes.get("aria-label") or "").strip()
    if tag == "input":
        return "" if attributes.get("type") in _UNTYPED else (attributes.get("value") or "").strip() or named
    if tag in ("img", "area"):
        return f"![{named}]" if named else ""
    is_bare = node.child is None or (node.child.next is None and node.child.tag != "-text" and node.child.child is None)
    return f"![{named}]" if named and (tag == "svg" or is_bare) else ""


def _special(node: LexborNode, tag: str) -> str:
    """Return a break, an equation as LaTeX, or raised or lowered digits in their letters; empty for other ones."""
    if tag == "br":
        return "\n"
    if tag == "math":
        equation = written(_math(node))
        return f" ${equation}$ " if equation else ""
    only = node
    for _ in range(INNER):
        if only.child is None or only.child.next is not None:
            return ""
        only = only.child
        if only.tag == "-text":
            text = (only.text_content or "").strip()
            shown = raised(text, down=tag == "sub")
            return shown if shown != text else ""
    return ""


def _math(node: LexborNode, depth: int = 0) -> Math:
    """Return an element of MathML."""
    inner = [one for one in _children(node) if not (one.tag or "-").startswith("-")]
    if not inner or depth == DEEP_MATH:
        return Math(node.tag or "", node.text(), [], node.attributes.get("encoding") or "")
    return Math(node.tag or "", "", [_math(one, depth + 1) for one in inner])


_CONTAINER = "META-INF/container.xml"
_PAGES = frozenset({"application/xhtml+xml", "text/html", "application/xml", "text/xml", ""})


def read_book(data: bytes | bytearray, options: Options, about: About) -> Iterator[Piece]:
    """Yield the text of a book. Raises what `Package` raises, and `Encrypted` for a protected book."""
    package = Package(data)
    about.images = package.has_images
    paths = [one.get("full-path", "") for one in package.tree(_CONTAINER).iter() if one.tag.endswith("rootfile")]
    path = next((one for one in paths if one in package), None)
    if path is None:
        raise Broken("The book has no package document.")
    book = package.tree(path)
    about.title = _metadata(book, "dc-title")
    about.language = _metadata(book, "dc-language")
    chapters = [*_chapters(package, book, path.rpartition("/")[0])]
    if chapters and _is_protected(package, chapters):
        raise Encrypted("The chapters of the book are encrypted.")
    outline = Outline()
    for name in chapters:
        if package.first(name):
            yield from markup_pieces(decode(package.bytes(name), about), outline, about)
    package.note_repeats(about)


def _metadata(book: Element, tag: str) -> str | None:
    found = next(book.iter(tag), None)
    return None if found is None else " ".join((found.text or "").split()) or None


def _chapters(package: Package, book: Element, folder: str) -> Iterator[str]:
    """Yield the parts that the book lists in reading order."""
    items = {one.get("id"): one for one in book.iter() if one.tag == "opf-item"}
    for reference in book.iter("opf-itemref"):
        item = items.get(reference.get("idref"))
        if item is not None and item.get("media-type", "") in _PAGES:
            name = resolved(folder, item.get("href", ""))
            if name in package:
                yield name


def _is_protected(package: Package, chapters: list[str]) -> bool:
    """Return whether a chapter is among the encrypted parts. Fonts alone are often obfuscated, and do no harm."""
    if "META-INF/encryption.xml" not in package:
        return False
    listed = {one.get("URI", "") for one in package.tree("META-INF/encryption.xml").iter() if one.get("URI")}
    return not listed.isdisjoint(chapters)
