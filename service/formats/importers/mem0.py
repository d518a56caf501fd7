"""mem0: lists of memories as its platform and its API give them, its plugin's Markdown, and the OSS history."""

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any, cast

from muisti.service.formats.importers.dialogues import Conversation, message, with_object
from muisti.service.formats.importers.items import (
    Failed,
    Found,
    Item,
    Skipped,
    plain,
    text_of,
    times,
    when,
    without,
    words,
)
from muisti.service.formats.importers.shapes import Shape, first_items, json_items, json_lines, json_object
from muisti.service.formats.importers.source_files import Source, tables

LISTS = ("results", "memories", "items")
TEXTS = ("memory", "text", "data", "content")
SCOPES = ("user_id", "agent_id", "app_id", "run_id", "session_id")
AUTHORS = ("actor_id", "user_id", "role")  # the first that is there
DROPPED = ("text_lemmatized", "score", "synthesized", "structured_attributes")
MESSAGE = ("id", "session_scope", "role", "content", "name", "created_at")
_BLOCK = re.compile(r"^---\r?\n(?=id: )", re.MULTILINE)


def detect(shape: Shape) -> bool:
    if "old_memory" in shape.tables.get("history", ()):
        return True
    if shape.kind == "array":
        return shape.has("memory") or (shape.has("id") and shape.has("user_id"))
    if shape.kind == "lines" and shape.has("memory") and (shape.has("id") or shape.has("user_id")):
        return True
    if shape.kind in ("object", "lines"):
        return not shape.has("export_metadata") and any(name in shape.names for name in LISTS)
    return shape.kind == "text" and _BLOCK.match(shape.text) is not None


def read(source: Source) -> Iterator[Found]:
    head = source.head().removeprefix(b"\xef\xbb\xbf").lstrip()
    if head.startswith(b"SQLite"):
        yield from _history(source)
        yield from _messages(source)
    elif head[:1] == b"[":
        yield from (_item(place, row) for place, row in json_items(source, "item"))
    elif _is_lines(head):
        yield from (row if isinstance(row, Failed) else _item(place, row) for place, row in json_lines(source))
    elif head[:1] == b"{":
        yield from (_item(place, row) for place, row in first_items(source, LISTS))
    else:
        yield from _blocks(source)


def _is_lines(head: bytes) -> bool:
    """Tell whether the first line is a memory by itself."""
    first = json_object(head.split(b"\n", 1)[0], "")
    return not isinstance(first, Failed) and any(name in first for name in TEXTS) and not any(map(first.get, LISTS))


def _item(place: str, row: object) -> Found:
    if text := text_of(row):
        return Item(external=text, place=place, memory={"content": text})
    if not isinstance(row, dict):
        return Failed(place, "is no object")
    row = cast(dict[str, Any], row)
    text = next((name for name in TEXTS if text_of(row.get(name))), None)
    if text is None:
        return Failed(place, "has no text")
    content = str(row[text])
    scope = {name: row[name] for name in SCOPES if row.get(name)}
    own = row.get("metadata")
    successor = text_of(row.get("replaced_by"))
    moments, unread = times(row, created_at="created_at", updated_at="updated_at", expires_at="expiration_date")
    categories = words(row.get("category")) or words(row.get("categories"))
    lost = without({"metadata": None if isinstance(own, dict) else own})
    return Item(
        external=plain(row.get("id") or f"{scope}\n{row.get('role')}\n{row.get('created_at')}\n{content}"),
        place=place,
        memory={
            "content": content,
            "author": next((name for one in AUTHORS if (name := text_of(row.get(one)))), None),
            "category": next(iter(categories), None),
            "tags": categories,
            "metadata": {**(cast(Mapping[str, Any], own) if isinstance(own, dict) else {}), **scope},
            "status": "superseded" if successor else "active",
            **moments,
        },
        rest={**without(row, text, *SCOPES, *DROPPED, "metadata", "categories", "category", "created_at", "updated_at",
                        "replaced_by"), **unread, **lost},
        superseded_by=successor,
    )  # fmt: skip


def _blocks(source: Source) -> Iterator[Found]:
    """Yield the memories of the plugin's Markdown: blocks of `---`, lines of `name: value`, `---`, and the text."""
    with source.parts() as (part,):
        text = part.text()
    if isinstance(text, Failed):
        yield text
        return
    for number, block in enumerate(_BLOCK.split(text)[1:], start=1):
        place = f"{source.name} block {number}"
        head, mark, content = block.partition("\n---")
        named = (line.partition(": ") for line in head.splitlines() if ": " in line)
        fields = {name: value for name, _, value in named}
        if not mark or not content.strip() or "id" not in fields:
            yield Failed(place, "has no text behind its fields")
            continue
        yield Item(
            external=fields["id"].strip(),
            place=place,
            memory={
                "content": content.strip(),
                "tags": words(fields.get("categories")),
                "metadata": {"files": words(fields.get("files"))} if fields.get("files") else {},
                "created_at": when(fields.get("created_at")),
            },
            rest=without(fields, "id", "categories", "files", "created_at"),
        )


def _history(source: Source) -> Iterator[Found]:
    """Yield the last text of each memory, and skip those that were deleted."""
    columns = ("memory_id", "new_memory", "event", "created_at", "updated_at", "is_deleted", "actor_id", "role")
    last: dict[str, tuple[str, Mapping[str, Any]]] = {}
    first: dict[str, object] = {}
    with tables(source) as opened:
        for place, row in opened.rows("history", columns):
            if not isinstance(row["memory_id"], str):
                yield Failed(place, "has no memory_id")
                continue
            first.setdefault(row["memory_id"], row.get("created_at"))
            last[row["memory_id"]] = place, row
    for memory_id, (place, row) in last.items():
        if row.get("is_deleted") or row.get("event") == "DELETE":
            yield Skipped(place, "deleted there")
        elif not text_of(row.get("new_memory")):
            yield Failed(place, "has no text")
        else:
            yield Item(
                external=memory_id,
                place=place,
                memory={
                    "content": row["new_memory"],
                    "author": row.get("actor_id") or row.get("role"),
                    "created_at": when(first[memory_id]),
                    "updated_at": when(row.get("updated_at")) or when(row.get("created_at")),
                },
            )


def _messages(source: Source) -> Iterator[Found]:
    """Yield the messages that mem0 keeps of each scope, a user or a run for example: its latest ones, as turns."""
    scopes: defaultdict[str, list[tuple[str, dict[str, Any]]]] = defaultdict(list)
    with tables(source) as opened:
        for place, row in opened.rows("messages", MESSAGE) if opened.columns("messages") else ():
            scopes[text_of(row.get("session_scope")) or "mem0"].append((place, row))
    for scope, rows in scopes.items():
        conversation = Conversation(scope, session="mem0")
        yield from with_object(
            conversation, (_message(place, row, conversation, turn) for turn, (place, row) in enumerate(rows, start=1))
        )


def _message(place: str, row: dict[str, Any], conversation: Conversation, turn: int) -> Found:
    id_, text, role = text_of(row.get("id")), text_of(row.get("content")), str(row.get("role") or "unknown")
    if id_ is None:
        return Failed(place, "a message without an id")
    if text is None:
        return Skipped(place, "no text")
    found = message(conversation, turn, f"message\n{id_}", place, role, text, row.get("created_at"), {"id": id_})
    name = text_of(row.get("name"))
    return found if name is None else replace(found, memory={**found.memory, "author": name})
