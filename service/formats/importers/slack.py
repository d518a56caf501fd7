"""Slack: the export of a workspace, with a folder of days for each channel, or the messages of one channel."""

import html
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import groupby
from pathlib import PurePosixPath
from typing import Any

from muisti.service.formats.importers.dialogues import Conversation, message, with_object
from muisti.service.formats.importers.items import Failed, Found, Item, Skipped, record_of, text_of, when, without
from muisti.service.formats.importers.shapes import Shape, json_items
from muisti.service.formats.importers.source_files import Part, Source

LISTS = ("channels.json", "groups.json", "dms.json", "mpims.json")
SAID = (None, "", "bot_message", "me_message", "thread_broadcast", "file_share", "file_comment", "reply_broadcast")
_DAY = re.compile(r"(?:.*/)?[^/]+/\d{4}-\d\d-\d\d\.json")
_MARK = re.compile(r"<([@#!]?)([^<>|]+)(?:\|([^<>]*))?>")


def detect(shape: Shape) -> bool:
    if shape.is_many:
        is_listed = any(PurePosixPath(one).name in ("users.json", *LISTS) for one in shape.members)
        return is_listed and any(_DAY.fullmatch(one) for one in shape.members)
    return shape.kind == "array" and shape.has("ts") and any(map(shape.has, ("user", "username", "bot_id", "text")))


@dataclass(slots=True)
class _Workspace:
    """The names of users and channels by their ids, and the ids of channels by their names."""

    users: dict[str, str] = field(default_factory=dict[str, str])
    channels: dict[str, str] = field(default_factory=dict[str, str])
    ids: dict[str, str] = field(default_factory=dict[str, str])

    def take(self, row: Mapping[str, Any], is_user: bool) -> None:
        """Note a user or a channel."""
        id_ = text_of(row.get("id"))
        name = _name(row) if is_user else text_of(row.get("name"))
        if id_ is None:
            return
        if is_user:
            self.users[id_] = name or id_
        else:
            self.channels[id_] = name or id_
            self.ids[name or id_] = id_

    def plain(self, text: str) -> str:
        """Return a text of Slack with names for ids, and without its marks."""
        return html.unescape(_MARK.sub(self._named, text))

    def _named(self, found: re.Match[str]) -> str:
        kind, what, label = found[1], found[2], found[3]
        if kind == "@":
            return f"@{label or self.users.get(what, what)}"
        if kind == "#":
            return f"#{label or self.channels.get(what, what)}"
        if kind == "!":
            return label or f"@{what.partition('^')[0]}"
        return what if not label or label == what else f"{label} ({what})"


def read(source: Source) -> Iterator[Found]:
    workspace = _Workspace()
    with source.parts() as parts:
        days: list[Part] = []
        for part in parts:
            name = PurePosixPath(part.name).name
            if len(parts) > 1 and name in ("users.json", *LISTS):
                for _, row in json_items(part, "item"):
                    workspace.take(row if isinstance(row, dict) else {}, name == "users.json")
            elif len(parts) == 1 or _DAY.fullmatch(part.name):
                days.append(part)
            else:
                yield Skipped(part.name, "no messages")
        for folder, files in groupby(days, key=lambda part: PurePosixPath(part.name).parent.as_posix()):
            name = PurePosixPath(folder).name or PurePosixPath(source.name).stem
            id_ = workspace.ids.get(name, name)
            title = workspace.channels.get(id_, name)
            conversation = Conversation(id=id_, session="slack", title=f"#{title}")
            yield from with_object(conversation, _messages(list(files), conversation, workspace))


def _messages(files: Sequence[Part], conversation: Conversation, workspace: _Workspace) -> Iterator[Found]:
    turn = 0
    for part in files:
        for place, row in json_items(part, "item"):
            found = _message(place, row, conversation, turn + 1, workspace)
            turn += isinstance(found, Item)
            yield found


def _message(place: str, row: object, conversation: Conversation, turn: int, workspace: _Workspace) -> Found:
    if not isinstance(row, dict):
        return Failed(place, "is no object")
    if row.get("subtype") not in SAID:
        return Skipped(place, "a notice of the workspace")
    at = text_of(row.get("ts"))
    if at is None or when(at) is None:
        return Failed(place, "a message without a time in ts")
    text = workspace.plain(text_of(row.get("text")) or _attached(row))
    if not text.strip():
        return Skipped(place, "no text")
    user = text_of(row.get("user"))
    is_bot = row.get("subtype") == "bot_message" or user is None
    name = _name(record_of(row.get("user_profile"))) or text_of(row.get("username"))
    author = workspace.users.get(user or "") or name or _name(record_of(row.get("bot_profile"))) or user or "bot"
    files = [record_of(one).get("name") for one in _list(row.get("files"))]
    rest = without({"ts": at, "thread": row.get("thread_ts"), "user": user, "files": [one for one in files if one]})
    role = "tool" if is_bot else "user"
    found = message(conversation, turn, f"{conversation.id}\n{at}", place, role, text, at, rest)
    return replace(found, memory={**found.memory, "author": author})


def _attached(row: Mapping[str, Any]) -> str:
    """Return the texts of what is attached to a message that has no text."""
    rows = [record_of(one) for one in _list(row.get("attachments"))]
    texts = (text_of(one.get("text")) or text_of(one.get("fallback")) for one in rows)
    return "\n\n".join(text for text in texts if text)


def _name(row: Mapping[str, Any]) -> str | None:
    """Return the name of a user, the one that people see first."""
    rows = (record_of(row.get("profile")), row)
    names = (one.get(name) for name in ("display_name", "real_name", "name") for one in rows)
    return next((text for name in names if (text := text_of(name))), None)


def _list(value: object) -> list[Any]:
    return value if isinstance(value, list) else []
