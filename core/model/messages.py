"""The messages of a turn: both are one text with `REPLY_GAP` between them, and `structure.reply_at` divides it.

This module reads and changes the division; nothing else does, so that no reader gives a speaker the words of the other.
"""

from collections.abc import Mapping
from typing import Any, TypeVar

import msgspec

from muisti.core.model.errors import InvalidInput
from muisti.core.model.values import Draft, Json, Memory, is_blank

REPLY_GAP = "\n\n"  # between both messages of an exchange
ASSISTANT = "assistant"  # who replies, unless an exchange names somebody
MESSAGES = ("user", "system")  # fields of a change to a turn, beside those of a memory
_BOTH = "the turn has two messages, and this text does not say where the reply begins; send `user` and `system`"

T = TypeVar("T", Draft, Memory)


class Message(msgspec.Struct, frozen=True):
    """Words of one speaker in a memory, from the character `start` on. `is_reply`: the `author` is not its speaker."""

    speaker: str | None
    text: str
    start: int = 0
    is_reply: bool = False


def reply_at(kind: str, content: str, structure: Mapping[str, Json]) -> int | None:
    """Return the place where the reply begins in a text; None when it is one message.

    A stored place that divides no two messages was kept from an earlier text. The only gap of the text replaces it.

    >>> reply_at("exchange", "Who?\\n\\nAnn.", {"reply_at": 6})
    6
    >>> reply_at("exchange", "Who is it?\\n\\nAnn.", {"reply_at": 6})
    12
    """
    at = structure.get("reply_at") if kind == "exchange" else None
    if not isinstance(at, int):
        return None
    return at if _divides(content, at) else _only(content)


def messages(kind: str, content: str, author: str | None, structure: Mapping[str, Json]) -> list[Message]:
    """Return the messages of a turn, each with its speaker; the whole of another memory is that of its author."""
    at = reply_at(kind, content, structure)
    if at is None:
        return [Message(author, content)]
    replier = str(structure.get("replier") or ASSISTANT)
    return [Message(author, content[: at - len(REPLY_GAP)]), Message(replier, content[at:], at, is_reply=True)]


def messages_of(memory: Memory) -> list[Message]:
    return messages(memory.kind, memory.content, memory.author, memory.structure)


def joined(first: str, reply: str | None, replier: str | None = None) -> tuple[str, dict[str, Json]]:
    """Return the text of a turn, and the part of its structure that divides it.

    >>> joined("Who?", "Ann.")
    ('Who?\\n\\nAnn.', {'reply_at': 6, 'replier': 'assistant'})
    """
    if reply is None:
        return first, {}
    at = len(first) + len(REPLY_GAP)
    return f"{first}{REPLY_GAP}{reply}", {"reply_at": at, "replier": replier or ASSISTANT}


def restated(draft: Draft, changes: Mapping[str, object]) -> dict[str, Any]:
    """Return the changes to a draft with its division kept right; `user` and `system` become its content.

    A `content` that keeps one of two messages, or has a single gap, says where the reply begins.

    Raises:
        InvalidInput: the draft is no turn, or a new text leaves open who says what.
    """
    fields = {name: value for name, value in changes.items() if name not in MESSAGES}
    said = {name: changes[name] for name in MESSAGES if name in changes}
    if said:
        return {**fields, **_said(draft, fields, said)}
    content, at = fields.get("content"), reply_at(draft.kind, draft.content, draft.structure)
    if at is None or not isinstance(content, str) or content == draft.content:
        return fields
    new = _moved(draft.content, at, content)
    if new is None:
        raise InvalidInput.at("$.content", _BOTH)
    return {**fields, "structure": {**draft.structure, "reply_at": new}}


def by_message(draft: Draft, changes: Mapping[str, object]) -> dict[str, object]:
    """Return changes to a draft that a caller may send: of a turn each message, in place of content and structure."""
    new = msgspec.structs.replace(draft, **changes)
    found = messages(new.kind, new.content, new.author, new.structure)
    if len(found) < 2:
        return {**changes}
    kept = {name: value for name, value in changes.items() if name not in ("content", "structure")}
    said = {name: one.text for name, one in zip(MESSAGES, found, strict=True)}
    return {**kept, **said} if "content" in changes else kept


def sound(turn: T) -> T:
    """Return a turn whose division is right, or is left out because its text has none."""
    if "reply_at" not in turn.structure or turn.kind != "exchange":
        return turn
    at = reply_at(turn.kind, turn.content, turn.structure)
    if at == turn.structure["reply_at"]:
        return turn
    kept = {name: value for name, value in turn.structure.items() if name not in ("reply_at", "replier")}
    if at is not None:
        kept |= {"reply_at": at, "replier": turn.structure.get("replier") or ASSISTANT}
    return msgspec.structs.replace(turn, structure=kept)


def _said(draft: Draft, fields: Mapping[str, object], said: Mapping[str, object]) -> dict[str, Any]:
    name = next(iter(said))
    if draft.kind != "exchange":
        raise InvalidInput.at(f"$.{name}", "is a message of a turn, and this memory is none; change its `content`")
    if "content" in fields:
        raise InvalidInput.at("$.content", "goes without user and system: those are an exchange of two")
    first, *rest = messages(draft.kind, draft.content, draft.author, draft.structure)
    stored = rest[0].text if rest else None
    user, reply = said.get("user", first.text), said.get("system", stored)
    for field, text in (("user", user), ("system", reply)):
        if (not isinstance(text, str) or is_blank(text)) and (field == "user" or text is not None):
            raise InvalidInput.at(f"$.{field}", "must not be empty or blank")
    replier = draft.structure.get("replier")
    content, division = joined(str(user), None if reply is None else str(reply), str(replier) if replier else None)
    others = {name: value for name, value in draft.structure.items() if name not in ("reply_at", "replier")}
    return {"content": content, "structure": {**others, **division}}


def _moved(before: str, at: int, after: str) -> int | None:
    """Return the place of the reply in a text that replaces another; None when it is not certain."""
    first, reply = before[:at], before[at - len(REPLY_GAP) :]
    places = {at} if after.startswith(first) else set[int]()
    if after.endswith(reply):
        places.add(len(after) - len(reply) + len(REPLY_GAP))
    places = {place for place in places if _divides(after, place)}
    if len(places) > 1:
        return None
    return places.pop() if places else _only(after)


def _only(content: str) -> int | None:
    """Return the place behind the only gap of a text; None when there is none, or another."""
    first, gap, rest = content.partition(REPLY_GAP)
    at = len(first) + len(gap)
    return at if gap and REPLY_GAP not in rest and _divides(content, at) else None


def _divides(content: str, at: int) -> bool:
    first, gap, reply = content[: at - len(REPLY_GAP)], content[at - len(REPLY_GAP) : at], content[at:]
    return at > len(REPLY_GAP) and gap == REPLY_GAP and bool(first.strip()) and bool(reply.strip())
