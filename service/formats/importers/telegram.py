"""Telegram: `result.json` of its desktop program, of one chat or of all."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import PurePosixPath
from typing import Any

import ijson

from muisti.service.formats.importers.dialogues import Conversation, message, with_object
from muisti.service.formats.importers.items import Failed, Found, Item, Json, Skipped, text_of, without
from muisti.service.formats.importers.shapes import Shape, json_events
from muisti.service.formats.importers.source_files import Part, Source

FILE = "result.json"
LISTS = ("chats", "left_chats")
HEADER = ("name", "type", "id")
CHATS = (1, 4)  # depths of the members of a chat: of the only one, and of one in a list
DESCRIBED = {"id", "type", "date", "date_unixtime", "from", "from_id", "text", "text_entities"}
_TYPE = re.compile(
    r'"type"\s*:\s*"(personal_chat|bot_chat|saved_messages|(private|public)_(group|supergroup|channel))"'
)


def detect(shape: Shape) -> bool:
    if shape.is_many:
        return any(PurePosixPath(one).name == FILE for one in shape.members)
    if shape.kind not in ("object", "lines"):
        return False
    is_whole = any(map(shape.has, LISTS)) and any(map(shape.has, ("about", "personal_information", "contacts")))
    return is_whole or (shape.has("messages") and _TYPE.search(shape.text) is not None)


def read(source: Source) -> Iterator[Found]:
    with source.parts() as parts:
        for part in parts:
            if len(parts) > 1 and PurePosixPath(part.name).name != FILE:
                yield Skipped(part.name, "no messages")
            else:
                yield from _chats(part)


def _chats(part: Part) -> Iterator[Found]:
    """Yield what the chats of a file hold. Its members are read in their order: those of a chat, then its messages."""
    walk = _Walk(part)
    while (header := walk.chat()) is not None:
        number = text_of(header.get("id")) or str(header.get("id", ""))
        title = text_of(header.get("name")) or str(header.get("type") or "chat").replace("_", " ")
        conversation = Conversation(id=f"telegram {number or title}", session="telegram", title=title)
        yield from with_object(conversation, _messages(walk, conversation))


class _Walk:
    """Reads the chats of a file one after another, and the messages of each one at a time."""

    def __init__(self, part: Part) -> None:
        self._name, self._events = part.name, json_events(part)
        self._header: Json = {}
        self._keys: dict[int, str] = {}
        self._depth = 0  # of the list of messages that is open

    def chat(self) -> Json | None:
        """Return the description of the next chat that has messages, None after the last."""
        for depth, event, value in self._events:
            if event == "map_key":
                self._keys[depth] = str(value)
            elif event == "start_map" and depth + 1 in CHATS:
                self._header = {}
            elif depth in CHATS and event == "start_array" and self._keys.get(depth) == "messages":
                self._depth = depth
                return self._header
            elif depth in CHATS and event in ("string", "number") and self._keys.get(depth) in HEADER:
                self._header[self._keys[depth]] = value
        return None

    def messages(self) -> Iterator[tuple[str, Any]]:
        """Yield the messages of the chat, each with its place."""
        builder, number = ijson.ObjectBuilder(), 0
        for depth, event, value in self._events:
            if depth == self._depth and event == "end_array":
                return
            builder.event(event, value)
            if depth == self._depth + 1 and not event.startswith("start"):
                yield f"{self._name} {self._header.get('name') or 'chat'} messages[{number}]", builder.value
                builder, number = ijson.ObjectBuilder(), number + 1


def _messages(walk: _Walk, conversation: Conversation) -> Iterator[Found]:
    turn = 0
    for place, row in walk.messages():
        found = _message(place, row, conversation, turn + 1)
        turn += isinstance(found, Item)
        yield found


def _message(place: str, row: object, conversation: Conversation, turn: int) -> Found:
    if not isinstance(row, dict):
        return Failed(place, "is no object")
    if row.get("type") == "service":
        return Skipped(place, "a notice of the chat")
    if row.get("id") is None:
        return Failed(place, "a message without an id")
    text = _text(row.get("text"))
    if not text.strip():
        return Skipped(place, "no text")
    at = row.get("date_unixtime") or row.get("date")
    rest = without({"id": row["id"], "from_id": row.get("from_id")}) | without(row, *DESCRIBED)
    found = message(conversation, turn, f"{conversation.id}\n{row['id']}", place, "user", text, at, rest)
    author = text_of(row.get("from")) or text_of(row.get("from_id")) or "deleted account"
    return replace(found, memory={**found.memory, "author": author})


def _text(value: object) -> str:
    """Return the text of a message: a text, or parts of which some have a form, such as links."""
    parts: list[Any] = value if isinstance(value, list) else [value]
    return "".join(one if isinstance(one, str) else _part(one) for one in parts)


def _part(part: object) -> str:
    row: Mapping[str, Any] = part if isinstance(part, dict) else {}
    text, link = text_of(row.get("text")) or "", text_of(row.get("href"))
    return f"{text} ({link})" if link and link != text else text
