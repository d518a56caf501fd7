"""Messenger and Instagram: threads of Meta's export as JSON, and those that Messenger exports itself.

Meta's export has the newest message first, up to 10,000 in a file, and writes each byte of UTF-8 as a character.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from hashlib import sha256
from pathlib import PurePosixPath
from typing import Any

from muisti.service.formats.importers.dialogues import Conversation, message, with_object
from muisti.service.formats.importers.items import (
    Failed,
    Found,
    Item,
    Skipped,
    clean,
    dicts,
    record_of,
    text_of,
    when,
    without,
)
from muisti.service.formats.importers.shapes import Shape, json_header, json_items
from muisti.service.formats.importers.source_files import Part, Source

READ = (
    *("sender_name", "senderName", "timestamp_ms", "timestamp", "content", "text", "share", "type"),
    *("is_unsent", "isUnsent"),
)
FILES = ("photos", "videos", "audio_files", "gifs", "files", "media", "sticker")
MOST = 20_000  # messages of a file that are put in order
_NUMBER = re.compile(r"message_(\d+)\.json")


def detect(shape: Shape) -> bool:
    mark = ("participants", "messages")
    return shape.says("sender_name", "timestamp_ms", *mark) or shape.says("senderName", "threadName", *mark)


def read(source: Source) -> Iterator[Found]:
    with source.parts() as parts:
        threads: dict[str, tuple[Conversation, list[tuple[Part, int]]]] = {}
        for part in sorted(parts, key=_order):
            is_json = len(parts) == 1 or part.name.lower().endswith(".json")
            header, count = json_header(part, "messages") if is_json else ({}, 0)
            if len(parts) > 1 and not (count and "participants" in header):
                yield Skipped(part.name, "no messages")
                continue
            header = repaired(header)
            title = text_of(header.get("title")) or text_of(header.get("threadName"))
            id_ = text_of(header.get("thread_path")) or title or PurePosixPath(part.name).stem
            made = Conversation(f"messenger {id_}", "messenger", title, rest=without(header, "title", "threadName"))
            threads.setdefault(id_, (made, []))[1].append((part, count))
        for thread, files in threads.values():
            yield from with_object(thread, _messages(thread, files))


def _order(part: Part) -> tuple[str, int]:
    """Return a key by which the files of a thread come from the oldest to the newest."""
    path = PurePosixPath(part.name)
    found = _NUMBER.fullmatch(path.name)
    return path.parent.as_posix(), -int(found[1]) if found else 0


def repaired(value: Any) -> Any:
    """Return texts of which each byte was written as a character as they were; others stay.

    >>> repaired({"a": ["Zo\\u00c3\\u00ab", "Zoë", "Ž"]})
    {'a': ['Zoë', 'Zoë', 'Ž']}
    """
    if isinstance(value, dict):
        return {repaired(name): repaired(one) for name, one in value.items()}
    if isinstance(value, list):
        return [repaired(one) for one in value]
    try:
        return value.encode("latin-1").decode() if isinstance(value, str) else value
    except UnicodeError:
        return value


def _messages(thread: Conversation, files: list[tuple[Part, int]]) -> Iterator[Found]:
    """Yield the messages of a thread, from the oldest where a file has no more than Meta puts into one."""
    turn = 0
    for part, count in files:
        rows = ((place, repaired(record_of(row))) for place, row in json_items(part, "messages.item"))
        for place, row in sorted(rows, key=lambda one: _time(one[1]) or "") if count <= MOST else rows:
            found = _message(place, row, thread, turn + 1)
            turn += isinstance(found, Item)
            yield found


def _time(row: Mapping[str, Any]) -> str | None:
    return when(row.get("timestamp_ms", row.get("timestamp")))


def _message(place: str, row: Mapping[str, Any], thread: Conversation, turn: int) -> Found:
    author = text_of(row.get("sender_name")) or text_of(row.get("senderName"))
    at = _time(row)
    if author is None or at is None:
        return Failed(place, "a message without a sender or a time")
    if row.get("is_unsent") is True or row.get("isUnsent") is True:
        return Skipped(place, "taken back there")
    shared = record_of(row.get("share"))
    texts = [row.get("content"), row.get("text"), *(shared.get(name) for name in ("share_text", "link"))]
    text = "\n\n".join(dict.fromkeys(said for one in texts if (said := text_of(one))))
    if not text:
        return Skipped(place, "no text")
    digest = sha256(clean(f"{at}\n{author}\n{text}").encode()).hexdigest()[:32]
    files = [one.get("uri") for name in FILES for one in dicts(row.get(name))]
    rest = without({name: value for name, value in row.items() if value is not False}, *READ, *FILES)
    rest |= without({"files": [one for one in files if one]})
    found = message(thread, turn, f"{thread.id}\n{digest}", place, "user", text, at, rest)
    return replace(found, memory={**found.memory, "author": author})
