"""Read DOCX: headings, paragraphs, lists, tables, text boxes, equations and charts, then notes and comments."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from muisti.core.parsing.formats.equations import latex
from muisti.core.parsing.formats.numbering import Counts, Level
from muisti.core.parsing.formats.package import Element, Package, attribute, chart_pieces, described, drawn_lines
from muisti.core.parsing.parsed import About, Options, Outline, block, heading, raised, table
from muisti.core.parsing.pieces import Piece


class Numbering:
    """The lists of a document, counted on from paragraph to paragraph."""

    def __init__(self, levels: Mapping[str, Mapping[int, Level]], lists: Mapping[str, str]) -> None:
        self._levels, self._lists, self._counts = levels, lists, Counts()

    def label(self, number: str, depth: int) -> str:
        """Count an item, and return its label: a number, "-" for a bullet, empty where the list shows none."""
        abstract = self._lists.get(number, "")
        return self._counts.label(abstract, self._levels.get(abstract, {}), depth)


def numbering_of(package: Package, main: str) -> Numbering:
    """Return the lists that a document declares."""
    levels: dict[str, dict[int, Level]] = {}
    lists: dict[str, str] = {}
    for part in package.related(main, "numbering"):
        for element in package.children(part, "w-numbering"):
            if element.tag == "w-abstractNum":
                levels[attribute(element, "abstractNumId") or ""] = dict(map(_list_level, element.findall("w-lvl")))
            elif element.tag == "w-num":
                number, abstract = attribute(element, "numId") or "", _value(element, "w-abstractNumId") or ""
                if own := dict(_overrides(element, levels.get(abstract, {}))):
                    levels[f"{number} of {abstract}"] = {**levels.get(abstract, {}), **own}
                    abstract = f"{number} of {abstract}"
                lists[number] = abstract
    return Numbering(levels, lists)


def _overrides(element: Element, usual: Mapping[int, Level]) -> Iterator[tuple[int, Level]]:
    """Yield the levels that a list has in another way than those it is based on."""
    for one in element.findall("w-lvlOverride"):
        depth, start = attribute(one, "ilvl") or "0", _value(one, "w-startOverride")
        if (level := one.find("w-lvl")) is not None:
            yield _list_level(level)
        elif start is not None and start.isdecimal() and depth.isdecimal() and int(depth) in usual:
            before = usual[int(depth)]
            yield int(depth), Level(int(start), before.form, before.pattern)


def _list_level(element: Element) -> tuple[int, Level]:
    start = _value(element, "w-start") or "1"
    depth = attribute(element, "ilvl") or "0"
    level = Level(
        int(start) if start.isdecimal() else 1,
        _value(element, "w-numFmt") or "decimal",
        _value(element, "w-lvlText") or "",
    )
    return int(depth) if depth.isdecimal() else 0, level


_WRAPPERS = frozenset({"w-sdt", "w-sdtContent", "w-ins", "w-moveTo", "w-customXml", "w-smartTag"})
_LEFT_OUT = frozenset({"mc-Fallback", "w-del", "w-moveFrom", "w-pPr", "w-rPr", "w-sdtPr", "w-instrText", "w-rt"})
_DESCRIBED = frozenset({"docPr", "v-shape"})  # what a drawing or a picture says of itself
_AS_TEXT = {"w-tab": "\t", "w-br": "\n", "w-cr": "\n", "w-noBreakHyphen": "-"}
CAP = 10  # characters of a drop cap at most
_HEADING = re.compile(r"heading (\d)", re.IGNORECASE)
_NOTES = (("footnotes", "w-footnote"), ("endnotes", "w-endnote"), ("comments", "w-comment"))
_NOTHING: Mapping[str, "Style"] = {}


@dataclass(frozen=True, slots=True)
class Style:
    """A style of paragraphs: its name, the level of its headings, the style that it is based on, and its list."""

    name: str
    level: str | None
    base: str | None
    numbers: str | None
    depth: str | None


def read(data: bytes | bytearray, options: Options, about: About) -> Iterator[Piece]:
    """Yield the text of a DOCX file. Raises what `Package` raises."""
    package = Package(data)
    about.images = package.has_images
    about.title = package.title()
    main = package.main("word/document.xml")
    reader = _Reading(package, main)
    for child in package.children(main, "w-body"):
        yield from reader.block(child)
    yield from reader.end()
    seen: set[str] = set()
    for kind in ("header", "footer"):
        for part in package.related(main, kind):
            text = " ".join(filter(None, (text_of(one).strip() for one in _paragraphs(package.tree(part)))))
            if text and text not in seen:
                seen.add(text)
                yield Piece(text=f"{kind.capitalize()}: {text}\n\n", kind="note")
    for kind, tag in _NOTES:
        for part in package.related(main, kind):
            for note in package.children(part, f"w-{kind}"):
                if note.tag == tag and (text := _note(note)):
                    yield Piece(text=text + "\n\n", kind="note")
    about.leave_out("Deleted text of tracked changes", reader.deleted)
    package.note_embedded(about, main)
    package.note_repeats(about)


def _styles(package: Package, main: str) -> Mapping[str, Style]:
    part = next(package.related(main, "styles"), None)
    if part is None:
        return _NOTHING
    found: dict[str, Style] = {}
    for style in package.children(part, "w-styles"):
        if style.tag == "w-style":
            found[attribute(style, "styleId") or ""] = Style(
                _value(style, "w-name") or "",
                _value(style, "w-pPr/w-outlineLvl"),
                _value(style, "w-basedOn"),
                _value(style, "w-pPr/w-numPr/w-numId"),
                _value(style, "w-pPr/w-numPr/w-ilvl"),
            )
    return found


def _value(element: Element, path: str) -> str | None:
    found = element.find(path)
    return None if found is None else attribute(found, "val")


class _Reading:
    def __init__(self, package: Package, main: str) -> None:
        self._package = package
        self._styles = _styles(package, main)
        self._numbering: Numbering = numbering_of(package, main)
        self._relations = package.relations(main)
        self._outline = Outline()
        self.deleted = 0  # words that tracked changes delete
        self._drop_cap = ""  # large first letters of the next paragraph, which Word keeps as a paragraph

    def block(self, element: Element) -> Iterator[Piece]:
        """Yield the pieces of a child of the body."""
        self.deleted += sum(len((one.text or "").split()) for one in element.iter("w-delText"))
        yield from self._block(element)

    def _block(self, element: Element) -> Iterator[Piece]:
        if element.tag == "w-p":
            yield from self._paragraph(element)
        elif element.tag == "w-tbl":
            if text := table_text(element):
                yield block(self._outline, text.rstrip("\n"), "table")
            yield from self._graphics(element)
        elif element.tag in _WRAPPERS:
            for child in element:
                yield from self._block(child)

    def end(self) -> Iterator[Piece]:
        """Yield a drop cap that no paragraph follows."""
        if self._drop_cap:
            yield block(self._outline, self._drop_cap)

    def _paragraph(self, element: Element) -> Iterator[Piece]:
        text = self._drop_cap + text_of(element).strip()
        frame = element.find("w-pPr/w-framePr")
        is_cap = frame is not None and attribute(frame, "dropCap") in ("drop", "margin") and len(text) <= CAP
        self._drop_cap = text if is_cap else ""
        if text and not is_cap:
            style = _value(element, "w-pPr/w-pStyle")
            level = self._level(style) or _level(_value(element, "w-pPr/w-outlineLvl"))
            label, depth = self._label(element, style)
            if level:
                yield heading(self._outline, level, text if label in ("", "-") else f"{label} {text}")
            elif label:
                yield block(self._outline, f"{'  ' * min(depth, 8)}{label} {text}", "list")
            else:
                yield block(self._outline, text)
        yield from self._graphics(element)

    def _graphics(self, element: Element) -> Iterator[Piece]:
        """Yield the charts and the diagrams of an element."""
        for one in element.iter():
            wanted = {"c-chart": "id", "dgm-relIds": "dm"}.get(one.tag)
            target = self._relations.get(attribute(one, wanted) or "", ("", ""))[1] if wanted else ""
            if not target or target not in self._package or not self._package.first(target):
                continue
            if one.tag == "c-chart":
                yield from chart_pieces(self._package, target, self._outline)
            elif text := "\n".join(drawn_lines(self._package.tree(target))):
                yield block(self._outline, text)

    def _label(self, element: Element, style: str | None) -> tuple[str, int]:
        """Return the label of a list item, empty for another paragraph, and how deep the item is."""
        number = _value(element, "w-pPr/w-numPr/w-numId")
        depth = _value(element, "w-pPr/w-numPr/w-ilvl")
        for one in self._bases(style):
            number = one.numbers if number is None else number
            depth = one.depth if depth is None else depth
        if number is None or number == "0":
            return "", 0
        deep = int(depth) if depth is not None and depth.isdecimal() else 0
        return self._numbering.label(number, deep), deep

    def _level(self, style: str | None) -> int:
        for one in self._bases(style):
            named = _HEADING.match(one.name)
            if named:
                return int(named[1])
            if one.name.lower() == "title":
                return 1
            if one.level is not None:
                return _level(one.level)
        return 0

    def _bases(self, style: str | None) -> Iterator[Style]:
        for _ in range(10):
            one = self._styles.get(style or "")
            if one is None:
                return
            yield one
            style = one.base


def _level(outline: str | None) -> int:
    return int(outline) + 1 if outline is not None and outline.isdigit() and int(outline) < 9 else 0


def _note(note: Element) -> str:
    text = " ".join(part for paragraph in note.iter("w-p") if (part := text_of(paragraph).strip()))
    return f"[^{attribute(note, 'id') or ''}]: {text}" if text else ""


def text_of(paragraph: Element) -> str:
    """Return the text of a paragraph, with its equations and the paragraphs of its text boxes."""
    out: list[str] = []
    _collect(paragraph, out)
    return "".join(out)


def _collect(element: Element, out: list[str]) -> None:
    for child in element:
        tag = child.tag
        if (leaf := _leaf(child)) is not None:
            out.append(leaf)
        elif tag == "w-r" and (shift := _value(child, "w-rPr/w-vertAlign")) in ("superscript", "subscript"):
            inner: list[str] = []
            _collect(child, inner)
            out.append(raised("".join(inner), down=shift == "subscript"))
        elif tag in _DESCRIBED and (text := described(child)):
            out.append(f" {text} ")
            _collect(child, out)
        elif tag == "w-tbl":
            out.append("\n" + table_text(child))
        elif tag not in _LEFT_OUT:
            if tag == "w-p" and out and not out[-1].endswith("\n"):
                out.append("\n")
            _collect(child, out)


def _leaf(element: Element) -> str | None:
    """Return the text of an element that is read as a whole; None for one whose children are read."""
    if element.tag == "w-t":
        return element.text or ""
    if element.tag == "m-oMath":
        return f"${latex(element)}$"
    if element.tag == "w14-checked":
        return "[x] " if attribute(element, "val") in ("1", "true") else "[ ] "
    return _AS_TEXT.get(element.tag)


def table_text(element: Element) -> str:
    """Return a table in Markdown. A cell that spans columns is in the first of them."""
    above: list[str] = []
    rows: list[list[str]] = []
    for row in _within(element, "w-tr"):
        above = [*_cells(row, above)]
        rows.append(above)
    return table([cells for cells in rows if any(cells)])


def _cells(row: Element, above: Sequence[str]) -> Iterator[str]:
    """Yield the texts of a row. A cell that spans rows is in each of them, so that each row is complete."""
    column = 0
    for cell in _within(row, "w-tc"):
        merged = cell.find("w-tcPr/w-vMerge")
        if merged is not None and attribute(merged, "val") != "restart":
            yield above[column] if column < len(above) else ""
        else:
            texts = (" ".join(text_of(paragraph).split()) for paragraph in _paragraphs(cell))
            yield " ".join(text for text in texts if text)
        span = _value(cell, "w-tcPr/w-gridSpan") or "1"
        width = min(int(span), 64) if span.isdecimal() else 1
        for _ in range(width - 1):
            yield ""
        column += max(width, 1)


def _paragraphs(cell: Element) -> Iterator[Element]:
    for child in cell:
        if child.tag == "w-p":
            yield child
        elif child.tag not in _LEFT_OUT:
            yield from _paragraphs(child)


def _within(element: Element, tag: str) -> Iterator[Element]:
    """Yield the rows of a table, or the cells of a row, also where they are wrapped."""
    for child in element:
        if child.tag == tag:
            yield child
        elif child.tag in _WRAPPERS:
            yield from _within(child, tag)
