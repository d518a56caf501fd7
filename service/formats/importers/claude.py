"""Claude's data export: conversations, projects with their documents, and what it has remembered."""

import re
from collections.abc import Iterator, Mapping
from pathlib import PurePosixPath
from typing import Any

from muisti.service.formats.importers.dialogues import Conversation, message, with_object
from muisti.service.formats.importers.items import (
    Failed,
    Found,
    Item,
    Skipped,
    dicts,
    plain,
    text_of,
    times,
    when,
    without,
)
from muisti.service.formats.importers.shapes import Shape, json_items, json_shape
from muisti.service.formats.importers.source_files import Part, Source

FILES = re.compile(r"(conversations|memories|projects)(-\d+)?\.json")


def detect(shape: Shape) -> bool:
    return shape.has("chat_messages") or shape.has("conversations_memory")


def read(source: Source) -> Iterator[Found]:
    with source.parts() as parts:
        for part in parts:
            path = PurePosixPath(part.name)
            if len(parts) == 1 or FILES.fullmatch(path.name) or path.parent.name == "projects":
                yield from _list(part)
            else:
                yield Skipped(part.name, "no conversations, projects or memories")


def _list(part: Part) -> Iterator[Found]:
    opened, _ = json_shape(part)
    for place, row in json_items(part, "item" if opened == "[" else ""):
        if not isinstance(row, dict):
            yield Failed(place, "is no object")
        elif "chat_messages" in row:
            yield from _conversation(place, row)
        elif "conversations_memory" in row or "project_memories" in row:
            yield from _remembered(place, row)
        elif "prompt_template" in row or "docs" in row:
            yield from _project(place, row)
        else:
            yield Failed(place, "is neither a conversation, nor a project, nor what was remembered")


def _conversation(place: str, row: Mapping[str, Any]) -> Iterator[Found]:
    id_ = text_of(row.get("uuid"))
    if id_ is None or not isinstance(row["chat_messages"], list):
        yield Failed(place, "a conversation without uuid or messages")
        return
    moments, unread = times(row, created_at="created_at", updated_at="updated_at")
    conversation = Conversation(
        id=id_,
        session="claude",
        title=text_of(row.get("name")),
        summary=text_of(row.get("summary")),
        metadata=without({"project": row.get("project_uuid")}),
        times=moments,
        rest=unread,
    )
    yield from with_object(conversation, _messages(place, row["chat_messages"], conversation))


def _messages(place: str, rows: list[Any], conversation: Conversation) -> Iterator[Found]:
    chosen = _branch(rows)
    turn = 0
    for number, row in enumerate(rows):
        where = f"{place}.chat_messages[{number}]"
        if not isinstance(row, dict) or not isinstance(row.get("uuid"), str):
            yield Failed(where, "a message without uuid")
            continue
        on_branch = row["uuid"] in chosen
        turn += on_branch
        yield _message(where, row, conversation, turn, on_branch=on_branch)


def _message(place: str, row: Mapping[str, Any], conversation: Conversation, turn: int, *, on_branch: bool) -> Found:
    text = _text(row)
    if not text:
        return Skipped(place, "no text")
    if not on_branch:
        return Skipped(place, "of a branch that was left")
    sender = text_of(row.get("sender")) or "unknown"
    role = {"human": "user"}.get(sender, sender)
    names = [file.get("file_name") for file in dicts(row.get("attachments")) + dicts(row.get("files"))]
    return message(conversation, turn, row["uuid"], place, role, text, row.get("created_at"),
                   without({"uuid": row["uuid"], "files": [name for name in names if name]}))  # fmt: skip


def _text(row: Mapping[str, Any]) -> str:
    """Return the text of a message and of its attachments, without thoughts and calls of tools."""
    blocks = (one.get("text") for one in dicts(row.get("content")) if one.get("type") == "text")
    said = [text for text in blocks if isinstance(text, str) and text.strip()]
    if not said and text_of(row.get("text")):
        said = [row["text"]]
    attached = (one.get("extracted_content") for one in dicts(row.get("attachments")))
    return "\n\n".join([*said, *(text for text in attached if isinstance(text, str) and text.strip())]).strip()


def _branch(rows: list[Any]) -> set[str]:
    """Return the ids of the messages in the branch that ends last; all of them where there are no branches."""
    known = {row["uuid"]: row for row in dicts(rows) if isinstance(row.get("uuid"), str)}
    parents = {uuid: text_of(row.get("parent_message_uuid")) for uuid, row in known.items()}
    if not any(parent in known for parent in parents.values()):
        return set(known)
    leaves = known.keys() - set(parents.values())
    leaf = max(leaves or known, key=lambda uuid: (str(known[uuid].get("created_at")), uuid))
    branch: set[str] = set()
    while leaf in known and leaf not in branch:
        branch.add(leaf)
        leaf = parents[leaf] or ""
    return branch


def _project(place: str, row: Mapping[str, Any]) -> Iterator[Found]:
    name = text_of(row.get("name")) or text_of(row.get("uuid"))
    if name is None or text_of(row.get("uuid")) is None:
        yield Failed(place, "a project without a name or uuid")
        return
    told = {"category": "projects", "tags": [name], "metadata": {"project": row["uuid"]}}
    times = {"created_at": when(row.get("created_at")), "updated_at": when(row.get("updated_at"))}
    for part in ("description", "prompt_template"):
        if (text := text_of(row.get(part))) is not None:
            memory = {
                "content": text,
                **told,
                **times,
                "source_class": "user",
                "reason": f"{part} of the project {name}",
            }
            yield Item(external=f"{row['uuid']}\n{part}", place=f"{place}.{part}", memory=memory)
    for number, document in enumerate(dicts(row.get("docs"))):
        where = f"{place}.docs[{number}]"
        text, uuid = text_of(document.get("content")), text_of(document.get("uuid"))
        if text is None or uuid is None:
            yield Failed(where, "a document without uuid or content")
        else:
            memory = {"content": text, **told, "source": document.get("filename")}
            yield Item(external=uuid, place=where, memory={**memory, "created_at": when(document.get("created_at"))})


def _remembered(place: str, row: Mapping[str, Any]) -> Iterator[Found]:
    """Yield Claude's memory of all conversations and of each project: one memory for each section of its text."""
    yield from _sections(f"{place}.conversations_memory", row.get("conversations_memory"), "conversations", {})
    projects = row.get("project_memories")
    listed = projects.items() if isinstance(projects, dict) else (
        (one.get("project_uuid"), one.get("memory")) for one in dicts(projects)
    )  # fmt: skip
    for project, text in listed:
        yield from _sections(
            f"{place}.project_memories", text, f"project {plain(project)}", {"project": plain(project)}
        )


def _sections(place: str, text: object, of: str, metadata: Mapping[str, Any]) -> Iterator[Found]:
    if text is None:
        return
    if not isinstance(text, str):
        yield Failed(place, "is no text")
        return
    for number, section in enumerate(re.split(r"^(?=#{1,6} |\*\*[^*\n]+\*\*\s*$)", text, flags=re.MULTILINE)):
        if section.strip():
            memory = {
                "content": section.strip(),
                "category": "claude-memory",
                "source_class": "model",
                "metadata": metadata,
            }
            yield Item(external=f"{of}\n{section.strip()}", place=f"{place} section {number}", memory=memory)
