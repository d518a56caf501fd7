"""Google Keep: the notes of a Takeout, a file of JSON each. Lists keep what is ticked, links their addresses."""

from collections.abc import Iterator, Mapping
from pathlib import PurePosixPath
from typing import Any

from muisti.service.formats.importers.items import (
    Failed,
    Found,
    Item,
    Skipped,
    dicts,
    plain,
    record_of,
    text_of,
    when,
    without,
)
from muisti.service.formats.importers.shapes import Shape, json_items
from muisti.service.formats.importers.source_files import Source

CREATED, EDITED = "createdTimestampUsec", "userEditedTimestampUsec"
READ = (
    "title",
    "textContent",
    "textContentHtml",
    "listContent",
    "annotations",
    "attachments",
    "labels",
    CREATED,
    EDITED,
)

NOTE = {EDITED, "textContent", "listContent"}


def detect(shape: Shape) -> bool:
    return shape.says(EDITED, "isTrashed", "isPinned")


def read(source: Source) -> Iterator[Found]:
    with source.parts() as parts:
        for part in parts:
            if len(parts) > 1 and not part.name.lower().endswith(".json"):
                yield Skipped(part.name, "no note")  # its page in HTML, or what is attached to it
                continue
            for _, row in json_items(part, ""):
                is_other = len(parts) > 1 and not record_of(row).keys() & NOTE
                yield Skipped(part.name, "no note") if is_other else _note(part.name, row)


def _note(name: str, row: object) -> Found:
    if not isinstance(row, dict) or EDITED not in row:
        return Failed(name, "is no note")
    record: Mapping[str, Any] = row
    if record.get("isTrashed") is True:
        return Skipped(name, "in the bin")
    title, text = (text_of(record.get("title")) or "").strip(), _text(record)
    if not title and not text:
        return Skipped(name, "no text")
    created = record.get(CREATED)
    files = [one.get("filePath") for one in dicts(record.get("attachments"))]
    return Item(
        external=plain(created or PurePosixPath(name).name),
        place=name,
        memory={
            "content": f"{title}\n\n{text}".strip(),
            "tags": [one.get("name") for one in dicts(record.get("labels"))],
            "metadata": without({"title": title, "files": [one for one in files if one]}),
            "created_at": when(created),
            "updated_at": when(record.get(EDITED)),
        },
        rest=without({key: value for key, value in record.items() if value is not False}, *READ),
    )


def _text(record: Mapping[str, Any]) -> str:
    """Return the text of a note, its list, and the links that neither of them has."""
    said = [text] if (text := text_of(record.get("textContent"))) else []
    items = [one for one in dicts(record.get("listContent")) if text_of(one.get("text"))]
    said += ["\n".join(f"- [{'x' if one.get('isChecked') is True else ' '}] {one['text'].strip()}" for one in items)]
    told = "\n".join(said)
    for one in dicts(record.get("annotations")):
        parts = [text for name in ("title", "description", "url") if (text := text_of(one.get(name)))]
        if parts and parts[-1] not in told:
            said.append("\n".join(parts))
    return "\n\n".join(filter(None, said))
