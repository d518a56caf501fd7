"""Turns a graph into memories: one for each statement about an entity, and one for each relation."""

from collections.abc import Mapping
from typing import Any


def entity(name: str, kind: str | None, says: str | None = None) -> Mapping[str, Any]:
    """Return the memory of a statement about an entity; without a statement, the memory that the entity exists."""
    return {
        "content": says or (f"{name} ({kind})" if kind else name),
        "category": "entities",
        "tags": [name, *([kind] if kind else [])],
        "metadata": {"entity": name, "entity_type": kind},
    }


def relation(start: str, how: str, end: str, says: str | None = None) -> Mapping[str, Any]:
    """Return the memory of a relation: the sentence of the other system, or one built from its parts."""
    return {
        "content": says or f"{start} {how.replace('_', ' ')} {end}",
        "category": "relations",
        "tags": [start, end],
        "metadata": {"relation": {"from": start, "to": end, "type": how}},
    }
