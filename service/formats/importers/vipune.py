"""vipune: its export, lines of JSON with a header, and its SQLite database. A project is a home."""

from collections.abc import Iterator, Mapping
from typing import Any, get_args

from muisti.core.model.choices import Importance, Status, Type
from muisti.service.formats.importers.items import Failed, Found, Item, plain, retrieved, text_of, times, without
from muisti.service.formats.importers.shapes import Shape, json_lines, json_object
from muisti.service.formats.importers.source_files import Source, tables

FIELDS = (
    "content", "metadata", "created_at", "updated_at", "type", "memory_type", "status", "superseded_by", "importance",
    "embedding",
)  # fmt: skip


def detect(shape: Shape) -> bool:
    is_export = shape.first.get("type") == "export" and ("format_version" in shape.first or "version" in shape.first)
    return is_export or {"project_id", "content"} <= set(shape.tables.get("memories", ()))


def read(source: Source) -> Iterator[Found]:
    if source.head(6) == b"SQLite":
        with tables(source) as opened:
            for place, row in opened.rows("memories", but=("embedding",)):
                yield _item(place, row)
        return
    rows, wanted = 0, None
    for number, (place, row) in enumerate(json_lines(source)):
        if isinstance(row, Failed):
            yield row
        elif number == 0:
            version, wanted = row.get("format_version", row.get("version")), row.get("rows")
            if version != 1:
                yield Failed(place, f"the export has version {plain(version)}; known is 1")
                return
        else:
            rows += 1
            yield _item(place, row)
    if isinstance(wanted, int) and rows < wanted:
        yield Failed(f"{source.name}:{rows + 1}", f"the file is truncated: its header counts {wanted} rows")


def _item(place: str, row: Mapping[str, Any]) -> Found:
    id_, content = text_of(row.get("id")), text_of(row.get("content"))
    project = text_of(row.get("project_id"))
    if id_ is None or content is None:
        return Failed(place, "has no id or no content", project)
    kind, status, successor = row.get("memory_type") or row.get("type"), row.get("status"), row.get("superseded_by")
    importance = row.get("importance")
    metadata = json_object(row.get("metadata") or "{}", place)
    is_superseded = status == "superseded" and isinstance(successor, str)
    moments, unread = times(row, created_at="created_at", updated_at="updated_at")
    rest = {
        **without(row, *FIELDS),
        **unread,
        **({"superseded_by": successor} if not is_superseded else {}),
        **({"importance": importance} if importance not in get_args(Importance) else {}),
        **({"metadata": row.get("metadata")} if isinstance(metadata, Failed) else {}),
        **({"type": kind} if kind not in get_args(Type) else {}),
        **({"status": status} if status not in get_args(Status) or status == "superseded" else {}),
    }
    if status not in get_args(Status) or status == "superseded":
        status = "superseded" if is_superseded else "deprecated" if status == "superseded" else "active"
    return Item(
        external=id_,
        place=place,
        memory={
            "content": content,
            "type": kind if kind in get_args(Type) else "fact",
            "status": status,
            "metadata": {} if isinstance(metadata, Failed) else metadata,
            "importance": importance if importance in get_args(Importance) else "medium",
            **moments,
        },
        rest={name: value for name, value in rest.items() if value not in (None, "", 0)},
        superseded_by=str(successor) if is_superseded else None,
        home=project,
        retrieved=retrieved(row.get("retrieval_count"), row.get("last_retrieved_at"), row.get("updated_at")),
    )
