"""Renders the versions of a memory as an answer of a tool, with the changes of each."""

from typing import Any

import msgspec

from muisti.core.model.values import FieldChange, History, Version
from muisti.service.mcp.fence import CONTENT, one_line
from muisti.service.mcp.rendering import NOTICE, counted, more

Json = dict[str, Any]

SHOWN = 300  # characters of a value


def told(history: History) -> tuple[Json, str]:
    """Return a page of versions, structured and as text with a mark at each line that somebody else wrote."""
    versions = [_version(version) for version in history.versions]
    memory_id = history.chain[-1] if not history.versions else history.versions[0].memory.id
    cursor = None if history.earlier is None else str(history.earlier)
    structured: Json = {"id": memory_id, "versions": versions, "chain": list(history.chain), "next_cursor": cursor}
    number = counted(len(versions), "version", "versions")
    parts = [f"[{memory_id}] {number}, newest first. {NOTICE}", *map(_text, versions)]
    parts += more(0, 0, cursor)
    if len(history.chain) > 1:
        parts.append(f"One superseded the other: {', '.join(history.chain)}")
    return {**structured, "notice": NOTICE}, "\n\n".join(parts)


def _version(version: Version) -> Json:
    until = None if version.died_at is None else version.died_at.isoformat(timespec="seconds")
    return {
        "version": version.memory.version,
        "since": version.born_at.isoformat(timespec="seconds"),
        "until": until,
        "content": _short(version.memory.content),
        "changes": [_change(change) for change in version.changes],
    }


def _change(change: FieldChange) -> Json:
    return {"field": change.field, "before": _short(change.before), "after": _short(change.after)}


def _short(value: object) -> object:
    """Return the value, or the beginning of its text when that is long."""
    text = value if isinstance(value, str) else msgspec.json.encode(value).decode()
    return value if len(text) <= SHOWN else f"{text[: SHOWN - 1]}…"


def _text(version: Json) -> str:
    told = version["changes"] or [version["content"]]
    lines = (f"{CONTENT}{one_line(msgspec.json.encode(one).decode())}" for one in told)
    return "\n".join([f"version {version['version']}, {version['since']}", *lines])
