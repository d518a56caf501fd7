"""The versions of a memory as an answer: what each changed, in few words."""

from typing import Any

import msgspec

from core.values import FieldChange, History, Version
from service.mcp.recall import NOTICE

Json = dict[str, Any]

SHOWN = 300  # characters of a value


def told(history: History, limit: int) -> tuple[Json, str]:
    """The newest versions, structured and as text; in text each line of what somebody stored is marked."""
    versions = [_version(version) for version in history.versions[:limit]]
    left_out = len(history.versions) - len(versions)
    structured = {"versions": versions, "chain": list(history.chain), "left_out": left_out, "notice": NOTICE}
    parts = [f"{len(history.versions)} versions, newest first. {NOTICE}", *map(_text, versions)]
    if len(history.chain) > 1:
        parts.append(f"One superseded the other: {', '.join(history.chain)}")
    return structured, "\n\n".join(parts)


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
    """The value, or the beginning of its text."""
    text = value if isinstance(value, str) else msgspec.json.encode(value).decode()
    return value if len(text) <= SHOWN else f"{text[: SHOWN - 1]}…"


def _text(version: Json) -> str:
    changes = [f"> {msgspec.json.encode(change).decode()}" for change in version["changes"]]
    content = msgspec.json.encode(version["content"]).decode()
    return "\n".join([f"version {version['version']}, {version['since']}", *(changes or [f"> {content}"])])
