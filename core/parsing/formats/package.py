"""Office files and EPUB: a ZIP file of XML parts, read within limits, without entities or depth; and their charts."""

import io
import posixpath
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from typing import cast
from urllib.parse import unquote
from xml.etree import ElementTree
from xml.parsers import expat
from zipfile import BadZipFile

from muisti.core.model.unreadable import Broken, FileTooLarge, Unsafe
from muisti.core.parsing.formats.numbers import shown_number
from muisti.core.parsing.parsed import About, Outline, block, raised, table
from muisti.core.parsing.pieces import Piece
from muisti.core.parsing.zipped import open_zip, unpacked

Element = ElementTree.Element
PART = 128 << 20  # bytes that a part may unpack to
SUM = 512 << 20  # and all parts that are read
DEPTH = 400  # of elements inside each other
NAMED = 20  # parts that a note lists
PROLOGUE = 1 << 20  # bytes before the first element at most
_PICTURES = (".png", ".jpg", ".jpeg", ".gif", ".tif", ".tiff", ".bmp", ".emf", ".wmf", ".webp", ".svg")
RUNS = frozenset({"a-t", "m-t", "a-br"})
_FEED = 1 << 16
# Short prefixes for what a namespace's URI contains; it covers both the transitional and the strict names.
_PREFIXES = (
    ("wordprocessingml", "w"), ("presentationml", "p"), ("spreadsheetml", "x"), ("officeDocument/math", "m"),
    ("drawingml/main", "a"), ("drawingml/chart", "c"), ("drawingml/diagram", "dgm"), ("markup-compatibility", "mc"),
    ("word/2010/wordml", "w14"), ("officeDocument/relationships", "r"), ("package/relationships", "rel"),
    ("schemas-microsoft-com:vml", "v"), ("purl.org/dc/elements", "dc"), ("idpf.org/2007/opf", "opf"),
    *((f"opendocument:xmlns:{name}:", name) for name in ("office", "text", "table", "style", "presentation", "meta")),
    ("opendocument:xmlns:drawing:", "draw"), ("opendocument:xmlns:svg-compatible:", "svg"),
)  # fmt: skip


@cache
def short(tag: str) -> str:
    """Return a tag with a short prefix for its namespace, such as `w-p`; without one for a namespace unknown here."""
    uri, brace, local = tag.rpartition("}")
    if not brace:
        return tag
    uri = uri.replace("/2006/", "/")
    prefix = next((prefix for part, prefix in _PREFIXES if part in uri), "")
    return f"{prefix}-{local}" if prefix else local


def attribute(element: Element, name: str) -> str | None:
    """Return an attribute by its local name, in whatever namespace it is."""
    for key, value in element.attrib.items():
        if key == name or key.endswith("}" + name):
            return value
    return None


class Package:
    """A ZIP file of XML parts. Raises `Broken`, `Encrypted`, `FileTooLarge` and `Unsafe` while it is read."""

    def __init__(self, data: bytes | bytearray) -> None:
        try:
            self._zip = open_zip(io.BytesIO(data))
        except BadZipFile as error:
            raise Broken(f"The file is a damaged ZIP file: {error}.") from error
        self._names = {name.replace("\\", "/").lstrip("/").lower(): name for name in self._zip.NameToInfo}
        self._read = 0
        self._relations: dict[str, Mapping[str, tuple[str, str]]] = {}
        self._given: Counter[str] = Counter()

    def __contains__(self, name: str) -> bool:
        return name.lower() in self._names

    @property
    def has_images(self) -> bool:
        """Return whether there are pictures in the file, besides the small one of its first page."""
        return any(name.endswith(_PICTURES) and "thumbnail" not in name for name in self._names)

    def names(self, *ends: str) -> Iterator[str]:
        """Yield the names of the parts that end so."""
        for name in sorted(self._names.values()):
            if name.lower().endswith(ends):
                yield name

    def check(self, name: str) -> None:
        """Raise `Unsafe` where a part declares a document type. Its first bytes tell."""
        start = b""
        for part in self.blocks(name):
            start += part
            if _refuse_doctype(start, name):
                return

    def blocks(self, name: str) -> Iterator[bytes]:
        """Yield the content of a part, counted."""
        try:
            member = self._zip.getinfo(self._names[name.lower()])
        except KeyError as error:
            raise Broken(f"The part {name!r} is missing.") from error
        for part in unpacked(self._zip, member, PART):
            self._read += len(part)
            if self._read > SUM:
                raise FileTooLarge(f"The parts of the file unpack to more than {SUM >> 20} MB.")
            yield part

    def bytes(self, name: str) -> bytes:
        """Return the content of a part."""
        return b"".join(self.blocks(name))

    def tree(self, name: str) -> Element:
        """Return a part as a tree, whose tags have short prefixes."""
        root = None
        for event, element in events(self.blocks(name), name):
            if event == "start" and root is None:
                root = element
        if root is None:
            raise Broken(f"The part {name!r} is empty.")
        return root

    def children(self, name: str, *containers: str) -> Iterator[Element]:
        """Yield the children of the first element of each tag in a part."""
        yield from children_of(events(self.blocks(name), name), *containers)

    def first(self, part: str) -> bool:
        """Return whether a part is asked for the first time. A file that lists one often would cost without end."""
        self._given[part] += 1
        return self._given[part] == 1

    def note_embedded(self, about: About, main: str = "") -> None:
        """Add a note that names the files inside the file, and texts taken from others, but no tables of charts."""
        charts = [name for name in self._names if "/charts/_rels/" in name]
        behind = {
            posixpath.normpath(posixpath.join(name.partition("_rels/")[0], one.get("Target", ""))).lower()
            for name in charts
            for one in self.tree(name)
        }
        texts = {target.lower() for kind, target in self.relations(main).values() if kind == "aFChunk"}
        inside = [name for name in self._names if "/embeddings/" in name or name in texts]
        if found := [posixpath.basename(self._names[name]) for name in inside if name not in behind]:
            more = f" and {len(found) - NAMED} more" if len(found) > NAMED else ""
            about.note(f"Files embedded in the document were not read: {', '.join(found[:NAMED])}{more}.")

    def note_repeats(self, about: About) -> None:
        """Add a note that names the parts that were read once and are listed more often."""
        again = [part for part, times in self._given.items() if times > 1]
        if again:
            more = f" and {len(again) - NAMED} more" if len(again) > NAMED else ""
            about.notes.append(
                f"Parts that are listed more than once were read once: {', '.join(again[:NAMED])}{more}."
            )

    def relations(self, part: str) -> Mapping[str, tuple[str, str]]:
        """Return the relations of a part by id: the last word of the type, and the target inside the package."""
        if part not in self._relations:
            self._relations[part] = self._relations_of(part)
        return self._relations[part]

    def _relations_of(self, part: str) -> Mapping[str, tuple[str, str]]:
        folder, base = posixpath.split(part)
        name = posixpath.join(folder, "_rels", base + ".rels")
        if name not in self:
            return {}
        found: dict[str, tuple[str, str]] = {}
        for element in self.tree(name):
            target = element.get("Target", "")
            if element.get("TargetMode") != "External":
                kind = element.get("Type", "").rpartition("/")[2]
                found[element.get("Id", "")] = kind, resolved(folder, target)
        return found

    def related(self, part: str, kind: str) -> Iterator[str]:
        """Yield the parts that a part is related to by a kind, such as `notesSlide`, each once for the whole file."""
        for one, target in self.relations(part).values():
            if one == kind and target in self and self.first(target):
                yield target

    def main(self, usual: str) -> str:
        """Return the main part of an office file."""
        return usual if usual in self else next(self.related("", "officeDocument"), usual)

    def title(self) -> str | None:
        """Return the title among the properties of an office file, or None."""
        if "docProps/core.xml" not in self:
            return None
        found = self.tree("docProps/core.xml").find("dc-title")
        return " ".join((found.text or "").split()) or None if found is not None else None


def resolved(folder: str, target: str) -> str:
    """Return the name of a part by a link from a folder of the package.

    >>> resolved("ppt/slides", "../notes/n.xml"), resolved("ppt", "/word/a.xml")
    ('ppt/notes/n.xml', 'word/a.xml')
    """
    target = unquote(target.partition("#")[0])
    return posixpath.normpath(target[1:] if target.startswith("/") else posixpath.join(folder, target))


def events(blocks: Iterable[bytes], name: str) -> Iterator[tuple[str, Element]]:
    """Yield the starts and ends of elements. Raises `Unsafe` for a document type or depth, `Broken` for bad XML."""
    parser: ElementTree.XMLPullParser[Element] = ElementTree.XMLPullParser(("start", "end"))
    start, checked, depth = b"", False, 0
    try:
        for part in blocks:
            if not checked:
                start += part
                checked = _refuse_doctype(start, name)
            parser.feed(part)
            # Of starts and ends alone, each of which comes with its element.
            for event, element in cast(Iterator[tuple[str, Element]], parser.read_events()):
                if event == "start":
                    depth += 1
                    element.tag = short(element.tag)
                    if depth > DEPTH:
                        raise Unsafe(f"Elements of {name!r} are nested deeper than {DEPTH} levels.")
                else:
                    depth -= 1
                yield event, element
        parser.close()
    except ElementTree.ParseError as error:
        raise Broken(f"The XML of {name!r} is damaged: {error}.") from error


def children_of(found: Iterable[tuple[str, Element]], *containers: str) -> Iterator[Element]:
    """Yield the children of the first element of each tag, one by one, so that only one is in memory."""
    depth, inside, parent = 0, 0, None
    left = {*containers}
    for event, element in found:
        if event == "start":
            depth += 1
            if parent is None and element.tag in left:
                inside, parent = depth, element
                left.discard(element.tag)
            continue
        depth -= 1
        if parent is not None and depth == inside:
            yield element
            parent.clear()
        elif parent is not None and depth < inside:
            parent = None
            if not left:
                return
        elif parent is None:
            element.clear()


class _RootReached(Exception):
    """The root element has begun, after which no document type may come."""


def _refuse_doctype(start: bytes, name: str) -> bool:
    """Return whether the root element has begun, so that no entity can be declared. Raises `Unsafe` for one."""

    def doctype(*_: object) -> None:
        raise Unsafe(f"{name!r} declares a document type, which may hold entities.")

    def root(*_: object) -> None:
        raise _RootReached

    if len(start) > PROLOGUE:
        raise Unsafe(f"{name!r} has no element in its first {PROLOGUE >> 10:,} kB.")
    parser = expat.ParserCreate()
    parser.StartDoctypeDeclHandler = doctype
    parser.StartElementHandler = root
    try:
        for at in range(0, len(start), _FEED):
            parser.Parse(start[at : at + _FEED], False)
    except _RootReached:
        return True
    except expat.ExpatError:
        return False  # the reader's own parser tells
    return False


def title_of(chart: Element) -> str:
    """Return the title of a chart; empty when it has none."""
    title = chart.find("c-chart/c-title")
    return "" if title is None else " ".join("".join(one.text or "" for one in title.iter("a-t")).split())


def chart_table(chart: Element) -> str:
    """Return the values of a chart as a table in Markdown; empty when it has none."""
    columns: list[list[str]] = []
    for series in chart.iter("c-ser"):
        if not columns:
            columns.append(["", *_values(series, "c-cat", "c-xVal")])
        columns.append([next(_values(series, "c-tx"), ""), *_values(series, "c-val", "c-yVal")])
    height = max(map(len, columns), default=0)
    if height < 2:
        return ""
    return table([[column[at] if at < len(column) else "" for column in columns] for at in range(height)])


def described(element: Element) -> str:
    """Return the alternative text of a picture or a shape as Markdown; empty where it has none."""
    text = attribute(element, "descr") or attribute(element, "alt") or ""
    return f"![{' '.join(text.split())}]" if text.strip() else ""


def drawn_lines(root: Element) -> Iterator[str]:
    """Yield the paragraphs of a drawing or a diagram that have text."""
    for paragraph in root.iter("a-p"):
        out: list[str] = []
        shift = 0
        for one in paragraph.iter():
            if one.tag in ("a-r", "a-rPr"):
                stated = one.get("baseline", "0").removesuffix("%")
                shift = -1 if stated.startswith("-") else int(stated.strip("0.") != "")
            elif one.tag in RUNS:
                text = (one.text or "") if one.tag != "a-br" else "\n"
                out.append(raised(text, down=shift < 0) if shift else text)
        if text := "".join(out).strip():
            yield text


def chart_pieces(package: Package, part: str, outline: Outline, page: int | None = None) -> Iterator[Piece]:
    """Yield the title of a chart, the titles of its axes and its own labels, and its values as a table."""
    chart = package.tree(part)
    title = title_of(chart)
    if title:
        yield block(outline, title, page=page)
    if labels := [line for line in dict.fromkeys(drawn_lines(chart)) if " ".join(line.split()) != title]:
        yield block(outline, "\n".join(labels), page=page)
    if text := chart_table(chart):
        yield block(outline, text.rstrip("\n"), "table", page)


def _values(series: Element, *tags: str) -> Iterator[str]:
    """Yield the values under the first of these tags; charts of points have other ones than charts of categories."""
    found = next((one for tag in tags if (one := series.find(tag)) is not None), None)
    if found is None:
        return
    for point in found.iter("c-pt"):
        own, cache = point.get("formatCode"), found.find(".//c-numCache/c-formatCode")
        code = own or (cache.text if cache is not None else None)
        yield shown_number(point.findtext("c-v") or "", code)
    for value in found.findall("c-v"):
        yield value.text or ""
