"""mcp-memory-service (doobidoo): its export, its older backups, and its SQLite database."""

from collections.abc import Iterator, Mapping
from typing import Any, cast

from muisti.service.formats.importers.items import (
    Failed,
    Found,
    Item,
    Skipped,
    json_list,
    retrieved,
    text_of,
    when,
    without,
    words,
)
from muisti.service.formats.importers.shapes import Shape, json_items, json_object
from muisti.service.formats.importers.source_files import SQLITE, Source, tables

COLUMNS = (
    "content_hash", "content", "tags", "memory_type", "metadata", "created_at", "updated_at", "created_at_iso",
    "updated_at_iso", "deleted_at",
)  # fmt: skip
TIMES = ("created_at", "updated_at", "created_at_iso", "updated_at_iso")
ACCESSED = ("last_accessed_at", "last_accessed")


def detect(shape: Shape) -> bool:
    if {"content_hash", "content"} <= set(shape.tables.get("memories", ())):
        return True
    return shape.has("export_metadata", "memories") or shape.has("total_memories", "memories")


def read(source: Source) -> Iterator[Found]:
    if source.head(len(SQLITE)) == SQLITE:
        with tables(source) as opened:
            for place, row in opened.rows("memories", but=("id", "content_embedding")):
                yield _item(place, row)
        return
    for place, row in json_items(source, "memories.item"):
        yield _item(place, cast(dict[str, Any], row)) if isinstance(row, dict) else Failed(place, "is no object")


def _item(place: str, row: Mapping[str, Any]) -> Found:
    if row.get("deleted_at"):
        return Skipped(place, "deleted there")
    content = text_of(row.get("content")) or text_of(row.get("document"))
    external = text_of(row.get("content_hash")) or text_of(row.get("id"))
    if content is None or external is None:
        return Failed(place, "has no content or no hash")
    own = row.get("metadata")
    metadata: Any = json_object(own, place) if isinstance(own, str) else own or {}
    lost = {"metadata": own} if not isinstance(metadata, dict) else {}
    values: dict[str, Any] = metadata if isinstance(metadata, dict) else {}
    tags = [*words(json_list(row.get("tags"))), *words(json_list(values.get("tags")))]
    kind = row.get("memory_type") or values.get("memory_type")
    return Item(
        external=external,
        place=place,
        memory={
            "content": content,
            "tags": list(dict.fromkeys([*tags, *words(kind)])),
            "metadata": without(values, "tags", "memory_type", "content_hash", *TIMES),
            "created_at": _when("created_at", row, values),
            "updated_at": _when("updated_at", row, values),
        },
        rest={
            **lost,
            **without({"memory_type": kind, "content_hash": external}),
            **without({name: row.get(name) for name in TIMES if when(row.get(name)) is None}),
            **without(row, *COLUMNS, "id", "document", "embedding"),
        },
        retrieved=retrieved(
            values.get("access_count"), *(values.get(name) for name in ACCESSED), row.get("updated_at")
        ),
    )


def _when(name: str, *rows: Mapping[str, Any]) -> str | None:
    """Return a time. The text goes before the number, which a bug of an earlier version has overwritten."""
    found = (when(row.get(one)) for row in rows for one in (f"{name}_iso", name))
    return next((moment for moment in found if moment), None)
