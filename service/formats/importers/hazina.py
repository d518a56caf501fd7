"""Hazina: the folder of its metadata store, a file of JSON for each document."""

from collections.abc import Iterator

from muisti.service.formats.importers.items import (
    Failed,
    Found,
    Item,
    Skipped,
    retrieved,
    text_of,
    times,
    without,
    words,
)
from muisti.service.formats.importers.jsons import json_object
from muisti.service.formats.importers.shapes import Shape
from muisti.service.formats.importers.source_files import Part, Source

SUFFIX = ".metadata.json"
READ = ("OriginalPath", "Created", "Modified", "CustomMetadata", "Summary", "Tags", "SearchableText")


def detect(shape: Shape) -> bool:
    return shape.is_many and shape.holds(SUFFIX)


def read(source: Source) -> Iterator[Found]:
    with source.parts() as parts:
        for part in parts:
            yield _document(part) if part.name.endswith(SUFFIX) else Skipped(part.name, "no metadata")


def _document(part: Part) -> Found:
    text = part.text()
    record = text if isinstance(text, Failed) else json_object(text, part.name)
    if isinstance(record, Failed):
        return record
    row = {name[:1].upper() + name[1:]: value for name, value in record.items()}  # camelCase is read there too
    document = text_of(row.get("Id"))
    if document is None:
        return Failed(part.name, "a document without an Id")
    content = text_of(row.get("SearchableText")) or text_of(row.get("Summary"))
    if content is None:
        return Skipped(part.name, "no text")
    own = row.get("CustomMetadata")
    moments, unread = times(row, created_at="Created", updated_at="Modified")
    tags, source = words(row.get("Tags")), text_of(row.get("OriginalPath"))
    lost = {
        **({} if isinstance(own, dict) else {"CustomMetadata": own}),
        **({} if tags else {"Tags": row.get("Tags")}),
        **({} if source else {"OriginalPath": row.get("OriginalPath")}),
    }
    return Item(
        external=document,
        place=part.name,
        memory={
            "content": content,
            "tags": tags,
            "source": source,
            "reason": text_of(row.get("Summary")) if text_of(row.get("SearchableText")) else None,
            "metadata": own if isinstance(own, dict) else {},
            **moments,
        },
        rest={**without(row, *READ), **without(lost), **unread},
        retrieved=retrieved(row.get("AccessCount"), row.get("LastAccessed"), row.get("Modified"), row.get("Created")),
    )
