"""Codex: its transcripts `rollout-*.jsonl`, a file of JSON lines for each session. Each message is a turn.

A line has a time and a payload; in older files it is the payload only. Newer files have each message twice, as
an item of the model's context and as an event, which is without what the program has added.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from hashlib import sha256
from pathlib import PurePosixPath
from typing import Any

from muisti.service.formats.importers.dialogues import Conversation, Talk, message, with_object
from muisti.service.formats.importers.items import (
    Failed,
    Found,
    Item,
    Json,
    Skipped,
    clean,
    plain,
    record_of,
    text_of,
    without,
)
from muisti.service.formats.importers.shapes import Shape, json_lines
from muisti.service.formats.importers.source_files import Part, Source

SYSTEM = "codex"
EVENTS = {"user_message": "user", "agent_message": "assistant"}
ITEMS = ("input_text", "output_text", "text")
KINDS = ("session_meta", "event_msg", "response_item", "turn_context", "compacted")
NOTED = "not said by user or assistant"
_ADDED = re.compile(
    r"\s*(<(environment_context|user_instructions|INSTRUCTIONS|turn_aborted|user_action|permissions|skill|"
    r"subagent_notification)|# AGENTS\.md instructions for )"
)


def detect(shape: Shape) -> bool:
    return any(_is_ours(line) for line in shape.lines)


def _is_ours(line: Json) -> bool:
    if text_of(line.get("type")) in KINDS:
        return isinstance(line.get("payload"), dict)
    return line.get("record_type") == "state" or {"id", "timestamp", "instructions"} <= set(line)


def read(source: Source) -> Iterator[Found]:
    with source.parts() as parts:
        for part in parts:
            if len(parts) > 1 and not part.name.endswith(".jsonl"):
                yield Skipped(part.name, "no transcript")
            else:
                yield from with_object(*_session(part))


def talks(source: Source) -> Iterator[Talk]:
    """Yield the conversation of a transcript, with its turns."""
    with source.parts() as parts:
        yield from map(_session, parts)


def _session(part: Part) -> Talk:
    facts = _facts(part)
    conversation = Conversation(
        id=text_of(facts.meta.get("id")) or PurePosixPath(part.name).stem,
        session=SYSTEM,
        metadata=without({"folder": facts.meta.get("cwd"), "git": facts.meta.get("git")}),
        rest=without({"originator": facts.meta.get("originator"), "version": facts.meta.get("cli_version")}),
    )
    return conversation, _messages(part, facts, conversation)


@dataclass(slots=True)
class _Facts:
    """The description of a session, and the roles whose messages are events as well."""

    meta: Json = field(default_factory=dict[str, Any])
    events: set[str] = field(default_factory=set[str])


def _facts(part: Part) -> _Facts:
    facts = _Facts()
    for _, row in json_lines(part):
        if isinstance(row, Failed):
            continue
        payload = record_of(row.get("payload"))
        if row.get("type") == "session_meta" or {"id", "timestamp", "instructions"} <= set(row):
            facts.meta = facts.meta or dict(payload or row)
        elif row.get("type") == "event_msg" and (role := EVENTS.get(plain(payload.get("type")))) is not None:
            facts.events.add(role)
    return facts


def _messages(part: Part, facts: _Facts, conversation: Conversation) -> Iterator[Found]:
    turn = 0
    for place, row in json_lines(part):
        if isinstance(row, Failed):
            yield row
            continue
        found = _message(place, row, facts, conversation, turn + 1)
        turn += isinstance(found, Item)
        yield found


def _message(place: str, row: Json, facts: _Facts, conversation: Conversation, turn: int) -> Found:
    role, text = _said(row)
    is_event = row.get("type") == "event_msg"
    if role not in EVENTS.values() or (not is_event and role in facts.events):
        return Skipped(place, NOTED)
    if not text.strip():
        return Skipped(place, "no text")
    if _ADDED.match(text):
        return Skipped(place, NOTED)
    at = row.get("timestamp") or facts.meta.get("timestamp")
    digest = sha256(clean(text).encode()).hexdigest()[:32]
    number = "" if row.get("timestamp") else f"\n{turn}"  # bare lines have no time that tells equal ones apart
    external = f"{conversation.id}\n{role}\n{at}\n{digest}{number}"
    return message(conversation, turn, external, place, role, text.strip(), at, {})


def _said(row: Mapping[str, Any]) -> tuple[str, str]:
    """Return the role and the text of a line; the role is empty when nobody says something."""
    payload = record_of(row.get("payload")) or row
    if row.get("type") == "event_msg":
        return EVENTS.get(plain(payload.get("type")), ""), text_of(payload.get("message")) or ""
    if payload.get("type") != "message":
        return "", ""
    content = payload.get("content")
    blocks: list[Any] = content if isinstance(content, list) else [{"type": "text", "text": content}]
    texts = [text_of(record_of(one).get("text")) for one in blocks if record_of(one).get("type") in ITEMS]
    return text_of(payload.get("role")) or "", "\n\n".join(one for one in texts if one and not _ADDED.match(one))
