"""ChatGPT's data export: conversations, each a tree of messages of which one branch was the last to be seen."""

import re
from collections.abc import Iterator, Mapping
from pathlib import PurePosixPath
from typing import Any

from muisti.service.formats.importers.dialogues import Conversation, message, with_object
from muisti.service.formats.importers.items import Failed, Found, Item, Skipped, record_of, text_of, times, without
from muisti.service.formats.importers.shapes import Shape, json_items
from muisti.service.formats.importers.source_files import Source

FILES = re.compile(r"conversations(-\d+)?\.json")
SPOKEN = ("user", "assistant")


def detect(shape: Shape) -> bool:
    return shape.has("mapping")


def read(source: Source) -> Iterator[Found]:
    with source.parts() as parts:
        for part in parts:
            if len(parts) > 1 and not FILES.fullmatch(PurePosixPath(part.name).name):
                yield Skipped(part.name, "no conversations")
                continue
            for place, row in json_items(part, "item"):
                yield from _conversation(place, row)


def _conversation(place: str, row: object) -> Iterator[Found]:
    if not isinstance(row, dict) or not isinstance(row.get("mapping"), dict):
        yield Failed(place, "is no conversation")
        return
    record: Mapping[str, Any] = row
    id_ = text_of(record.get("conversation_id")) or text_of(record.get("id"))
    if id_ is None:
        yield Failed(place, "a conversation without an id")
        return
    if record.get("is_do_not_remember") is True:
        yield Skipped(place, "not to be remembered")
        return
    moments, unread = times(record, created_at="create_time", updated_at="update_time")
    conversation = Conversation(
        id=id_,
        session="chatgpt",
        title=text_of(record.get("title")),
        metadata=without({"gpt": record.get("gizmo_id")}),
        times=moments,
        rest={**without({"model": record.get("default_model_slug")}), **unread},
    )
    yield from with_object(conversation, _messages(place, record, conversation))


def _messages(place: str, record: Mapping[str, Any], conversation: Conversation) -> Iterator[Found]:
    turn = 0
    for node_id, node in _branch(record["mapping"], record.get("current_node")):
        where = f"{place}.mapping[{node_id[:80]!r}]"
        found = _message(where, node, conversation, turn + 1)
        if isinstance(found, Item):
            turn += found.memory.get("kind") == "exchange"
        if found is not None:
            yield found


def _branch(mapping: Mapping[str, Any], last: object) -> list[tuple[str, Any]]:
    """Return the nodes from the root to the one that was shown last, or to the latest where none is named."""
    if not isinstance(last, str) or last not in mapping:
        last = max(mapping, key=lambda one: (_time(mapping[one]), one), default=None)
    seen: dict[str, Any] = {}
    while isinstance(last, str) and last in mapping and last not in seen:
        node = seen[last] = mapping[last]
        last = node.get("parent") if isinstance(node, dict) else None
    return list(reversed(seen.items()))


def _time(node: object) -> float:
    record = node.get("message") if isinstance(node, dict) else None
    at = record.get("create_time") if isinstance(record, dict) else None
    return float(at) if isinstance(at, int | float) else 0.0


def _message(place: str, node: object, conversation: Conversation, turn: int) -> Found | None:
    row: Any = node.get("message") if isinstance(node, dict) else None
    if row is None:
        return None
    if not isinstance(row, dict):
        return Failed(place, "a message that is no object")
    author, content = record_of(row.get("author")), record_of(row.get("content"))
    if content.get("content_type") == "user_editable_context":
        return _instructions(place, content)
    role = author.get("role")
    hidden = record_of(row.get("metadata")).get("is_visually_hidden_from_conversation") is True
    if role not in SPOKEN or hidden or row.get("weight") == 0 or row.get("recipient", "all") not in (None, "all"):
        return Skipped(place, "not said by user or assistant")
    text = _text(content)
    if not text:
        return Skipped(place, "no text")
    message_id = text_of(row.get("id"))
    if message_id is None:
        return Failed(place, "a message without an id")
    rest = without({"id": message_id, "model": record_of(row.get("metadata")).get("model_slug")})
    return message(conversation, turn, message_id, place, str(role), text, row.get("create_time"), rest)


def _instructions(place: str, content: Mapping[str, Any]) -> Found:
    """Return the user's custom instructions. Every chat repeats them, so their text is their id."""
    parts = [text for name in ("user_profile", "user_instructions") if (text := text_of(content.get(name)))]
    if not parts:
        return Skipped(place, "no text")
    said = "\n\n".join(parts)
    memory = {"content": said, "category": "instructions", "type": "preference", "source_class": "user"}
    return Item(external=f"instructions\n{said}", place=place, memory=memory)


def _text(content: Mapping[str, Any]) -> str:
    """Return the text of a message, without thoughts, pictures and results of tools."""
    kind, parts = content.get("content_type"), content.get("parts")
    if kind in ("text", "multimodal_text") and isinstance(parts, list):
        return "\n\n".join(part for part in parts if isinstance(part, str) and part.strip()).strip()
    if kind == "code" and text_of(content.get("text")):
        return f"```{content.get('language') or ''}\n{content['text']}\n```"
    return ""
