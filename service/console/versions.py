"""Versions of a memory as a person reads them: what each has changed, words marked. Pure functions."""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from muisti.service.console.diff import Piece, around, diff

TITLES: Mapping[str, str] = {
    "source_class": "kind of source",
    "event_at": "happened at",
    "valid_from": "valid from",
    "valid_to": "valid until",
    "expires_at": "expires at",
    "superseded_by": "superseded by",
    "parent_id": "parent",
    "derived_from": "derived from",
}


class Change(NamedTuple):
    """A field that a version has changed. Texts have `pieces`, others the value before and after."""

    name: str
    before: str
    after: str
    pieces: Sequence[Piece] = ()


class Version(NamedTuple):
    """A version with what it has changed; the first has changed nothing."""

    number: int
    born_at: str
    died_at: str | None
    content: str
    changes: Sequence[Change]
    status: str


class Told(NamedTuple):
    """The newest versions, and how many older ones there are."""

    items: Sequence[Version]
    older: int


def told(items: Sequence[Mapping[str, Any]], most: int) -> Told:
    """Return the newest `most` versions of a history, each against the one before it."""
    older = [*items[1:], None]
    pairs = list(zip(items, older, strict=True))[:most]
    return Told([_version(one, before) for one, before in pairs], max(0, len(items) - most))


def _version(one: Mapping[str, Any], before: Mapping[str, Any] | None) -> Version:
    memory = one["memory"]
    changes = [field_change(change) for change in one["changes"] if change["field"] != "content"]
    if before is not None and before["memory"]["content"] != memory["content"]:
        pieces = around(diff(before["memory"]["content"], memory["content"]))
        changes.insert(0, Change("content", "", "", pieces))
    return Version(memory["version"], one["born_at"], one["died_at"], memory["content"], changes, memory["status"])


def field_change(change: Mapping[str, Any]) -> Change:
    """Return a change of a field as a person reads it."""
    name = change["field"]
    return Change(TITLES.get(name, name), shown(change["before"]), shown(change["after"]))


def shown(value: Any) -> str:
    """Return a value of a field as text.

    >>> shown(["a", "b"]), shown(None), shown({"n": 1})
    ('a, b', 'nothing', 'n: 1')
    """
    if value in (None, "", [], {}):
        return "nothing"
    if isinstance(value, list):
        return ", ".join(str(one) for one in value)
    if isinstance(value, dict):
        return ", ".join(f"{name}: {one}" for name, one in value.items())
    return str(value)
