"""Compare two versions of a memory field by field."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import zip_longest
from typing import cast

from msgspec.structs import replace

from muisti.core.model.fields import FIELDS, Diff, MemoryField
from muisti.core.model.values import FieldChange, Json, Memory, Version


def diffed(fields: Iterable[MemoryField]) -> tuple[tuple[str, Diff], ...]:
    """Return the fields that a diff shows, and how it shows each."""
    return tuple((field.name, field.diff) for field in fields if field.diff is not None)


_DIFFED = diffed(FIELDS)


def differences(before: Memory, after: Memory, fields: Iterable[tuple[str, Diff]] = _DIFFED) -> tuple[FieldChange, ...]:
    """Return the fields that differ. For content, only the words that differ; for metadata, each path."""
    return tuple(_differences(before, after, fields))


def compared(versions: Sequence[Version]) -> tuple[Version, ...]:
    """Return the versions of a memory, newest first, each with its changes from the version before."""
    return tuple(
        newer if older is None else replace(newer, changes=differences(older.memory, newer.memory))
        for newer, older in zip_longest(versions, versions[1:])
    )


def stretch(before: str, after: str) -> tuple[str, str]:
    """Return two texts without their common words at the beginning and at the end.

    >>> stretch("We deploy on Fridays at noon", "We deploy on Mondays at noon")
    ('Fridays', 'Mondays')
    >>> stretch("tea", "tea and milk")
    ('', ' and milk')
    """
    start = _common(before, after)
    while start and not (_parts(before, start) and _parts(after, start)):
        start -= 1
    before, after = before[start:], after[start:]
    end = _common(before[::-1], after[::-1])
    while end and not (_parts(before, len(before) - end) and _parts(after, len(after) - end)):
        end -= 1
    return before[: len(before) - end], after[: len(after) - end]


def _common(one: str, other: str) -> int:
    """Return with how many equal characters two texts begin. The time is that of a few copies of the texts."""
    low, high = 0, min(len(one), len(other))
    while low < high:
        middle = (low + high + 1) // 2
        if one[low:middle] == other[low:middle]:
            low = middle
        else:
            high = middle - 1
    return low


def _parts(text: str, at: int) -> bool:
    """Return whether a word or a space between words begins or ends at a place."""
    return at in (0, len(text)) or text[at - 1].isspace() != text[at].isspace()


def _differences(before: Memory, after: Memory, fields: Iterable[tuple[str, Diff]]) -> Iterator[FieldChange]:
    for name, how in fields:
        old, new = getattr(before, name), getattr(after, name)
        if how == "paths":
            yield from _by_path(old, new, name)
        elif old != new:
            yield FieldChange(name, *(stretch(old, new) if how == "words" else (old, new)))


def _by_path(before: Mapping[str, Json], after: Mapping[str, Json], name: str) -> Iterator[FieldChange]:
    old, new = dict(_leaves(before, name)), dict(_leaves(after, name))
    for path in dict.fromkeys([*old, *new]):
        if path not in old or path not in new or not _same(old[path], new[path]):
            yield FieldChange(path, old.get(path), new.get(path))


def _leaves(metadata: Mapping[str, Json], path: str) -> Iterator[tuple[str, Json]]:
    """Yield each value that is not an object with its path. Empty objects are yielded too."""
    for name, value in metadata.items():
        if isinstance(value, dict) and value:
            yield from _leaves(value, f"{path}.{name}")
        else:
            yield f"{path}.{name}", value


def _same(one: Json, other: Json) -> bool:
    """Return whether two values have the same JSON type and value: 1, 1.0 and true all differ."""
    if isinstance(one, list) and isinstance(other, list):
        return len(one) == len(other) and all(map(_same, one, other))
    if isinstance(one, dict) and isinstance(other, dict):
        return one.keys() == other.keys() and all(_same(one[name], other[name]) for name in one)
    return type(one) is type(other) and one == cast(object, other)
