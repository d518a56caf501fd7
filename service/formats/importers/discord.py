"""Discord: channels of DiscordChatExporter as JSON, and the data package that Discord itself sends."""

import csv
import io
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Any

from muisti.service.formats.importers.dialogues import Conversation, message, with_object
from muisti.service.formats.importers.items import (
    Failed,
    Found,
    Item,
    Skipped,
    Unreadable,
    dicts,
    plain,
    record_of,
    text_of,
    when,
    without,
)
from muisti.service.formats.importers.shapes import Shape, json_header, json_items
from muisti.service.formats.importers.source_files import Part, Source

NOTICES = frozenset({
    "RecipientAdd", "RecipientRemove", "Call", "ChannelNameChange", "ChannelIconChange", "ChannelPinnedMessage",
    "GuildMemberJoin", "UserPremiumGuildSubscription", "ThreadCreated",
})  # fmt: skip
SAID = ("id", "type", "timestamp", "content", "author", "attachments", "embeds", "stickers", "poll")
PACKAGE = re.compile(r"(?P<folder>(?:.*/)?messages/c?\d+)/messages\.(?:json|csv)", re.IGNORECASE)


def detect(shape: Shape) -> bool:
    folders = [found["folder"] for one in shape.members if (found := PACKAGE.fullmatch(one))]
    return any(f"{one}/channel.json" in shape.members for one in folders) or shape.says("guild", "channel", "messages")


def read(source: Source) -> Iterator[Found]:
    with source.parts() as parts:
        known = {part.name: part for part in parts}
        user = next((_user(part) for name, part in known.items() if name.lower().endswith("account/user.json")), None)
        channels: dict[str, tuple[Conversation, list[Part]]] = {}
        for part in parts:
            if (channel := _channel(part, known)) is not None:
                channels.setdefault(channel.id, (channel, []))[1].append(part)
            elif len(parts) > 1:
                yield Skipped(part.name, "no messages")
            else:
                yield Failed(part.name, "is no channel")
        for channel, files in channels.values():
            rows = (row for part in files for row in _rows(part, user))
            yield from with_object(channel, _messages(rows, channel))


def _channel(part: Part, known: Mapping[str, Part]) -> Conversation | None:
    """Return the channel that a file has messages of, None for another file."""
    packed = PACKAGE.fullmatch(part.name)
    described = known.get(f"{packed['folder']}/channel.json") if packed else part
    if described is None or (len(known) > 1 and not described.name.lower().endswith(".json")):
        return None
    header, _ = json_header(described, "messages")
    channel, server = header if packed else record_of(header.get("channel")), record_of(header.get("guild"))
    if not channel.get("id") or not (packed or server):
        return None
    id_ = plain(channel["id"])
    title = text_of(channel.get("name")) or text_of(server.get("name")) or f"channel {id_}"
    where = without({"server": server.get("name"), "category": channel.get("category")})
    rest = without(channel, "name", "guild", "category")
    return Conversation(f"discord {id_}", "discord", title, metadata=where, rest=rest)


def _messages(rows: Iterable[tuple[str, Any]], channel: Conversation) -> Iterator[Found]:
    turn = 0
    for place, row in rows:
        found = _message(place, row, channel, turn + 1)
        turn += isinstance(found, Item)
        yield found


def _message(place: str, row: object, channel: Conversation, turn: int) -> Found:
    if not isinstance(row, dict) or not row.get("id"):
        return Failed(place, "a message without an id")
    record: Mapping[str, Any] = row
    if text_of(record.get("type")) in NOTICES:
        return Skipped(place, "a notice of the channel")
    if when(record.get("timestamp")) is None:
        return Failed(place, "a message without a time in timestamp")
    text = "\n\n".join(said for one in _texts(record) if (said := text_of(one)))
    if not text:
        return Skipped(place, "no text")
    author = record_of(record.get("author"))
    files = [one.get("fileName") or one.get("url") for one in dicts(record.get("attachments"))]
    rest = without({"id": plain(record["id"]), "user": author.get("id"), "files": files})
    rest |= without({name: value for name, value in record.items() if value is not False}, *SAID)
    role = "tool" if author.get("isBot") is True else "user"
    external = f"{channel.id}\n{plain(record['id'])}"
    found = message(channel, turn, external, place, role, text, record["timestamp"], rest)
    name = text_of(author.get("nickname")) or text_of(author.get("name")) or "unknown"
    return replace(found, memory={**found.memory, "author": name})


def _texts(record: Mapping[str, Any]) -> Iterator[object]:
    """Yield what a message says: its text, what is embedded in it, its stickers and its poll."""
    yield record.get("content")
    for one in dicts(record.get("embeds")):
        yield from (one.get("title"), one.get("description"))
        yield from (f"{plain(field.get('name'))}: {plain(field.get('value'))}" for field in dicts(one.get("fields")))
    yield from (one.get("name") for one in dicts(record.get("stickers")))
    poll = record_of(record.get("poll"))
    yield from (record_of(one).get("text") for one in (poll.get("question"), *dicts(poll.get("answers"))))


def _rows(part: Part, user: str | None) -> Iterator[tuple[str, Any]]:
    """Yield the messages in a file. Those of a data package, which has its owner's alone, get the other form."""
    if not PACKAGE.fullmatch(part.name):
        yield from json_items(part, "messages.item")
        return
    for place, row in json_items(part, "item") if part.name.lower().endswith(".json") else _lines(part):
        said = record_of(row)
        files = [{"url": one} for one in plain(said.get("Attachments") or "").split()]
        yield place, {"id": said.get("ID"), "timestamp": said.get("Timestamp"), "content": said.get("Contents"),
                      "author": {"name": user or "me"}, "attachments": files}  # fmt: skip


def _lines(part: Part) -> Iterator[tuple[str, Any]]:
    with part.open() as file:
        lines = csv.DictReader(io.TextIOWrapper(file, "utf-8-sig", "replace", newline=""))
        try:
            yield from ((f"{part.name}:{lines.line_num}", row) for row in lines)
        except csv.Error as error:
            raise Unreadable(f"{part.name}:{lines.line_num}: is no CSV ({error})") from None


def _user(part: Part) -> str | None:
    header, _ = json_header(part, "")
    return text_of(header.get("global_name")) or text_of(header.get("username"))
