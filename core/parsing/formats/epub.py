"""Read EPUB: the chapters in reading order, each a web page."""

from collections.abc import Iterator

from muisti.core.model.documents import Piece
from muisti.core.model.unreadable import Broken, Encrypted
from muisti.core.parsing.blocks import Outline
from muisti.core.parsing.formats.html import decode, markup_pieces
from muisti.core.parsing.formats.package import Element, Package, resolved
from muisti.core.parsing.options import Options
from muisti.core.parsing.parsed import About

_CONTAINER = "META-INF/container.xml"
_PAGES = frozenset({"application/xhtml+xml", "text/html", "application/xml", "text/xml", ""})


def read(data: bytes | bytearray, options: Options, about: About) -> Iterator[Piece]:
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
            yield from markup_pieces(decode(package.bytes(name)), outline)
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
