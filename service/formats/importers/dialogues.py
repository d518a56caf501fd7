"""Turns a message of a conversation into a memory with its place in the conversation."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from muisti.service.formats.importers.items import Item, when, without

_CLASSES = {"user": "user", "human": "user", "assistant": "model", "ai": "model", "system": "model", "tool": "tool"}


@dataclass(frozen=True, slots=True)
class Session:
    """A conversation: its id in the other system, its title, and metadata that all of its messages share."""

    id: str
    title: str | None = None
    metadata: Mapping[str, Any] = field(default_factory=dict[str, Any])


def message(
    session: Session, number: int, external: str, place: str, role: str, content: str, at: object,
    rest: Mapping[str, Any],
) -> Item:  # fmt: skip
    """Return message `number` of a conversation, from 1; `at` is its time in the form of the other system."""
    said = when(at)
    unread = {"at": at} if said is None and at not in (None, "") else {}
    return Item(
        external=external,
        place=place,
        memory={
            "content": content,
            "category": "conversations",
            "type": "observation",
            "author": role,
            "source_class": _CLASSES.get(role, "unknown"),
            "metadata": {
                **without({"session": session.id, "turn": number, "title": session.title}),
                **session.metadata,
            },
            "event_at": said,
            "created_at": said,
        },
        rest={**rest, **unread},
    )
