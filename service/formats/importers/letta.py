"""Letta: agent files (`.af`), their older form of one agent, and passages as its API lists them."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from contextlib import nullcontext
from io import BytesIO
from itertools import count
from typing import Any

import msgspec

from muisti.service.formats.importers.dialogues import Conversation, message, with_object
from muisti.service.formats.importers.items import (
    Failed,
    Found,
    Item,
    Skipped,
    Unreadable,
    plain,
    text_of,
    when,
    without,
)
from muisti.service.formats.importers.shapes import Shape, first_items, json_items
from muisti.service.formats.importers.source_files import Part, Source

WRAPPED_MAX = 64 << 20  # bytes of a file that is JSON within a text of JSON
LISTS = ("blocks", "core_memory", "memory_blocks")
SPOKEN = ("user", "assistant")


def detect(shape: Shape) -> bool:
    if shape.kind == "string":
        return '\\"agents\\"' in shape.text or '\\"core_memory\\"' in shape.text
    return shape.has("agents", "blocks") or shape.has("core_memory") or shape.has("archival_memory")


def read(source: Source) -> Iterator[Found]:
    file = _document(source)
    yield from (_block(place, row) for place, row in first_items(file, LISTS))
    yield from (_passage(place, row) for place, row in first_items(file, ("archival_memory", "passages")))
    names: Counter[str] = Counter()
    for place, agent in json_items(file, "agents.item"):
        if not isinstance(agent, dict):
            yield Failed(place, "is no object")
            continue
        for number, block in enumerate(_list(agent.get("memory_blocks"))):
            yield _block(f"{place}.memory_blocks[{number}]", block)
        name = text_of(agent.get("name")) or str(agent.get("id") or "agent")
        rows = ((f"{place}.messages[{number}]", row) for number, row in enumerate(_list(agent.get("messages"))))
        yield from _messages(name, names, [rows])
    lists = [json_items(file, f"{name}.item") for name in ("messages", "in_context_messages")]
    yield from _messages("agent", names, lists)


def _document(source: Source) -> Part | Source:
    """Return the JSON of a file, also when it is encoded again as a JSON string."""
    if source.head(1) != b'"':
        return source
    with source.open() as file:
        data = file.read(WRAPPED_MAX + 1)
    if len(data) > WRAPPED_MAX:
        raise Unreadable(f"{source.name}: is a text of JSON of more than {WRAPPED_MAX:,} bytes")
    try:
        text = msgspec.json.decode(data, type=str).encode()
    except (msgspec.DecodeError, UnicodeError, RecursionError) as error:
        raise Unreadable(f"{source.name}: is no JSON ({error})") from None
    return Part(source.name, lambda: nullcontext(BytesIO(text)))


def _block(place: str, row: object) -> Found:
    if not isinstance(row, dict):
        return Failed(place, "is no object")
    record: Mapping[str, Any] = row
    label, value = text_of(record.get("label")), text_of(record.get("value"))
    if label is None:
        return Failed(place, "a block without a label")
    if value is None:
        return Skipped(place, "an empty block")
    tags = record.get("tags")
    return Item(
        external=f"block\n{label}\n{value}",  # its id is one of the file, such as block-0
        place=place,
        memory={
            "content": value,
            "category": "blocks",
            "tags": [label, *(tags if isinstance(tags, list) else [])],
            "reason": text_of(record.get("description")),
            "metadata": record.get("metadata") if isinstance(record.get("metadata"), dict) else {},
            "source_class": "model",
        },
        rest=without(record, "value", "label", "tags", "description", "metadata"),
    )


def _passage(place: str, row: object) -> Found:
    if not isinstance(row, dict):
        return Failed(place, "is no object")
    record: Mapping[str, Any] = row
    text = text_of(record.get("text"))
    if text is None:
        return Failed(place, "a passage without a text")
    if record.get("is_deleted"):
        return Skipped(place, "deleted there")
    return Item(
        external=plain(record.get("id") or text),
        place=place,
        memory={
            "content": text,
            "category": "archive",
            "tags": _list(record.get("tags")),
            "source": text_of(record.get("file_name")),
            "metadata": record.get("metadata") if isinstance(record.get("metadata"), dict) else {},
            "created_at": when(record.get("created_at")),
        },
        rest=without(record, "text", "tags", "metadata", "created_at", "embedding", "embedding_config", "is_deleted"),
    )


def _messages(name: str, names: Counter[str], lists: Iterable[Iterable[tuple[str, Any]]]) -> Iterator[Found]:
    """Yield what an agent's lists of messages have, as one conversation. `names` counts the agents of each name."""
    names[name] += 1
    id_ = name if names[name] == 1 else f"{name} {names[name]}"
    conversation = Conversation(id_, session="letta", title=name)
    turns = count(1)
    yield from with_object(
        conversation,
        (
            _message(place, row, conversation, next(turns), number)
            for rows in lists
            for number, (place, row) in enumerate(rows, start=1)
        ),
    )


def _message(place: str, row: object, conversation: Conversation, turn: int, number: int) -> Found:
    if not isinstance(row, dict):
        return Failed(place, "is no object")
    record: Mapping[str, Any] = row
    role, text = record.get("role"), _text(record.get("content", record.get("text")))
    if role not in SPOKEN:
        return Skipped(place, "not said by user or assistant")
    if not text:
        return Skipped(place, "no text")
    external = "\n".join((str(conversation.title), plain(record.get("id") or number), text))
    rest = without({name: record.get(name) for name in ("id", "name", "model")})
    return message(conversation, turn, external, place, str(role), text, record.get("created_at"), rest)


def _text(content: object) -> str:
    if isinstance(content, str):
        return content.strip()
    texts = (one.get("text") for one in _list(content) if isinstance(one, dict) and one.get("type") == "text")
    return "\n\n".join(text for text in texts if isinstance(text, str) and text.strip())


def _list(value: object) -> list[Any]:
    return value if isinstance(value, list) else []
