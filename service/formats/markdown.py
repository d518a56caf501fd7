"""Turns a memory into a note in Markdown, with its fields in the front matter, and back. See docs/how-to/export.md."""

import re
from collections.abc import Mapping
from typing import Any

from muisti.core.model.fields import FIELDS
from muisti.core.text.terms import composed
from muisti.service.formats.front_matter import Moment, write

ID = "muisti"  # the field that says that a note is ours
TIMES = ("event_at", "valid_from", "valid_to", "created_at", "updated_at", "expires_at")
# The fields of a note, in their order; `space`, `version`, `trust` and `tokens` are not carried.
CARRIED = (
    "category", "key", "type", "status", "importance", "author", "reason", "source", "source_class", "tags", *TIMES,
    "kind", "parent_id", "supersedes", "derived_from", "metadata", "session", "conversation", "topic",
    "turn", "document", "position", "structure",
)  # fmt: skip
USUAL = {field.name: field.usual for field in FIELDS if field.usual}
NAME_LENGTH = 60
_FORBIDDEN = re.compile(r'[\x00-\x1f\x7f\\/:*?"<>|#^\[\]%]+')


def note_of(memory: Mapping[str, Any]) -> str:
    """Return the note of an exported memory, without fields that are empty or have their default."""
    values = {name: memory[name] for name in CARRIED if memory.get(name) not in (None, [], {}, USUAL.get(name))}
    fields = {name: Moment(value) if name in TIMES else value for name, value in values.items()}
    return write({ID: memory["id"], **fields}, f"\n{memory['content']}\n")


def memory_of(fields: Mapping[str, Any], text: str) -> dict[str, Any]:
    """Return the API's fields of the memory in a note of ours."""
    end = "\r\n" if text.startswith("\r\n") else "\n"
    content = text.removeprefix(end).removesuffix(end)
    return {"content": content, **{name: fields[name] for name in CARRIED if fields.get(name) is not None}}


def path_of(memory: Mapping[str, Any]) -> tuple[str | None, str]:
    """Return the folder and the name, without suffix, of a memory's note. Every file system accepts both."""
    category = _name(str(memory.get("category") or ""))
    first = str(memory["content"]).strip().partition("\n")[0]
    return category or None, _name(str(memory.get("key") or "") or first) or "memory"


def _name(text: str) -> str:
    """Turn a text into a name of a file: short, not hidden, and reserved by no operating system."""
    plain = _FORBIDDEN.sub(" ", composed(text))
    name = " ".join(plain.split())[:NAME_LENGTH].strip(" .")
    return f"{name} -" if re.fullmatch(r"(?i)con|prn|aux|nul|com\d|lpt\d|templates", name) else name
