"""Joplin: its export as JEX, an archive, or RAW, a folder. Each item is a file with its properties at the end."""

import re
from collections.abc import Iterator, Mapping
from itertools import islice
from pathlib import PurePosixPath
from typing import Any

from muisti.service.formats.importers.items import Failed, Found, Item, Skipped, times, without
from muisti.service.formats.importers.shapes import Shape
from muisti.service.formats.importers.source_files import Part, Source

NOTE, FOLDER, RESOURCE, TAG, TAGGED = "1", "2", "4", "5", "6"
LEFT_OUT = {FOLDER: None, TAG: None, TAGGED: None, RESOURCE: "a file"}
READ = ("type_", "id", "parent_id", "user_created_time", "user_updated_time", "created_time", "updated_time",
        "author", "source_url", "encryption_applied", "encryption_cipher_text")  # fmt: skip
EMPTY = ("0", "0.0000", "0.00000000")
LOOKED_AT = 20  # items, to recognise an export
DEPTH = 100  # notebooks within notebooks
_FILE = re.compile(r"[0-9a-f]{32}\.md")
_MARK = re.compile(r"^id: [0-9a-f]{32}$.*^type_: \d+\s*\Z", re.DOTALL | re.MULTILINE)


def detect(shape: Shape) -> bool:
    if not any(map(_is_item, shape.members)):
        return False
    with shape.source.parts() as parts:
        texts = (part.text() for part in islice((one for one in parts if _is_item(one.name)), LOOKED_AT))
        return any(isinstance(text, str) and _MARK.search(text) is not None for text in texts)


def _is_item(name: str) -> bool:
    return _FILE.fullmatch(PurePosixPath(name).name) is not None


def read(source: Source) -> Iterator[Found]:
    with source.parts() as parts:
        titles: dict[str, tuple[str, str]] = {}  # of notebooks and tags, each with what it is in
        tagged: dict[str, list[str]] = {}
        for part in parts:
            if isinstance(made := _item(part), tuple):
                title, _, fields = made
                if fields["type_"] in (FOLDER, TAG):
                    titles[fields.get("id", "")] = title, fields.get("parent_id", "")
                elif fields["type_"] == TAGGED:
                    tagged.setdefault(fields.get("note_id", ""), []).append(fields.get("tag_id", ""))
        for part in parts:
            made = _item(part)
            if not isinstance(made, tuple):
                yield made
            elif made[2]["type_"] == NOTE:
                tags = [titles[one][0] for one in tagged.get(made[2].get("id", ""), []) if one in titles]
                yield _note(part.name, *made, tags, _path(made[2].get("parent_id", ""), titles))
            elif (reason := LEFT_OUT.get(made[2]["type_"], "no note")) is not None:
                yield Skipped(part.name, reason)


def _item(part: Part) -> tuple[str, str, Mapping[str, str]] | Skipped | Failed:
    """Return the title, the text and the properties of an item."""
    if not _is_item(part.name):
        return Skipped(part.name, "a file")
    text = part.text()
    if isinstance(text, Failed):
        return text
    lines = text.rstrip().split("\n")
    start = next((at for at in range(len(lines), 0, -1) if not lines[at - 1].strip()), 0)
    pairs = (line.partition(":") for line in lines[start:])
    fields = {name.strip(): value.strip().replace("\\n", "\n") for name, mark, value in pairs if mark}
    if "type_" not in fields or "id" not in fields:
        return Failed(part.name, "has no properties with id and type_ at its end")
    title, _, body = "\n".join(lines[:start]).strip("\n").partition("\n")
    return title.strip(), body.strip(), fields


def _path(folder: str, titles: Mapping[str, tuple[str, str]]) -> str | None:
    """Return the path of a notebook."""
    found: list[str] = []
    while folder in titles and len(found) < DEPTH:
        title, folder = titles[folder]
        found.insert(0, title)
    return "/".join(found) or None


def _note(
    place: str, title: str, body: str, fields: Mapping[str, str], tags: list[str], category: str | None
) -> Found:  # fmt: skip
    if fields.get("encryption_applied") == "1":
        return Failed(place, "is encrypted: export it decrypted")
    if fields.get("deleted_time", "0") != "0":
        return Skipped(place, "in the bin")
    if not title and not body:
        return Skipped(place, "no text")
    since = "user_created_time" if "user_created_time" in fields else "created_time"
    until = "user_updated_time" if "user_updated_time" in fields else "updated_time"
    moments, unread = times(fields, created_at=since, updated_at=until)
    rest: dict[str, Any] = {name: value for name, value in fields.items() if value not in EMPTY}
    memory = {
        "content": f"{title}\n\n{body}".strip(), "category": category, "tags": tags, "author": fields.get("author"),
        "source": fields.get("source_url"), "metadata": without({"title": title}), **moments,
    }  # fmt: skip
    return Item(external=fields["id"], place=place, memory=memory, rest={**without(rest, *READ), **unread})
