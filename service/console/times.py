"""History of a space as a person reads it: points on a line, and what changed between two. Pure functions."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import Any, NamedTuple

from muisti.service.console.diff import Piece, around, diff
from muisti.service.console.versions import Change, field_change

WORDS: Mapping[str, str] = {"added": "added", "changed": "changed", "ended": "deleted"}


class Mark(NamedTuple):
    """A checkpoint on the line: `place` is its distance from the beginning in percent."""

    name: str
    at: str
    second: int
    place: float


class Different(NamedTuple):
    """A memory that differs between two points. `pieces` are the words of its text; `changes` other fields."""

    id: str
    change: str
    pieces: Sequence[Piece]
    changes: Sequence[Change]
    author: str


def line(created_at: str, checkpoints: Iterable[Mapping[str, Any]], now: datetime) -> list[Mark]:
    """Return the checkpoints in order, with their places between the creation of the space and now."""
    begin = datetime.fromisoformat(created_at)
    whole = max((now - begin).total_seconds(), 1.0)
    found = [(datetime.fromisoformat(one["created_at"]), one) for one in checkpoints]
    return [
        Mark(
            one["name"],
            one["created_at"],
            second(at),
            round(min(max((at - begin).total_seconds() / whole, 0), 1) * 100, 2),
        )
        for at, one in sorted(found, key=lambda each: each[0])
    ]


def second(at: datetime) -> int:
    """Return the seconds since 1970, rounded up, so that what happened at `at` is part of it.

    >>> second(datetime.fromisoformat("1970-01-01T00:00:01.5+00:00"))
    2
    """
    return -int(-at.timestamp() // 1)


def told(items: Iterable[Mapping[str, Any]]) -> list[Different]:
    """Return the differences of two points with their words marked."""
    return [_different(one) for one in items]


def count(items: Iterable[Mapping[str, Any]]) -> list[tuple[str, int]]:
    """Return how many were added, changed and deleted.

    >>> count([{"change": "ended"}])
    [('added', 0), ('changed', 0), ('deleted', 1)]
    """
    found = Counter(one["change"] for one in items)
    return [(word, found[name]) for name, word in WORDS.items()]


def _different(one: Mapping[str, Any]) -> Different:
    before, after = one["before"] or {}, one["after"] or {}
    pieces = around(diff(before.get("content", ""), after.get("content", "")))
    others = [field_change(each) for each in one["changes"] if each["field"] != "content"] if before and after else []
    return Different(one["id"], WORDS[one["change"]], pieces, others, (after or before)["author"] or "")
