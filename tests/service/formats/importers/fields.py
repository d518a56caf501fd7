"""The fields of a file of another system with their values, whatever its form, and what of them is not kept."""

import json
import sqlite3
import tarfile
import zipfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, cast

from muisti.service.formats.importers.items import when

TEXTS = ("", ".md", ".txt", ".html", ".csv", ".metadata")  # whose fields are compared elsewhere
NOT_READ = (".png", ".jpg", ".canvas")  # no memories: the report of an import names them
VECTOR = "vectors are not moved: the text is embedded by the model that runs here"
CHECKED = "of the file, not of a memory: it is checked, or says what wrote it"
ID = "the id of the memory is made from it"
LINK = "places of records among each other, which ids, tags, sentences or the order of turns keep"
KIND = "decides what becomes of a record"
PROGRAM = "a setting of the other program, not a memory"
BROKEN = "of what cannot be read, the report names the place"
PAST = "of what was deleted or replaced there, the last text comes"
UNSAID = "thoughts, calls and results of tools are not what was said"
FILE = "the report counts the files, which are not read"
BYTES = "its bytes are written as characters: the text that they are comes"
ROW = "the record in the row tells the same, more exactly"

# By system: the fields of which no value is kept, with the reason. A field is its path, without places in lists.
LOST: Mapping[str, Mapping[str, str]] = {
    "zakira": {"memories.embedding": VECTOR},
    "vipune": {"embedding_dims": VECTOR, "model_id": VECTOR, "embedding": VECTOR, "memories.embedding": VECTOR},
    "json": {"title": BROKEN}, "mem0": {"history.old_memory": PAST, "history.event": KIND},
    "mcp-memory-service": {"timestamp": CHECKED, "memories.embedding": VECTOR, "memories.deleted_at": PAST},
    "letta": {
        "agents.id": ID, "agents.system": PROGRAM, "agents.messages": BROKEN, "agents.messages.content.type": KIND,
        "metadata.revision_id": CHECKED, "created_at": CHECKED, "agent_type": PROGRAM,
    },
    "claude": {
        "docs.uuid": ID, "full_name": "personal data of the account, not a memory", "chat_messages.sender": KIND,
        "chat_messages.content.type": KIND, "chat_messages.content.thinking": "thoughts are not what was said",
    },
    "chatgpt": {"mapping.*.message.recipient": KIND, "mapping.*.message.content.content_type": KIND},
    "zep": {"edges.fact_embedding": VECTOR},
    "cogx": {"cogx_version": CHECKED, "source_system": CHECKED},
    "memorg": {
        "exchanges.data": BROKEN, "sessions.created_at": ROW, "sessions.updated_at": ROW,
        "conversations.created_at": ROW, "conversations.updated_at": ROW, "topics.created_at": ROW,
        "topics.updated_at": ROW, "exchanges.created_at": ROW, "exchanges.updated_at": ROW,
        "conversations.data.embedding": VECTOR, "topics.data.embedding": VECTOR, "exchanges.data.embedding": VECTOR,
        "custom_memory.data.embedding": VECTOR, "exchanges.data.user_message.embedding": VECTOR,
        "exchanges.data.system_message.embedding": VECTOR,
    },
    "zapomni": {
        "nodes.id": LINK, "edges.id": LINK, "edges.source": LINK, "edges.target": LINK,
        "nodes.properties.embedding": VECTOR,
    },
    "claude-code": {"": BROKEN, "message.content.type": KIND, "message.content.thinking": UNSAID,
                    "message.content.content": UNSAID},
    "codex": {"": BROKEN, "type": KIND, "payload.type": KIND, "payload.content.type": KIND, "content.type": KIND,
              "name": UNSAID},
    "cursor": {
        "cursorDiskKV.key": ID, "cursorDiskKV.value": BROKEN, "ItemTable.key": KIND,
        "cursorDiskKV.value.toolFormerData.name": UNSAID,
    },
    "gemini-cli": {"": BROKEN, "kind": KIND, "$rewindTo": LINK, "messages.content": UNSAID},
    "mcp-memory": {"type": BROKEN},
    "slack": {"type": KIND, "subtype": KIND, "files.name": FILE},
    "telegram": {
        "about": CHECKED, "chats.about": CHECKED, "chats.list.type": KIND, "type": KIND, "messages.type": KIND,
        "chats.list.messages": BROKEN, "chats.list.messages.text.type": KIND,
        "chats.list.messages.action": "a notice is no message", "chats.list.messages.photo": FILE,
    },
    "discord": {
        "messages.attachments.fileName": FILE, "messages.attachments.url": FILE, "Attachments": FILE,
        "77": "what describes the channel says the same",
    },
    "messenger": {
        "title": BYTES, "messages.reactions.reaction": BYTES, "messages.type": KIND,
    },
    "librechat": {
        "messages.parentMessageId": LINK, "messages.conversationId": LINK, "messages.content.type": KIND,
        "messages.children.content.type": KIND, "messages.children.content.think": UNSAID,
        "messages.children.text": "of a branch that was left", "messages.children.children": BROKEN,
    },
    "google-keep": {"textContentHtml": "the text without marks comes", "annotations.source": KIND,
                    "attachments.mimetype": FILE},
    "simplenote": {"activeNotes.id": ID, "trashedNotes.id": PAST, "trashedNotes.content": PAST},
    "hazina": {"": BROKEN, "docs/sails.md": LINK, "torn": BROKEN, "Data": VECTOR, "Checksum": VECTOR},
}  # fmt: skip


def fields_of(path: Path) -> Iterator[tuple[str, object]]:
    """Each value that a file has, with the path of its field."""
    if path.is_dir():
        for file in sorted(one for one in path.rglob("*") if one.is_file()):
            yield from _fields_of_bytes(file.name, file.read_bytes())
    elif zipfile.is_zipfile(path):
        with zipfile.ZipFile(path) as archive:
            for name in archive.namelist():
                yield from _fields_of_bytes(name, archive.read(name))
    elif tarfile.is_tarfile(path):
        return  # of texts, which are compared elsewhere
    elif path.read_bytes().startswith(b"SQLite"):
        yield from _fields_of_database(path)
    else:
        yield from _fields_of_bytes(path.name, path.read_bytes())


def is_kept(value: object, kept: str) -> bool:
    """Return whether `kept`, the stored text in lower case, contains a value, as it is or as a time."""
    if value in (None, "", [], {}) or isinstance(value, bool):
        return True
    if isinstance(value, int | float):
        return str(value) in kept or _moment(value) in kept
    parts = [part.strip() for part in str(value).replace("\n\n", ",").split(",")]  # sections, or names with commas
    texts = (json.dumps(part, ensure_ascii=False)[1:-1].casefold() for part in parts)
    return _moment(value) in kept or all(text in kept for text in texts)


def _moment(value: object) -> str:
    """A time to the second as it is stored; what nothing contains when it is none."""
    moment = when(value)
    return "no time" if moment is None else moment[:19].casefold()


def _fields_of_database(path: Path) -> Iterator[tuple[str, object]]:
    with sqlite3.connect(path) as connection:
        connection.row_factory = sqlite3.Row
        tables = connection.execute("SELECT name FROM sqlite_master WHERE sql LIKE 'CREATE TABLE %'").fetchall()
        for (table,) in tables:
            if not str(table).startswith(("sqlite_", "memories_fts")):
                for row in connection.execute(f"SELECT * FROM {table}"):
                    yield from _leaves(dict(row), str(table))
    connection.close()


def _fields_of_bytes(name: str, data: bytes) -> Iterator[tuple[str, object]]:
    text = data.decode()
    if name.endswith((".json", ".af")):
        yield from _leaves(_parsed(text), "")
    elif name.endswith(".jsonl"):
        for line in text.splitlines():
            yield from _leaves(_parsed(line), "")
    elif Path(name.partition(" chunk ")[0]).suffix not in TEXTS + NOT_READ:
        raise ValueError(f"{name}: say how its fields are read, or name its suffix in TEXTS or NOT_READ")


def _parsed(text: str) -> object:
    try:
        found = json.loads(text)
    except ValueError:
        return text
    return _parsed(found) if isinstance(found, str) else found


def _leaves(value: object, path: str) -> Iterator[tuple[str, object]]:
    if isinstance(value, str) and value[:1] in ("{", "["):
        found = _parsed(value)
        if not isinstance(found, str):
            yield from _leaves(found, path)
            return
    if isinstance(value, dict):
        for name, inner in cast(Mapping[str, Any], value).items():
            yield from _leaves(inner, f"{path}.{'*' if path == 'mapping' else name}".lstrip("."))
    elif isinstance(value, list):
        for inner in cast(list[object], value):
            yield from _leaves(inner, path)
    elif isinstance(value, bytes):
        yield path, "a vector"
    else:
        yield path, value
