"""What a graph of entities and relations becomes: a memory for each thing that is said."""

from collections.abc import Mapping
from typing import Any


def entity(name: str, kind: str | None, says: str | None = None) -> Mapping[str, Any]:
    """What is said of an entity, or that there is such a one."""
    return {
        "content": says or (f"{name} ({kind})" if kind else name),
        "category": "entities",
        "tags": [name, *([kind] if kind else [])],
        "metadata": {"entity": name, "entity_type": kind},
    }


def relation(start: str, how: str, end: str, says: str | None = None) -> Mapping[str, Any]:
    """A relation as a sentence: that of the other system, where it has one."""
    return {
        "content": says or f"{start} {how.replace('_', ' ')} {end}",
        "category": "relations",
        "tags": [start, end],
        "metadata": {"relation": {"from": start, "to": end, "type": how}},
    }
