"""Filters as keyword arguments, and their translation into the filter of the API."""

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any, TypedDict

Time = str | datetime  # RFC 3339 or a date; a datetime without a zone is local time
Word = str | Sequence[str]  # a value, or several of which one must be equal


class Filters(TypedDict, total=False):
    """Conditions on memories; all must hold. A list of values means one of them.

    Other conditions, such as `or` and `not`, go into `filter`, as JSON of the API.
    """

    category: Word
    key: Word
    kind: Word
    type: Word
    status: Word
    importance: Word
    author: Word
    source: Word
    source_class: Word
    tags: Word
    tags_all: Sequence[str]
    entity: Word
    language: Word
    document: Word
    derived_from: Word
    parent_id: str
    metadata: Mapping[str, Any]
    after: Time
    before: Time
    updated_after: Time
    updated_before: Time
    event_after: Time
    event_before: Time
    valid_at: Time
    min_importance: str
    min_trust: int
    filter: Mapping[str, Any]


NAMES = frozenset(Filters.__annotations__)
COMPARED: Mapping[str, tuple[str, str]] = {
    "tags_all": ("tags", "all"),
    "after": ("created_at", "gte"),
    "before": ("created_at", "lt"),
    "updated_after": ("updated_at", "gte"),
    "updated_before": ("updated_at", "lt"),
    "event_after": ("event_at", "gte"),
    "event_before": ("event_at", "lt"),
    "min_importance": ("importance", "gte"),
    "min_trust": ("trust", "gte"),
}


def plain(value: Any) -> Any:
    """Return a value as JSON has it: times as RFC 3339, spans as seconds, sequences as lists."""
    if isinstance(value, datetime):
        return (value if value.tzinfo else value.astimezone()).isoformat()
    if isinstance(value, timedelta):
        return int(value.total_seconds())
    if isinstance(value, Mapping):
        return {name: plain(one) for name, one in value.items()}
    if isinstance(value, list | tuple | set | frozenset):
        return [plain(one) for one in value]
    return value


def split(options: Mapping[str, Any]) -> tuple[dict[str, Any], dict[str, Any] | None]:
    """Separate the filters among the keyword arguments from the rest; the filter is None without any.

    >>> split({"limit": 3, "tags": ["release"], "after": "2026-01-01"})
    ({'limit': 3}, {'and': [{'tags': ['release']}, {'created_at': {'gte': '2026-01-01'}}]})
    """
    rest = {name: plain(value) for name, value in options.items() if name not in NAMES}
    parts = [
        part
        for name, value in options.items()
        if name in NAMES and value is not None
        for part in _conditions(name, plain(value))
    ]
    if len(parts) < 2:
        return rest, parts[0] if parts else None
    return rest, {"and": parts}


def _conditions(name: str, value: Any) -> list[dict[str, Any]]:
    """Return the conditions of one keyword argument."""
    if name == "filter":
        return [value]
    if name == "metadata":
        return [{path: one} for path, one in _paths("metadata", value)]
    if name in COMPARED:
        field, operator = COMPARED[name]
        return [{field: {operator: value}}]
    return [{name: value}]


def _paths(path: str, value: Any) -> list[tuple[str, Any]]:
    """Flatten nested metadata into paths: `{"team": {"name": "core"}}` is `metadata.team.name`."""
    if not isinstance(value, Mapping):
        return [(path, value)]
    return [one for name, inner in value.items() for one in _paths(f"{path}.{name}", inner)]
