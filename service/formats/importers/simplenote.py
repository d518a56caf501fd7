"""Simplenote: `notes.json` of its export, or the archive around it."""

from collections.abc import Iterator, Mapping
from typing import Any

from muisti.service.formats.importers.items import Failed, Found, Item, Skipped, plain, text_of, times, without
from muisti.service.formats.importers.shapes import Shape, json_items, json_shape
from muisti.service.formats.importers.source_files import Source

READ = ("id", "content", "tags", "creationDate", "lastModified")


def detect(shape: Shape) -> bool:
    return shape.says("activeNotes", "creationDate", "lastModified") or shape.has("activeNotes", "trashedNotes")


def read(source: Source) -> Iterator[Found]:
    with source.parts() as parts:
        for part in parts:
            if len(parts) > 1 and not part.name.lower().endswith(".json"):
                yield Skipped(part.name, "a copy of a note as text")
                continue
            if len(parts) > 1 and "activeNotes" not in json_shape(part)[1]:
                yield Skipped(part.name, "no notes")
                continue
            yield from (_note(place, row) for place, row in json_items(part, "activeNotes.item"))
            yield from (Skipped(place, "in the bin") for place, _ in json_items(part, "trashedNotes.item"))


def _note(place: str, row: object) -> Found:
    if not isinstance(row, dict) or not isinstance(row.get("content"), str):
        return Failed(place, "is no note")
    record: Mapping[str, Any] = row
    text = record["content"].replace("\r\n", "\n").strip()
    if not text:
        return Skipped(place, "no text")
    moments, unread = times(record, created_at="creationDate", updated_at="lastModified")
    return Item(
        external=text_of(record.get("id")) or f"{plain(record.get('creationDate'))}\n{text}",
        place=place,
        memory={"content": text, "tags": record.get("tags") or [], **moments},
        rest={**without(record, *READ), **unread},
    )
