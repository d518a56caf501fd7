"""Results of mem0's `Memory`, made from memories and their versions."""

import hashlib
from collections.abc import Iterator, Sequence
from datetime import UTC, date, datetime, time, timedelta
from typing import Any

from muisti.integrations.mem0_filters import IDS

PROMOTED = (*IDS, "actor_id", "role", "expiration_date")


def item(memory: Any) -> dict[str, Any]:
    """Return a memory as mem0 shows it, without a score."""
    more = {name: value for name, value in memory.metadata.items() if name not in PROMOTED}
    shown = {
        "id": memory.id,
        "memory": memory.content,
        "hash": hashlib.md5(memory.content.encode()).hexdigest(),
        "metadata": more or None,
        "created_at": memory.created_at.isoformat(),
        "updated_at": memory.updated_at.isoformat(),
    }
    return shown | {name: memory.metadata[name] for name in PROMOTED if name in memory.metadata}


def events(memory_id: str, versions: Sequence[Any]) -> Iterator[dict[str, Any]]:
    """Yield the events of a memory, oldest first, from its versions, newest first."""
    before = None
    for version in reversed(versions):
        memory = version.memory
        at = memory.updated_at.isoformat()
        text = memory.content
        yield _event(memory_id, memory, "ADD" if before is None else "UPDATE", before, text, at)
        before = text
    if versions and versions[0].died_at is not None:
        yield _event(memory_id, versions[0].memory, "DELETE", before, None, versions[0].died_at)


def _event(memory_id: str, memory: Any, event: str, before: str | None, after: str | None, at: str) -> dict[str, Any]:
    return {
        "id": f"{memory_id}.{memory.version}{'.deleted' if after is None else ''}",
        "memory_id": memory_id,
        "old_memory": before,
        "new_memory": after,
        "event": event,
        "created_at": memory.created_at.isoformat(),
        "updated_at": None if event == "ADD" else at,
        "is_deleted": after is None,
        "actor_id": memory.metadata.get("actor_id"),
        "role": memory.metadata.get("role"),
    }


def day_of(value: str | date | None) -> str | None:
    """Return an expiration date as YYYY-MM-DD. Raises ValueError for what is no date."""
    if value is None:
        return None
    if isinstance(value, str):
        return date.fromisoformat(value).isoformat()
    return (value.date() if isinstance(value, datetime) else value).isoformat()


def end_of(day: str | None) -> datetime | None:
    """Return the end of a day in UTC: mem0 shows a memory on the day that it expires."""
    return None if day is None else datetime.combine(date.fromisoformat(day), time(), UTC) + timedelta(days=1)
