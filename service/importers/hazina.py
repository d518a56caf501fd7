"""Hazina: the folder of its metadata store, a file of JSON for each document."""

from collections.abc import Iterator

from service.importers.items import Failed, Found, Item, Skipped, text_of, when, without, words
from service.importers.jsons import json_object
from service.importers.shapes import Shape
from service.importers.sources import Part, Source

SUFFIX = ".metadata.json"
READ = ("Id", "OriginalPath", "Created", "CustomMetadata", "Summary", "Tags", "SearchableText")


def detect(shape: Shape) -> bool:
    return shape.is_many and shape.holds(SUFFIX)


def read(source: Source) -> Iterator[Found]:
    with source.parts() as parts:
        for part in parts:
            yield _document(part) if part.name.endswith(SUFFIX) else Skipped(part.name, "no metadata")


def _document(part: Part) -> Found:
    text = part.text()
    told = text if isinstance(text, Failed) else json_object(text, part.name)
    if isinstance(told, Failed):
        return told
    row = {name[:1].upper() + name[1:]: value for name, value in told.items()}  # camelCase is read there too
    document = text_of(row.get("Id"))
    if document is None:
        return Failed(part.name, "a document without an Id")
    content = text_of(row.get("SearchableText")) or text_of(row.get("Summary"))
    if content is None:
        return Skipped(part.name, "no text")
    own = row.get("CustomMetadata")
    return Item(
        external=document,
        place=part.name,
        memory={
            "content": content,
            "tags": words(row.get("Tags")),
            "source": text_of(row.get("OriginalPath")),
            "reason": text_of(row.get("Summary")) if text_of(row.get("SearchableText")) else None,
            "metadata": own if isinstance(own, dict) else {},
            "created_at": when(row.get("Created")),
        },
        rest=without(row, *READ),
    )
