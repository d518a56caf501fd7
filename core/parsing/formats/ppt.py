"""Read PPT, the presentations of PowerPoint before 2007: slides in their order, with notes and comments."""

import struct
from collections.abc import Iterator, Mapping
from typing import NamedTuple

from muisti.core.model.unreadable import Broken, Encrypted
from muisti.core.parsing.formats.compound import Compound
from muisti.core.parsing.parsed import About, Options, Outline, block, heading
from muisti.core.parsing.pieces import Piece

DEPTH = 50  # of records inside each other
EDITS = 10_000  # of a presentation that are followed
_LIST, _SLIDE_PLACE, _NOTES_OF, _OUTLINE = 0x0FF0, 0x03F3, 0x03EF, 0x0F9E
_DOCUMENT, _SLIDE, _NOTES = 0x03E8, 0x03EE, 0x03F0
_KIND, _WIDE, _NARROW, _STRING = 0x0F9F, 0x0FA0, 0x0FA8, 0x0FBA
_EDIT, _PLACES, _COMMENT, _TAGS, _MARGINS = 0x0FF5, 0x1772, 0x2EE0, 0x138B, 0x0FD9
_DRAWN, _DESCRIPTION = 0xF00B, 0x0381
_TITLES = frozenset({0, 6})
_LOCKED = 0xF3D1C4DF  # mark of an encrypted presentation
_LETTERS = str.maketrans({"\r": "\n", "\x0b": "\n", "\0": None})


class _Record(NamedTuple):
    """A record: its kind, its number among those of its kind, and its content."""

    kind: int
    number: int
    body: memoryview
    is_full: bool  # of records

    def word(self, at: int) -> int:
        """Return a number of the content; 0 behind its end."""
        found: int = struct.unpack_from("<I", self.body, at)[0] if at + 4 <= len(self.body) else 0
        return found


class _Text(NamedTuple):
    """A text of a slide: its kind, such as a title, and what it says."""

    kind: int
    text: str


def read(data: bytes | bytearray, options: Options, about: About) -> Iterator[Piece]:
    """Yield the text of a presentation. Raises `Broken` and `Encrypted`."""
    container = Compound(data, about.note)
    user = container.stream("current user")
    stream = memoryview(container.stream("powerpoint document"))
    if len(user) >= 20 and struct.unpack_from("<I", user, 12)[0] == _LOCKED:
        raise Encrypted("The presentation is encrypted; it needs a password.")
    about.title = container.title()
    about.images = "pictures" in container
    places = _places(stream, struct.unpack_from("<I", user, 16)[0] if len(user) >= 20 else 0)
    records = {place: record for place, at in places.items() if (record := next(_records(stream[at:]), None))}
    document = next((one for one in records.values() if one.kind == _DOCUMENT), None)
    if document is None:
        yield from _scanned(stream, about)
        return
    notes = {slide.word(12): slide.word(0) for slide, _ in _listed(document, 2)}
    count = 0
    for count, (listed, texts) in enumerate(_listed(document, 0), 1):
        slide = records.get(listed.word(0))
        outline = Outline()
        shown = list(_texts(slide, texts)) if slide is not None else texts
        for text in shown:
            if text.kind in _TITLES:
                yield heading(outline, 1, text.text, count)
            else:
                yield block(outline, text.text, page=count)
        if slide is not None:
            yield from _besides(slide, records.get(notes.get(_notes_of(slide), -1)), outline, count)
    about.pages = count
    yield from _margins(document, Outline())
    if objects := sum(one.kind == 0x1011 for one in records.values()):
        about.note(f"Objects embedded in the presentation were not read: {objects}.")


def _records(data: memoryview) -> Iterator[_Record]:
    """Yield the records that follow each other."""
    at = 0
    while at + 8 <= len(data):
        head, kind, size = struct.unpack_from("<HHI", data, at)
        yield _Record(kind, head >> 4, data[at + 8 : at + 8 + size], head & 15 == 15)
        at += 8 + size


def _all(record: _Record, depth: int = 0) -> Iterator[_Record]:
    """Yield the records inside another, at any depth."""
    for one in _records(record.body):
        yield one
        if (one.is_full or one.kind == _TAGS) and depth < DEPTH:
            yield from _all(one, depth + 1)


def _places(stream: memoryview, at: int) -> Mapping[int, int]:
    """Return where records are by their numbers, of the newest edit first."""
    found: dict[int, int] = {}
    seen = set[int]()
    while at + 8 <= len(stream) and at not in seen and len(seen) < EDITS:
        seen.add(at)
        edit = next(_records(stream[at:]))
        if edit.kind != _EDIT:
            break
        listed = next(_records(stream[edit.word(12) :]), None)
        place = 0
        while listed is not None and listed.kind == _PLACES and place + 4 <= len(listed.body):
            start, count = listed.word(place) & 0xFFFFF, listed.word(place) >> 20
            for number in range(min(count, len(listed.body) // 4)):
                found.setdefault(start + number, listed.word(place + 4 + 4 * number))
            place += 4 + 4 * count
        at = edit.word(8) or len(stream)
    return found


def _listed(document: _Record, kind: int) -> Iterator[tuple[_Record, list[_Text]]]:
    """Yield the slides, or the notes, that a presentation lists, with the texts of its outline."""
    for listed in _records(document.body):
        if listed.kind != _LIST or listed.number != kind:
            continue
        slide: _Record | None = None
        inner: list[_Record] = []
        for record in _records(listed.body):
            if record.kind != _SLIDE_PLACE:
                inner.append(record)
                continue
            if slide is not None:
                yield slide, list(_said(iter(inner)))
            slide, inner = record, []
        if slide is not None:
            yield slide, list(_said(iter(inner)))


def _said(records: Iterator[_Record]) -> Iterator[_Text]:
    """Yield the texts among records, each with its kind, which comes before it. Empty ones count for the outline."""
    kind, text = -1, ""
    for record in records:
        if record.kind == _KIND:
            if kind >= 0:
                yield _Text(kind, text)
            kind, text = record.word(0), ""
        elif record.kind in (_WIDE, _NARROW):
            text = _decoded(record)
    if kind >= 0:
        yield _Text(kind, text)


def _decoded(record: _Record) -> str:
    codec = "latin-1" if record.kind == _NARROW else "utf-16-le"
    return bytes(record.body).decode(codec, "replace").translate(_LETTERS).strip()


def _texts(slide: _Record, listed: list[_Text]) -> Iterator[_Text]:
    """Yield the texts of a slide in the order of its shapes, of which some are in the outline."""
    used = set[int]()
    own: list[_Record] = []
    found: list[_Text] = []
    for record in _all(slide):
        if record.kind == _OUTLINE and (number := record.word(0)) < len(listed):
            used.add(number)
            found.append(listed[number])
        elif record.kind == _KIND:
            found += _said(iter(own))
            own = [record]
        elif record.kind in (_WIDE, _NARROW):
            own.append(record)
    found += _said(iter(own))
    found = [*(text for number, text in enumerate(listed) if number not in used), *found]
    yield from (text for text in found if text.text)


def _notes_of(slide: _Record) -> int:
    return next((one.word(16) for one in _records(slide.body) if one.kind == _NOTES_OF), 0)


def _besides(slide: _Record, notes: _Record | None, outline: Outline, number: int) -> Iterator[Piece]:
    """Yield the notes, the margins and comments of a slide, and the descriptions of its pictures."""
    if notes is not None and notes.kind == _NOTES:
        for text in _texts(notes, []):
            yield block(outline, f"Notes: {text.text}", "note", number)
    for record in _all(slide):
        if record.kind == _COMMENT:
            named = {one.number: _decoded(one) for one in _records(record.body) if one.kind == _STRING}
            if text := named.get(1):
                yield block(outline, f"Comment by {named.get(0) or 'someone'}: {text}", "note", number)
        elif record.kind == _DRAWN and (text := _described(record)):
            yield block(outline, f"![{text}]", page=number)
    yield from _margins(slide, outline, number)


def _margins(record: _Record, outline: Outline, number: int | None = None) -> Iterator[Piece]:
    for margins in _records(record.body):
        for one in _records(margins.body) if margins.kind == _MARGINS else ():
            if one.kind == _STRING and (text := _decoded(one)):
                yield block(outline, f"{'Header' if one.number == 1 else 'Footer'}: {text}", "note", number)


def _described(record: _Record) -> str:
    """Return the description among the properties of a shape, whose texts follow all of them."""
    at = 6 * record.number
    for start in range(0, min(at, len(record.body) - 5), 6):
        kind, size = struct.unpack_from("<HI", record.body, start)
        if kind & 0x3FFF == _DESCRIPTION:
            return bytes(record.body[at : at + size]).decode("utf-16-le", "replace").translate(_LETTERS).strip()
        at += size if kind & 0x8000 else 0
    return ""


def _scanned(stream: memoryview, about: About) -> Iterator[Piece]:
    """Yield all texts of a presentation whose list of slides is lost."""
    found = [*_said(one for record in _records(stream) for one in [record, *_all(record)])]
    if not any(text.text for text in found):
        raise Broken("The list of the presentation's slides is damaged.")
    about.note("The list of slides is damaged: texts are in the order of the file, with those of former versions.")
    for text in found:
        if text.text:
            yield block(Outline(), text.text)
