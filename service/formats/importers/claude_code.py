"""Claude Code: its transcripts, a file of JSON lines for each session. Each message is a turn.

A transcript only grows. A later import of it adds the turns that are new, and those of a rewound branch stay.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import Any

from muisti.service.formats.importers.dialogues import Conversation, Talk, message, with_object
from muisti.service.formats.importers.items import Failed, Found, Item, Json, Skipped, text_of, without
from muisti.service.formats.importers.shapes import Shape, json_lines
from muisti.service.formats.importers.source_files import Part, Source

SYSTEM = "claude-code"
SPOKEN = ("user", "assistant")
TITLES = (("customTitle", "custom-title"), ("aiTitle", "ai-title"), ("summary", "summary"))  # the best first
NOTED = "not said by user or assistant"
_REMINDER = re.compile(r"<(system-reminder|local-command-caveat)>(?:(?!<\1>).)*?</\1>\s*", re.DOTALL)
_COMMAND = re.compile(r"<command-name>(?P<name>[^<]*)</command-name>")
_ARGUMENTS = re.compile(r"<command-args>(?P<args>[^<]*)</command-args>")
_WRAPPED = re.compile(r"\s*<(command-|local-command-|bash-|task-notification|user-memory-input)")


def detect(shape: Shape) -> bool:
    return any(_is_ours(line) for line in shape.lines)


def _is_ours(line: Json) -> bool:
    if line.get("type") in SPOKEN:
        return isinstance(line.get("message"), dict) and ("uuid" in line or "sessionId" in line)
    return (line.get("type") == "summary" and "leafUuid" in line) or {"type", "sessionId", "uuid"} <= set(line)


def read(source: Source) -> Iterator[Found]:
    seen: set[int] = set()
    with source.parts() as parts:
        for part in parts:
            if len(parts) > 1 and not part.name.endswith(".jsonl"):
                yield Skipped(part.name, "no transcript")
            else:
                yield from with_object(*_session(part, seen))


def talks(source: Source) -> Iterator[Talk]:
    """Yield the conversation of a transcript, with its turns."""
    with source.parts() as parts:
        yield from (_session(part, set()) for part in parts)


@dataclass(slots=True)
class _Facts:
    """Facts about a transcript, which its lines state."""

    id: str | None = None
    folder: str | None = None
    branch: str | None = None
    titles: dict[str, str] | None = None

    def take(self, row: Json, uuids: set[str]) -> None:
        """Note the facts of a line. A summary counts when it is of a message of this file."""
        self.id = self.id or text_of(row.get("sessionId"))
        self.folder = self.folder or text_of(row.get("cwd"))
        self.branch = self.branch or text_of(row.get("gitBranch"))
        if (uuid := text_of(row.get("uuid"))) is not None:
            uuids.add(uuid)
        self.titles = self.titles or {}
        for name, kind in TITLES:
            if row.get("type") == kind and (title := text_of(row.get(name))) is not None:
                self.titles[name] = title

    @property
    def title(self) -> str | None:
        titles = self.titles or {}
        return next((titles[name] for name, _ in TITLES if name in titles), None)


def _session(part: Part, seen: set[int]) -> Talk:
    facts, uuids = _Facts(), set[str]()
    for _, row in json_lines(part):
        if not isinstance(row, Failed):
            facts.take(row, uuids)
    conversation = Conversation(
        id=facts.id or PurePosixPath(part.name).stem,
        session=SYSTEM,
        title=facts.title,
        metadata=without({"folder": facts.folder, "branch": facts.branch}),
    )
    return conversation, _messages(part, conversation, seen)


def _messages(part: Part, conversation: Conversation, seen: set[int]) -> Iterator[Found]:
    turn = 0
    for place, row in json_lines(part):
        if isinstance(row, Failed):
            yield row
            continue
        found = _message(place, row, conversation, turn + 1)
        if isinstance(found, Item):
            if hash(found.external) in seen:
                found = Skipped(place, "copied from an earlier session")
            else:
                seen.add(hash(found.external))
                turn += 1
        if found is not None:
            yield found


def _message(place: str, row: Json, conversation: Conversation, turn: int) -> Found | None:
    said = row.get("message")
    if row.get("type") not in SPOKEN:
        return None if row.get("type") in [kind for _, kind in TITLES] else Skipped(place, NOTED)
    if not isinstance(said, dict):
        return Failed(place, "a message that is no object")
    if row.get("isSidechain") is True:
        return Skipped(place, "of a subagent")
    if any(row.get(name) is True for name in ("isMeta", "isCompactSummary", "isApiErrorMessage")):
        return Skipped(place, NOTED)
    text = _text(said.get("content"))
    if not text:
        return Skipped(place, "no text")
    uuid = text_of(row.get("uuid")) or f"{conversation.id}\n{turn}"
    rest = without({"id": text_of(row.get("uuid")), "model": said.get("model"), "version": row.get("version")})
    return message(conversation, turn, uuid, place, row["type"], text, row.get("timestamp"), rest)


def _text(content: object) -> str:
    """Return what was said, without thoughts, calls and results of tools, and what the program has added."""
    blocks: list[Any] = content if isinstance(content, list) else [content]
    texts = [one if isinstance(one, str) else _block(one) for one in blocks]
    return "\n\n".join(text for one in texts if (text := _said(one)))


def _block(block: object) -> str:
    row: Mapping[str, Any] = block if isinstance(block, dict) else {}
    return text_of(row.get("text")) or "" if row.get("type") == "text" else ""


def _said(text: str) -> str:
    """Return a text of a message. Of a command it is what the user typed.

    >>> _said("<command-name>/review</command-name><command-args>PR 12</command-args>"), _said("Fix <b>")
    ('/review PR 12', 'Fix <b>')
    """
    text = _REMINDER.sub("", text).strip()
    if not _WRAPPED.match(text):
        return text
    name, args = _COMMAND.search(text), _ARGUMENTS.search(text)
    typed = args["args"].strip() if args else ""
    return f"{name['name'].strip()} {typed}" if name and typed else ""
