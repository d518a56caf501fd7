"""Gemini CLI: its sessions, a file of JSON or JSON lines for each, and `logs.json`, the prompts of a project.

In JSON lines a later record of a message replaces an earlier one, and others take messages back.
"""

import re
from collections.abc import Iterator, Mapping
from pathlib import PurePosixPath
from typing import Any

from muisti.service.formats.importers.dialogues import Conversation, Talk, message, with_object
from muisti.service.formats.importers.items import Failed, Found, Item, Json, Skipped, plain, text_of, without
from muisti.service.formats.importers.shapes import Shape, json_events, json_items, json_lines, json_object
from muisti.service.formats.importers.source_files import Part, Source

SYSTEM = "gemini-cli"
ROLES = {"user": "user", "gemini": "assistant"}
NOTED, LEFT = "not said by user or assistant", "of a branch that was left"
FACTS = ("sessionId", "projectHash", "startTime", "lastUpdated", "summary", "kind")
_SHOWN = re.compile(r"<(hook_context|session_context)>(?:(?!<\1>).)*?</\1>\s*", re.DOTALL)

Row = tuple[str, Any]  # the place of a message, and the message


def detect(shape: Shape) -> bool:
    if shape.has("sessionId", "projectHash") or shape.has("sessionId", "messageId", "type", "message"):
        return True
    return any({"sessionId", "projectHash"} <= set(line) for line in shape.lines)


def read(source: Source) -> Iterator[Found]:
    for conversation, found in talks(source):
        yield from with_object(conversation, found)


def talks(source: Source) -> Iterator[Talk]:
    """Yield the conversations of a file, with their turns."""
    with source.parts() as parts:
        for part in parts:
            head = part.head().removeprefix(b"\xef\xbb\xbf").lstrip()
            first = json_object(head.partition(b"\n")[0], part.name)
            if head.startswith(b"["):
                yield from _prompts(part)
            elif not isinstance(first, Failed) and "messages" not in first:
                yield _of_lines(part)
            else:
                facts = _facts(part)
                yield _talk(part, facts, json_items(part, "messages.item"))


def _facts(part: Part) -> Json:
    """Return the texts of an object, without its messages."""
    name, found = "", dict[str, Any]()
    for depth, event, value in json_events(part):
        if depth == 1 and event == "map_key":
            name = str(value)
        elif depth == 1 and event == "string" and name in FACTS:
            found[name] = value
    return found


def _of_lines(part: Part) -> Talk:
    """Return the conversation of a file of JSON lines. Two passes: the first finds the messages that count."""
    facts, last = dict[str, Any](), dict[str, str]()
    for place, row in json_lines(part):
        if isinstance(row, Failed):
            continue
        change = row["$set"] if isinstance(row.get("$set"), dict) else row
        facts |= {name: change[name] for name in FACTS if text_of(change.get(name))}
        if isinstance(change.get("messages"), list):
            last.clear()
        if (back := text_of(row.get("$rewindTo"))) is not None:
            kept = list(last)[: list(last).index(back)] if back in last else []
            last = {one: last[one] for one in kept}
        for where, one in _rows(place, row):
            last[str(one.get("id"))] = where
    return _talk(part, facts, _counting(part, set(last.values())))


def _counting(part: Part, last: set[str]) -> Iterator[Row]:
    for place, row in json_lines(part):
        if isinstance(row, Failed):
            yield place, row
            continue
        for where, one in _rows(place, row):
            yield where, one if where in last else Skipped(where, LEFT)


def _rows(place: str, row: Json) -> Iterator[tuple[str, Json]]:
    """Yield the messages of a line: itself, or those of the list that it sets."""
    change = row["$set"] if isinstance(row.get("$set"), dict) else row
    if isinstance(change.get("messages"), list):
        listed: list[Any] = change["messages"]
        yield from ((f"{place} [{number}]", one) for number, one in enumerate(listed) if isinstance(one, dict))
    elif "id" in row:
        yield place, row


def _talk(part: Part, facts: Json, rows: Iterator[Row]) -> Talk:
    conversation = Conversation(
        id=facts.get("sessionId") or PurePosixPath(part.name).stem,
        session=SYSTEM,
        title=facts.get("summary"),
        metadata=without({"project": facts.get("projectHash")}),
    )
    return conversation, _turns(rows, conversation, is_child=facts.get("kind") == "subagent")


def _turns(rows: Iterator[Row], conversation: Conversation, *, is_child: bool) -> Iterator[Found]:
    turn = 0
    for place, row in rows:
        if isinstance(row, Failed | Skipped):
            yield row
        elif not isinstance(row, dict):
            yield Failed(place, "is no JSON object")
        elif is_child:
            yield Skipped(place, "of a subagent")
        else:
            found = _turn(place, row, conversation, turn + 1)
            turn += isinstance(found, Item)
            yield found


def _turn(place: str, row: Mapping[str, Any], conversation: Conversation, turn: int) -> Found:
    role = ROLES.get(str(row.get("type")))
    if role is None:
        return Skipped(place, NOTED)
    text = _SHOWN.sub("", _text(row.get("displayContent")) or _text(row.get("content"))).strip()
    if not text:
        return Skipped(place, "no text")
    own = text_of(row.get("id"))
    rest = without({"id": own, "model": row.get("model")})
    external = f"{conversation.id}\n{own or turn}"
    return message(conversation, turn, external, place, role, text, row.get("timestamp"), rest)


def _text(content: object) -> str:
    """Return what was said: a text, or the texts of parts without thoughts and calls of tools."""
    blocks: list[Any] = content if isinstance(content, list) else [content]
    texts = [one if isinstance(one, str) else _part(one) for one in blocks]
    return "\n\n".join(text for text in texts if text.strip())


def _part(block: object) -> str:
    row: Mapping[str, Any] = block if isinstance(block, dict) else {}
    return "" if row.get("thought") is True else text_of(row.get("text")) or ""


def _prompts(part: Part) -> Iterator[Talk]:
    """Yield the conversations of `logs.json`, which has the prompts of each session one after another."""
    sessions = dict[str, None]()
    for _, row in json_items(part, "item"):
        if isinstance(row, dict) and (name := text_of(row.get("sessionId"))) is not None:
            sessions[name] = None
    for name in sessions:
        conversation = Conversation(id=name, session=SYSTEM)
        yield conversation, _turns(_logged(part, name), conversation, is_child=False)


def _logged(part: Part, session: str) -> Iterator[Row]:
    for place, row in json_items(part, "item"):
        if isinstance(row, dict) and row.get("sessionId") == session:
            yield place, {**row, "id": f"log {plain(row.get('messageId'))}", "content": row.get("message")}
