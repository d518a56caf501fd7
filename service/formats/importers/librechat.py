"""LibreChat: conversations exported as JSON, as a list of messages or as a tree of them."""

from collections.abc import Iterator, Mapping
from typing import Any

from muisti.service.formats.importers.dialogues import Conversation, message, with_object
from muisti.service.formats.importers.items import (
    Failed,
    Found,
    Item,
    Skipped,
    dicts,
    record_of,
    text_of,
    when,
    without,
)
from muisti.service.formats.importers.shapes import Shape, json_items
from muisti.service.formats.importers.source_files import Source

LISTS = ("messages", "messagesTree")
READ = ("messageId", "conversationId", "parentMessageId", "text", "content", "children", "sender", "isCreatedByUser",
        "createdAt", "siblingIndex", "depth")  # fmt: skip

Node = tuple[str, Mapping[str, Any]]  # a message with its place


def detect(shape: Shape) -> bool:
    return shape.says("conversationId", "exportAt") and any(map(shape.says, LISTS))


def read(source: Source) -> Iterator[Found]:
    with source.parts() as parts:
        for part in parts:
            if len(parts) > 1 and not part.name.lower().endswith(".json"):
                yield Skipped(part.name, "no conversation")
                continue
            for _, row in json_items(part, ""):
                yield from _conversation(part.name, record_of(row))


def _conversation(place: str, row: Mapping[str, Any]) -> Iterator[Found]:
    id_ = text_of(row.get("conversationId"))
    if id_ is None or not any(isinstance(row.get(name), list) for name in LISTS):
        yield Failed(place, "is no conversation")
        return
    options = without(record_of(row.get("options")), "title")
    rest = without({"endpoint": row.get("endpoint"), "options": options, "exported": row.get("exportAt")})
    conversation = Conversation(id_, "librechat", text_of(row.get("title")), rest=rest)
    yield from with_object(conversation, _messages(place, row, conversation))


def _messages(place: str, row: Mapping[str, Any], conversation: Conversation) -> Iterator[Found]:
    nodes: list[Node] = []
    for name in LISTS:
        _gather(f"{place} {name}", row.get(name), None, nodes)
    chosen, turn = _branch(nodes), 0
    for where, one in nodes:
        found = _message(where, one, conversation, turn + 1, chosen)
        turn += isinstance(found, Item)
        yield found


def _gather(place: str, rows: object, parent: object, nodes: list[Node]) -> None:
    """Add the messages of a list, each before its replies."""
    for number, row in enumerate(rows if isinstance(rows, list) else []):
        where, record = f"{place}[{number}]", record_of(row)
        nodes.append((where, {"parentMessageId": parent, **record}))
        _gather(f"{where}.children", record.get("children"), record.get("messageId"), nodes)


def _branch(nodes: list[Node]) -> set[object]:
    """Return the ids of the messages in the branch that ends last."""
    known = {row["messageId"]: row for _, row in nodes if text_of(row.get("messageId"))}
    parents = {id_: text_of(row.get("parentMessageId")) for id_, row in known.items()}
    leaves = known.keys() - set(parents.values())
    last: Any = max(leaves, key=lambda one: (when(known[one].get("createdAt")) or "", one), default=None)
    chosen: set[object] = set()
    while last in known and last not in chosen:
        chosen.add(last)
        last = parents[last]
    return chosen


def _message(place: str, row: Mapping[str, Any], conversation: Conversation, turn: int, chosen: set[object]) -> Found:
    id_ = text_of(row.get("messageId"))
    if id_ is None:
        return Failed(place, "a message without messageId")
    text = _text(row)
    if not text:
        return Skipped(place, "no text")
    if id_ not in chosen:
        return Skipped(place, "of a branch that was left")
    role = "user" if row.get("isCreatedByUser") is True else "assistant"
    rest = {"id": id_, **without({name: value for name, value in row.items() if value is not False}, *READ)}
    return message(conversation, turn, id_, place, role, text, row.get("createdAt"), rest)


def _text(row: Mapping[str, Any]) -> str:
    """Return what a message says, without thoughts and calls of tools. A block may have it one level down."""
    blocks = (one.get("text") for one in dicts(row.get("content")) if one.get("type") == "text")
    said = [text for one in blocks if (text := text_of(record_of(one).get("value") or one))]
    return "\n\n".join(said or filter(None, [text_of(row.get("text"))])).strip()
