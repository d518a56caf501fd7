"""Cursor: the conversations in a `state.vscdb`, that of the user or an older one of a workspace.

The user's database has an entry for each conversation and for each message. Which folder a conversation belongs to is
said by its entry, by the list of conversations, or by the databases of the workspaces beside it.
"""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

import msgspec

from muisti.service.formats.importers.dialogues import Conversation, Talk, message, with_object
from muisti.service.formats.importers.items import (
    Failed,
    Found,
    Item,
    Json,
    Skipped,
    Unreadable,
    text_of,
    when,
    without,
)
from muisti.service.formats.importers.shapes import Shape, json_object
from muisti.service.formats.importers.source_files import Source, Tables, tables

SYSTEM = "cursor"
ROLES = {1: "user", 2: "assistant", "user": "user", "ai": "assistant"}
ITEMS, ENTRIES = "ItemTable", "cursorDiskKV"
LISTS = ("composer.composerHeaders", "composer.composerData")
CHATS = "workbench.panel.aichat.view.aichat.chatdata"
RULES = "aicontext.personalContext"

Folders = Mapping[str, str]  # of conversations, by id


def detect(shape: Shape) -> bool:
    return {"key", "value"} <= set(shape.tables.get(ITEMS, ()))


def read(source: Source) -> Iterator[Found]:
    for conversation, found in talks(source):
        yield from with_object(conversation, found)


def talks(source: Source) -> Iterator[Talk]:
    """Yield the conversations of a database, with their turns; each is to be read before the next."""
    with tables(source) as opened:
        folders = _known(opened, _folder_of(source.path.parent)) | _beside(source.path)
        for key, value in opened.entries(ENTRIES, "composerData:"):
            place = f"{source.name} {key}"
            yield _composer(opened, place, json_object(value, place), folders)
        chats = _item(opened, CHATS)
        for number, tab in enumerate(chats.get("tabs") or ()):
            yield _tab(f"{source.name} chat {number}", tab, _folder_of(source.path.parent))


def rules(source: Source) -> str:
    """Return the rules that the user has written for all projects; empty when there are none."""
    with tables(source) as opened:
        found = opened.entry(ITEMS, RULES)
    return "" if found is None else _decoded(found)


def _decoded(value: object) -> str:
    text = value.decode("utf-8", "replace") if isinstance(value, bytes) else str(value)
    try:
        return str(msgspec.json.decode(text)) if text.startswith('"') else text
    except (msgspec.DecodeError, RecursionError):
        return text


def _composer(opened: Tables, place: str, row: Json | Failed, folders: Folders) -> Talk:
    if isinstance(row, Failed):
        return Conversation(id=place, session=SYSTEM), iter((row,))
    id_ = text_of(row.get("composerId")) or place.rpartition(":")[2]
    conversation = Conversation(
        id=id_,
        session=SYSTEM,
        title=text_of(row.get("name")),
        metadata=without({"folder": _named(row) or folders.get(id_)}),
        times=without({"updated_at": when(row.get("lastUpdatedAt") or row.get("createdAt"))}),
    )
    return conversation, _turns(_bubbles(opened, place, id_, row), conversation, row)


def _bubbles(opened: Tables, place: str, id_: str, row: Json) -> Iterator[tuple[str, Json | Failed]]:
    """Yield the messages of a conversation: in it, or in entries of their own, in the order that it lists."""
    inside, listed = row.get("conversation"), row.get("fullConversationHeadersOnly")
    if isinstance(inside, list) and inside:
        for number, one in enumerate(inside):
            yield f"{place} [{number}]", json_object(one, f"{place} [{number}]")
        return
    for one in listed if isinstance(listed, list) else ():
        bubble: Json = one if isinstance(one, dict) else {}
        key = f"bubbleId:{id_}:{bubble.get('bubbleId')}"
        value = opened.entry(ENTRIES, key)
        if value is not None:
            yield f"{place} {bubble.get('bubbleId')}", json_object(value, f"{place} {bubble.get('bubbleId')}")


def _turns(
    rows: Iterator[tuple[str, Json | Failed]], conversation: Conversation, row: Mapping[str, Any]
) -> Iterator[Found]:
    turn, otherwise = 0, row.get("createdAt")
    is_child = bool(row.get("subagentInfo"))
    for place, one in rows:
        if isinstance(one, Failed):
            yield one
        elif is_child:
            yield Skipped(place, "of a subagent")
        else:
            found = _turn(place, one, conversation, turn + 1, otherwise)
            turn += isinstance(found, Item)
            yield found


def _turn(place: str, row: Json, conversation: Conversation, turn: int, otherwise: object) -> Found:
    role = ROLES.get(row["type"]) if isinstance(row.get("type"), int | str) else None
    if role is None:
        return Skipped(place, "not said by user or assistant")
    text = text_of(row.get("text")) or text_of(row.get("rawText")) or ""
    if not text.strip() or row.get("isThought") is True:
        return Skipped(place, "no text")
    own = text_of(row.get("bubbleId")) or text_of(row.get("id"))
    external = f"{conversation.id}\n{own or turn}"
    at = row.get("createdAt") or otherwise
    return message(conversation, turn, external, place, role, text.strip(), at, without({"id": own}))


def _tab(place: str, tab: object, folder: str | None) -> Talk:
    row: Json = tab if isinstance(tab, dict) else {}
    conversation = Conversation(
        id=text_of(row.get("tabId")) or place,
        session=SYSTEM,
        title=text_of(row.get("chatTitle")),
        metadata=without({"folder": folder}),
    )
    listed: list[Any] = row["bubbles"] if isinstance(row.get("bubbles"), list) else []
    bubbles = ((f"{place} [{number}]", json_object(one, f"{place} [{number}]")) for number, one in enumerate(listed))
    return conversation, _turns(bubbles, conversation, {"createdAt": row.get("lastSendTime")})


def _item(opened: Tables, key: str) -> Json:
    value = opened.entry(ITEMS, key)
    found = {} if value is None else json_object(value, key)
    return {} if isinstance(found, Failed) else found


def _known(opened: Tables, workspace: str | None) -> dict[str, str]:
    """Return the folders that the lists of conversations in a database name, or else that of its workspace."""
    found = dict[str, str]()
    for name in LISTS:
        listed = _item(opened, name).get("allComposers")
        for one in listed if isinstance(listed, list) else ():
            row: Json = one if isinstance(one, dict) else {}
            folder, id_ = _named(row) or workspace, text_of(row.get("composerId"))
            if folder and id_:
                found[id_] = folder
    return found


def _beside(path: Path) -> dict[str, str]:
    """Return the folders of the conversations that the workspaces beside the user's database list."""
    found = dict[str, str]()
    for one in sorted((path.parent.parent / "workspaceStorage").glob("*/state.vscdb")):
        folder = _folder_of(one.parent)
        try:
            with tables(Source(one)) as opened:
                found |= {} if folder is None else _known(opened, folder)
        except (Unreadable, OSError):  # a damaged workspace names no folders; its conversations stay without
            continue
    return found


def _named(row: Json) -> str | None:
    """Return the folder that a conversation names as its workspace."""
    workspace = row.get("workspaceIdentifier")
    uri = workspace.get("uri") if isinstance(workspace, dict) else None
    return text_of(uri.get("fsPath")) if isinstance(uri, dict) else None


def _folder_of(workspace: Path) -> str | None:
    """Return the folder of a workspace's storage."""
    try:
        found = json_object((workspace / "workspace.json").read_bytes(), workspace.name)
    except OSError:
        return None
    uri = None if isinstance(found, Failed) else text_of(found.get("folder"))
    return None if uri is None or not uri.startswith("file://") else unquote(urlsplit(uri).path)
