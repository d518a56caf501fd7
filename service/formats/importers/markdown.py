"""Muisti's own notes in Markdown, each with its id, and what people have put beside them."""

from collections.abc import Iterator
from typing import Any, cast

from muisti.core.model.ids import id_bytes
from muisti.service.formats.importers import obsidian
from muisti.service.formats.importers.items import Failed, Found, Item, Skipped, when
from muisti.service.formats.importers.obsidian import OURS, Note, notes
from muisti.service.formats.importers.shapes import Shape
from muisti.service.formats.importers.source_files import Source
from muisti.service.formats.markdown import ID, TIMES, memory_of


def detect(shape: Shape) -> bool:
    return any(OURS.match(text) for text in shape.texts)


def read(source: Source) -> Iterator[Found]:
    for found in notes(source):
        if isinstance(found, Skipped | Failed):
            yield found
        elif ID in found.fields:
            yield _own(found)
        else:
            yield obsidian.item(found)


def _own(note: Note) -> Found:
    memory_id = str(note.fields[ID])
    if id_bytes(memory_id) is None:
        return Failed(f"{note.name}:2", f"{memory_id[:80]!r} is no memory id")
    memory = memory_of(note.fields, note.text)
    for name in TIMES:
        if name in memory and (moment := when(memory[name])) is not None:
            memory[name] = moment
    bad = next((name for name in ("metadata",) if not isinstance(memory.get(name, {}), dict)), None)
    if bad is not None:
        return Failed(note.name, f"{bad} is no map of names to values")
    rest = {name: value for name, value in note.fields.items() if name != ID and name not in memory}
    return Item(external=memory_id, place=note.name, memory=cast(dict[str, Any], memory), rest=rest, own=memory_id)
