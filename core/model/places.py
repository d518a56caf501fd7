"""Places of memories: names of documents and of objects in session > conversation > topic > exchange, and turns.

Every object is a versioned memory of a kind of its own. It is named by its caller, within the category of the caller's
key, so that a key for one category has names of its own. Names survive forks, exports and imports.
"""

from collections.abc import Sequence
from typing import Literal, cast

import msgspec

from muisti.core.model.values import STRUCTURAL, Draft, Memory

Level = Literal["session", "conversation", "topic"]  # objects that callers name
TURN_MAX = 2**53 - 1
Span = tuple[int, int]
"""First and last turn of a stretch, both included."""
GRAPHIC = ("entity", "relation")  # kinds of what people say of the graph
_GAP = "\x1f"  # between the parts of a place; no name has a control character


def place_of(memory: Memory | Draft) -> str | None:
    """Return the place of an object or an exchange in the hierarchy; None for other memories.

    One current memory of a category is at each place. The column `place` of the table `versions` has the same text.

    >>> place_of(Draft(content="Hello", kind="exchange", conversation="c-42", turn=7))
    'exchange/c-42\\x1f7'
    """
    session, conversation, topic, turn = memory.session, memory.conversation, memory.topic, memory.turn
    match memory.kind:
        case "exchange" if conversation is not None and turn is not None:
            parts = [conversation, str(turn)]
        case "session" if session is not None:
            parts = [session]
        case "conversation" if conversation is not None:
            parts = [conversation]
        case "topic" if conversation is not None and topic is not None:
            parts = [conversation, topic]
        case "document" if memory.document is not None:
            parts = [memory.document]
        case "entity":
            parts = [str(memory.structure.get("norm", ""))]
        case "summary":
            of = memory.structure.get("of", "")
            parts = [str(of), session or "", conversation or "", topic or "", "" if turn is None else str(turn)]
        case _:
            return None
    return f"{memory.kind}/{_GAP.join(parts)}"


def name_of(memory: Memory | Draft) -> str:
    """Return the name of an object, or of the conversation of an exchange; empty for other memories."""
    content = memory.content if memory.kind in GRAPHIC else None
    named = {"session": memory.session, "topic": memory.topic, "document": memory.document}
    named |= {"entity": content, "relation": content}
    return named.get(memory.kind, memory.conversation) or ""


def spans_of(topic: Memory) -> list[Span]:
    """Return the stretches of turns that a topic covers, in order."""
    spans = topic.structure.get("spans")
    pairs = cast("list[list[int]]", spans) if isinstance(spans, list) else []
    return sorted((first, last) for first, last in pairs)


def without(spans: Sequence[Span], others: Sequence[Span]) -> list[Span]:
    """Return the turns that are in `spans` and in none of the others.

    >>> without([(0, 9), (12, 13)], [(3, 4), (9, 12)])
    [(0, 2), (5, 8), (13, 13)]
    """
    left = [*spans]
    for first, last in others:
        parts = [part for start, stop in left for part in ((start, min(stop, first - 1)), (max(start, last + 1), stop))]
        left = sorted({(start, stop) for start, stop in parts if start <= stop})
    return left


def is_structural(memory: Memory | Draft) -> bool:
    """Return whether this is an object that orders memories, such as a conversation or a summary."""
    return memory.kind in STRUCTURAL


class ObjectName(msgspec.Struct, frozen=True, kw_only=True):
    """The name of a session, conversation or topic; that of a topic is unique in its `conversation`.

    It is looked up in the category of the caller, or in `category` for callers of all categories; None for objects
    without one.
    """

    level: Level
    name: str
    conversation: str | None = None
    category: str | None = None

    @property
    def place(self) -> str:
        """Return the place of the object in the hierarchy, as `place_of` says it."""
        return f"{self.level}/{self.name if self.conversation is None else f'{self.conversation}{_GAP}{self.name}'}"

    def __str__(self) -> str:
        return self.name if self.conversation is None else f"{self.conversation}/{self.name}"


class DocumentName(msgspec.Struct, frozen=True, kw_only=True):
    """The path of a document, or the id of its memory.

    A path is looked up in the category of the caller, or in `category` for callers of all categories; None for
    documents without one.
    """

    name: str
    category: str | None = None

    def __str__(self) -> str:
        return self.name
