"""What sets two versions of a memory apart, field by field."""

import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import zip_longest
from typing import cast

from msgspec.structs import replace

from core.values import FieldChange, Json, Memory, Version

FIELDS = (
    "category", "key", "kind", "type", "status", "importance", "author", "reason", "source", "tags", "event_at",
    "valid_from", "valid_to", "expires_at", "parent_id", "supersedes", "superseded_by", "source_class", "derived_from",
    "trust",
)  # fmt: skip

_WORDS = re.compile(r"\s+|\S+")


def differences(before: Memory, after: Memory) -> tuple[FieldChange, ...]:
    """The fields that differ; of content the stretch of words that does, of metadata each path."""
    return tuple(_differences(before, after))


def compared(versions: Sequence[Version]) -> tuple[Version, ...]:
    """The versions of a memory, newest first, each with its changes from the one before."""
    return tuple(
        newer if older is None else replace(newer, changes=differences(older.memory, newer.memory))
        for newer, older in zip_longest(versions, versions[1:])
    )


def stretch(before: str, after: str) -> tuple[str, str]:
    """Two texts without the words that both begin with, and those that both end with.

    >>> stretch("We deploy on Fridays at noon", "We deploy on Mondays at noon")
    ('Fridays', 'Mondays')
    >>> stretch("tea", "tea and milk")
    ('', ' and milk')
    """
    old, new = _WORDS.findall(before), _WORDS.findall(after)
    most = min(len(old), len(new))
    start = next((place for place in range(most) if old[place] != new[place]), most)
    most -= start
    end = next((place for place in range(most) if old[-1 - place] != new[-1 - place]), most)
    return "".join(old[start : len(old) - end]), "".join(new[start : len(new) - end])


def _differences(before: Memory, after: Memory) -> Iterator[FieldChange]:
    if before.content != after.content:
        yield FieldChange("content", *stretch(before.content, after.content))
    for name in FIELDS:
        old, new = getattr(before, name), getattr(after, name)
        if old != new:
            yield FieldChange(name, old, new)
    old, new = dict(_leaves(before.metadata, "metadata")), dict(_leaves(after.metadata, "metadata"))
    for path in dict.fromkeys([*old, *new]):
        if path not in old or path not in new or not _same(old[path], new[path]):
            yield FieldChange(path, old.get(path), new.get(path))


def _leaves(metadata: Mapping[str, Json], path: str) -> Iterator[tuple[str, Json]]:
    """What is no object, and objects that are empty, by path."""
    for name, value in metadata.items():
        if isinstance(value, dict) and value:
            yield from _leaves(value, f"{path}.{name}")
        else:
            yield f"{path}.{name}", value


def _same(one: Json, other: Json) -> bool:
    """Whether two values are written alike: 1, 1.0 and true are not."""
    if isinstance(one, list) and isinstance(other, list):
        return len(one) == len(other) and all(map(_same, one, other))
    if isinstance(one, dict) and isinstance(other, dict):
        return one.keys() == other.keys() and all(_same(one[name], other[name]) for name in one)
    return type(one) is type(other) and one == cast(object, other)
