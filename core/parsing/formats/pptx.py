"""Read PPTX: the slides in order, with titles, texts, tables, charts, diagrams and the speaker's notes."""

from collections.abc import Iterator

from muisti.core.model.documents import Piece
from muisti.core.model.unreadable import Broken
from muisti.core.parsing.formats.package import Element, Package, attribute, chart_pieces
from muisti.core.parsing.parsed import About, Options, Outline, block, heading, table

_LEFT_OUT = frozenset({"sldNum", "ftr", "dt"})  # placeholders that are on every slide
_TITLES = frozenset({"title", "ctrTitle"})


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
    for number, slide in enumerate(slides, 1):
        if package.first(slide):
            yield from _slide(package, slide, number)
    package.note_repeats(about)


def _slide_ids(package: Package, main: str) -> Iterator[Element]:
    for element in package.tree(main).iter("p-sldId"):
        # Two attributes are called "id"; the one that names a relation has a namespace.
        named = {key: value for key, value in element.attrib.items() if key.startswith("{")}
        element.attrib.clear()
        element.attrib.update(named)
        yield element


def _slide(package: Package, slide: str, number: int) -> Iterator[Piece]:
    outline = Outline()
    for tree in package.children(slide, "p-cSld"):
        if tree.tag == "p-spTree":
            for shape in tree:
                yield from _shape(package, slide, shape, outline, number)
    for part in package.related(slide, "notesSlide"):
        for shape in package.tree(part).iter("p-sp"):
            text = "\n".join(_paragraphs(shape)).strip()
            if _placeholder(shape) == "body" and text:
                yield block(outline, "Notes: " + text, "note", number)
    for part in package.related(slide, "comments"):
        for comment in package.tree(part).iter("p-text"):
            if comment.text:
                yield block(outline, "Comment: " + comment.text, "note", number)


def _shape(package: Package, slide: str, shape: Element, outline: Outline, number: int) -> Iterator[Piece]:
    if shape.tag == "p-sp":
        yield from _text(shape, outline, number)
    elif shape.tag == "p-graphicFrame":
        rows = [[*_cells(row)] for row in shape.iter("a-tr")]
        if text := table(rows):
            yield block(outline, text.rstrip("\n"), "table", number)
        yield from _graphic(package, slide, shape, outline, number)
    elif shape.tag in ("mc-AlternateContent", "mc-Choice", "p-grpSp"):
        for child in shape:
            yield from _shape(package, slide, child, outline, number)


def _text(shape: Element, outline: Outline, number: int) -> Iterator[Piece]:
    kind = _placeholder(shape)
    lines = [text for line in _paragraphs(shape) if (text := line.strip())]
    if not lines or kind in _LEFT_OUT:
        return
    if kind in _TITLES:
        yield heading(outline, 1, " ".join(lines), number)
    else:
        yield block(outline, "\n".join(lines), page=number)


def _placeholder(shape: Element) -> str | None:
    found = shape.find(".//p-ph")
    return None if found is None else found.get("type", "")


def _paragraphs(element: Element) -> Iterator[str]:
    for paragraph in element.iter("a-p"):
        parts = [
            (one.text or "") if one.tag in ("a-t", "m-t") else "\n" for one in paragraph.iter() if one.tag in _RUNS
        ]
        yield "".join(parts)


_RUNS = frozenset({"a-t", "m-t", "a-br"})


def _cells(row: Element) -> Iterator[str]:
    for cell in row.iter("a-tc"):
        yield " ".join(text for line in _paragraphs(cell) if (text := line.strip()))


def _graphic(package: Package, slide: str, frame: Element, outline: Outline, number: int) -> Iterator[Piece]:
    """Yield the texts of a chart as a table, and those of a diagram as lines."""
    relations = package.relations(slide)
    for element in frame.iter():
        wanted = {"c-chart": "id", "dgm-relIds": "dm"}.get(element.tag)
        target = relations.get(attribute(element, wanted) or "", ("", ""))[1] if wanted else ""
        if not target or target not in package or not package.first(target):
            continue
        if element.tag == "c-chart":
            yield from chart_pieces(package, target, outline, number)
        elif lines := [text for line in _paragraphs(package.tree(target)) if (text := line.strip())]:
            yield block(outline, "\n".join(lines), page=number)
