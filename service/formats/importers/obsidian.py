"""Vaults of Obsidian, and other folders of notes in Markdown: a memory a note."""

from collections.abc import Iterator

from muisti.service.formats.importers.items import Failed, Found, Item, Skipped, text_of, when, without
from muisti.service.formats.importers.notes import CREATED, UPDATED, Note, notes
from muisti.service.formats.importers.shapes import Shape
from muisti.service.formats.importers.source_files import Source

FIELDS = ("title", "tags", "tag", "author", "source", "cssclasses", "cssclass", *CREATED, *UPDATED)


def detect(shape: Shape) -> bool:
    return any(name.lower().endswith((".md", ".markdown")) for name in shape.members)


def read(source: Source) -> Iterator[Found]:
    for found in notes(source):
        yield found if isinstance(found, Skipped | Failed) else item(found)


def item(note: Note) -> Found:
    """Return the memory of a note, with the title above the text unless the text begins with it."""
    text = note.prose
    if not text:
        return Skipped(note.name, "empty")
    opening = text.partition("\n")[0].strip("# ").casefold()
    return Item(
        external=note.name,
        place=f"{note.name}:{note.line}",
        memory={
            "content": text if opening == note.title.casefold() else f"{note.title}\n\n{text}",
            "category": note.folder,
            "author": text_of(note.fields.get("author")),
            "source": text_of(note.fields.get("source")),
            "tags": note.tags,
            "metadata": without({"title": note.title, "path": note.name, "links": note.links}),
            "created_at": when(note.first(CREATED)),
            "updated_at": when(note.first(UPDATED)),
        },
        rest=without(note.fields, *FIELDS),
    )
