"""Chats of Hazina: a list of chats in `chats.json`, and beside it a file with the messages of each."""

import posixpath
from collections.abc import Iterator, Sequence

import msgspec

from muisti.service.formats.importers.dialogues import Conversation, message, with_object
from muisti.service.formats.importers.items import Failed, Found, Item, Json, Skipped, text_of, times, without
from muisti.service.formats.importers.jsons import json_items
from muisti.service.formats.importers.source_files import Part
from muisti.service.formats.importers.values import pascal

INDEX = "chats/chats.json"
READ = ("Id", "Name", "ProjectId", "Created", "Modified")
ROLES = ("user", "system", "assistant")  # by their number
SPOKEN = ("user", "assistant")


def chats(parts: Sequence[Part], used: set[str]) -> Iterator[Found]:
    """Yield the chats of all `chats` folders, and add the files that were read to `used`."""
    files = {part.name: part for part in parts if "chats" in part.name.split("/")[:-1]}
    for part in [one for name, one in files.items() if posixpath.basename(name) == "chats.json"]:
        used.add(part.name)
        with part.open() as file:
            for place, row in json_items(file, "item", part.name):
                chat = pascal(row) if isinstance(row, dict) else {}
                id_ = text_of(chat.get("Id"))
                if id_ is None:
                    yield Failed(place, "a chat without an Id")
                    continue
                own = files.get(posixpath.join(posixpath.dirname(part.name), f"{id_}.json"))
                if own is None:
                    yield Skipped(place, "an empty chat")
                    continue
                used.add(own.name)
                yield from _chat(_conversation(chat, id_), chat, own)
    for name, part in files.items():
        if name in used:
            continue
        if name.endswith(".json"):
            used.add(name)
            id_ = posixpath.basename(name).removesuffix(".json")
            yield from _chat(Conversation(id_, session="hazina"), {}, part)
        else:
            used.add(name)
            yield Skipped(name, "an attachment")


def _conversation(chat: Json, id_: str) -> Conversation:
    moments, unread = times(chat, created_at="Created", updated_at="Modified")
    return Conversation(
        id_,
        session=text_of(chat.get("ProjectId")) or "hazina",
        title=text_of(chat.get("Name")),
        times=moments,
        rest={**without(chat, *READ), **unread},
    )


def _chat(conversation: Conversation, chat: Json, part: Part) -> Iterator[Found]:
    """Yield the messages of a chat. They have no times there, so they get that of their chat."""
    with part.open() as file:
        yield from with_object(conversation, _messages(conversation, chat, json_items(file, "item", part.name)))


def _messages(conversation: Conversation, chat: Json, rows: Iterator[tuple[str, object]]) -> Iterator[Found]:
    turn = 0
    for number, (place, row) in enumerate(rows, start=1):
        found = _message(conversation, chat, place, row, turn + 1, number)
        turn += isinstance(found, Item)
        yield found


def _message(conversation: Conversation, chat: Json, place: str, found: object, turn: int, number: int) -> Found:
    if not isinstance(found, dict):
        return Failed(place, "is no object")
    row = pascal(found)
    role, payload = row.get("Role"), row.get("Payload")
    said = ROLES[role] if isinstance(role, int) and role in range(len(ROLES)) else str(role).lower()
    if said not in SPOKEN:
        return Skipped(place, "not said by user or assistant")
    text = text_of(row.get("Text"))
    if text is None and payload not in (None, "", {}):
        text, payload = payload if isinstance(payload, str) else msgspec.json.encode(payload).decode(), None
    if text is None:
        return Skipped(place, "no text")
    rest = {**without(row, "Role", "Text", "Payload"), **without({"Payload": payload})}
    return message(conversation, turn, f"{conversation.id}\n{number}", place, said, text, chat.get("Created"), rest)
