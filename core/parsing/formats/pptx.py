"""Read PPTX: slides in order, with titles, texts, tables, charts, diagrams, descriptions and the speaker's notes."""

from collections.abc import Iterator

from muisti.core.model.unreadable import Broken
from muisti.core.parsing.formats.package import Element, Package, attribute, chart_pieces, described, drawn_lines
from muisti.core.parsing.parsed import About, Options, Outline, block, heading, table
from muisti.core.parsing.pieces import Piece

_MARGINS = frozenset({"ftr", "dt", "hdr"})  # placeholders that are on every slide
_TITLES = frozenset({"title", "ctrTitle"})
_GROUPS = frozenset({"mc-AlternateContent", "mc-Choice", "p-grpSp"})


def read(data: bytes | bytearray, options: Options, about: About) -> Iterator[Piece]:
    """Yield the text of a PPTX file. Raises what `Package` raises."""
    package = Package(data)
    about.images = package.has_images
    about.title = package.title()
    main = package.main("ppt/presentation.xml")
    relations = package.relations(main)
    listed = [attribute(one, "id") or "" for one in _slide_ids(package, main)]
    slides = [relations[one][1] for one in listed if one in relations and relations[one][1] in package]
    if listed and not slides:
        raise Broken("The presentation lists slides, and none of them is in the file.")
    about.pages = len(slides)
    hidden: list[int] = []
    margins: set[str] = set()
    behind: set[str] = set()
    for number, part in enumerate(slides, 1):
        if package.first(part):
            root = package.tree(part)
            if root.get("show") in ("0", "false"):
                hidden.append(number)
            yield from _Slide(package, part, number, margins).pieces(root)
            yield from _behind(package, part, number, behind)
    if hidden:
        about.note(f"Slides that are hidden were read: {', '.join(map(str, hidden[:20]))}.")
    package.note_embedded(about)
    package.note_repeats(about)


def _slide_ids(package: Package, main: str) -> Iterator[Element]:
    for element in package.tree(main).iter("p-sldId"):
        # Two attributes are called "id"; the one that names a relation has a namespace.
        named = {key: value for key, value in element.attrib.items() if key.startswith("{")}
        element.attrib.clear()
        element.attrib.update(named)
        yield element


def _behind(package: Package, part: str, number: int, seen: set[str]) -> Iterator[Piece]:
    """Yield the texts that are on slides of a layout or a master, each once; their placeholders are on the slides."""
    for kind, behind in package.relations(part).values():
        if kind not in ("slideLayout", "slideMaster") or behind in seen or behind not in package:
            continue
        seen.add(behind)
        shapes = (one for one in package.tree(behind).iter("p-sp") if _placeholder(one) is None)
        if text := "\n".join(line for shape in shapes for line in drawn_lines(shape)):
            yield block(Outline(), f"On slides of this layout: {text}", "note", number)
        yield from _behind(package, behind, number, seen) if kind == "slideLayout" else ()


class _Slide:
    """A slide, and the footers of the slides so far, each of which is read once."""

    def __init__(self, package: Package, part: str, number: int, margins: set[str]) -> None:
        self._package, self._part, self._number, self._margins = package, part, number, margins
        self._outline = Outline()

    def pieces(self, root: Element) -> Iterator[Piece]:
        """Yield the text of the slide, the speaker's notes and the comments."""
        for shape in root.iterfind("p-cSld/p-spTree/*"):
            yield from self._shape(shape)
        for part in self._package.related(self._part, "notesSlide"):
            for shape in self._package.tree(part).iter("p-sp"):
                kind, text = _placeholder(shape), "\n".join(drawn_lines(shape))
                if kind in ("body", None) and text:
                    yield block(self._outline, "Notes: " + text, "note", self._number)
                elif kind in _MARGINS:
                    yield from self._text(shape)
        for part in self._package.related(self._part, "comments"):
            comments = self._package.tree(part)
            for text in [*(one.text or "" for one in comments.iter("p-text")), *drawn_lines(comments)]:
                if text.strip():
                    yield block(self._outline, "Comment: " + text, "note", self._number)

    def _shape(self, shape: Element) -> Iterator[Piece]:
        if (named := shape.find("./*/p-cNvPr")) is not None and (text := described(named)):
            yield block(self._outline, text, page=self._number)
        if shape.tag == "p-sp":
            yield from self._text(shape)
        elif shape.tag == "p-graphicFrame":
            rows = [[" ".join(drawn_lines(cell)) for cell in row.iter("a-tc")] for row in shape.iter("a-tr")]
            if text := table(rows):
                yield block(self._outline, text.rstrip("\n"), "table", self._number)
            yield from self._graphic(shape)
        elif shape.tag in _GROUPS:
            for child in shape:
                yield from self._shape(child)

    def _text(self, shape: Element) -> Iterator[Piece]:
        kind = _placeholder(shape)
        lines = [*drawn_lines(shape)]
        if not lines or kind == "sldNum":
            return
        if kind in _MARGINS:
            if (text := " ".join(lines)) not in self._margins:
                self._margins.add(text)
                yield block(self._outline, f"Footer: {text}", "note", self._number)
        elif kind in _TITLES:
            yield heading(self._outline, 1, " ".join(lines), self._number)
        else:
            yield block(self._outline, "\n".join(lines), page=self._number)

    def _graphic(self, frame: Element) -> Iterator[Piece]:
        """Yield the texts of a chart as a table, and those of a diagram as lines."""
        relations = self._package.relations(self._part)
        for element in frame.iter():
            wanted = {"c-chart": "id", "dgm-relIds": "dm"}.get(element.tag)
            target = relations.get(attribute(element, wanted) or "", ("", ""))[1] if wanted else ""
            if not target or target not in self._package or not self._package.first(target):
                continue
            if element.tag == "c-chart":
                yield from chart_pieces(self._package, target, self._outline, self._number)
            elif text := "\n".join(drawn_lines(self._package.tree(target))):
                yield block(self._outline, text, page=self._number)


def _placeholder(shape: Element) -> str | None:
    found = shape.find(".//p-ph")
    return None if found is None else found.get("type", "")
