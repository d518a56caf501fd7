"""Difference of two texts, word by word, and versions of a memory with what each has changed. Pure functions."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import count
from typing import Any, Literal, NamedTuple

Sign = Literal["same", "ins", "del"]

# Steps of a comparison: a number for any texts, and so many for a word. Texts that need more are one change.
STEPS, STEPS_A_WORD = 20_000, 2
SHOWN = 120  # characters that `around` keeps on each side of a change

_WORD = re.compile(r"\w+|\s+|[^\w\s]")


class Piece(NamedTuple):
    """A stretch of text that both texts have, that the new one adds, or that it takes away."""

    change: Sign
    text: str


def diff(old: str, new: str) -> list[Piece]:
    """Return the pieces of both texts in order. Without `ins` they are the old text, without `del` the new.

    >>> [tuple(one) for one in diff("We meet on Monday.", "We meet on Tuesday.")]
    [('same', 'We meet on '), ('del', 'Monday'), ('ins', 'Tuesday'), ('same', '.')]
    """
    return list(_joined(_pieces(_WORD.findall(old), _WORD.findall(new))))


def around(pieces: Sequence[Piece], length: int = SHOWN) -> list[Piece]:
    """Return the pieces with long stretches that did not change cut to their ends, and an ellipsis between.

    >>> around([Piece("same", "a" * 9), Piece("ins", "b")], 3)
    [Piece(change='same', text='… aaa'), Piece(change='ins', text='b')]
    """
    last = len(pieces) - 1
    return [
        one if one.change != "same" else Piece("same", _cut(one.text, length, first=at == 0, last=at == last))
        for at, one in enumerate(pieces)
    ]


def _pieces(old: Sequence[str], new: Sequence[str]) -> Iterator[Piece]:
    start = _common(old, new)
    stop = _common(old[start:][::-1], new[start:][::-1])
    before, after = old[start : len(old) - stop], new[start : len(new) - stop]
    yield Piece("same", "".join(old[:start]))
    yield from _edits(before, after)
    yield Piece("same", "".join(old[len(old) - stop :]))


def _edits(old: Sequence[str], new: Sequence[str]) -> Iterator[Piece]:
    """Yield the fewest changes (Myers 1986), unless that takes too many steps."""
    reached, trace = _reached(old, new)
    if not reached:
        yield from (Piece("del", "".join(old)), Piece("ins", "".join(new)))
        return
    found: list[Piece] = []
    x, y = len(old), len(new)
    for depth in range(len(trace) - 1, -1, -1):
        furthest, way = trace[depth], x - y
        down = way == -depth or (way != depth and furthest[way - 1] < furthest[way + 1])
        before = way + 1 if down else way - 1
        from_x = furthest[before] if depth else 0
        from_y = from_x - before if depth else 0
        start = from_x if down or not depth else from_x + 1
        if x > start:
            found.append(Piece("same", "".join(old[start:x])))
        if depth:
            found.append(Piece("ins", new[from_y]) if down else Piece("del", old[from_x]))
        x, y = from_x, from_y
    yield from reversed(found)


def _reached(old: Sequence[str], new: Sequence[str]) -> tuple[bool, list[dict[int, int]]]:
    """Return whether few edits make one text of the other, and how far each diagonal came before each edit."""
    furthest, trace = {1: 0}, list[dict[int, int]]()
    left = STEPS + STEPS_A_WORD * (len(old) + len(new))
    for depth in count():
        trace.append({way: furthest[way] for way in range(-depth - 1, depth + 2, 2) if way in furthest})
        for way in range(-depth, depth + 1, 2):
            down = way == -depth or (way != depth and furthest[way - 1] < furthest[way + 1])
            x = furthest[way + 1] if down else furthest[way - 1] + 1
            start, y = x, x - way
            while x < len(old) and y < len(new) and old[x] == new[y]:
                x, y = x + 1, y + 1
            furthest[way] = x
            if x >= len(old) and y >= len(new):
                return True, trace
            left -= x - start + 1
            if left < 0:
                break
        if left < 0:
            break
    return False, []


def _common(first: Sequence[str], second: Sequence[str]) -> int:
    """Return how many words both begin with."""
    for at, (one, other) in enumerate(zip(first, second, strict=False)):
        if one != other:
            return at
    return min(len(first), len(second))


def _joined(pieces: Iterable[Piece]) -> Iterator[Piece]:
    """Yield the pieces without empty ones; changes with only white space between them are one change."""
    found = [one for one in pieces if one.text]
    same, gone, came = "", "", ""
    for at, one in enumerate(found):
        if one.change == "del":
            gone += one.text
        elif one.change == "ins":
            came += one.text
        elif (gone or came) and one.text.isspace() and at + 1 < len(found):
            gone, came = gone + one.text, came + one.text
            continue
        else:
            yield from _change(gone, came)
            gone, came, same = "", "", same + one.text
            continue
        if same:
            yield Piece("same", same)
            same = ""
    yield from _change(gone, came)
    if same:
        yield Piece("same", same)


def _change(gone: str, came: str) -> Iterator[Piece]:
    if gone:
        yield Piece("del", gone)
    if came:
        yield Piece("ins", came)


def _cut(text: str, length: int, *, first: bool, last: bool) -> str:
    if first and last:
        return text
    if first:
        return text if len(text) <= length else "… " + text[-length:]
    if last:
        return text if len(text) <= length else text[:length] + " …"
    return text if len(text) <= 2 * length else f"{text[:length]} … {text[-length:]}"


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


def told(items: Sequence[Mapping[str, Any]], most: int) -> dict[str, Any]:
    """Return the newest `most` versions of a history, each against the one before it."""
    older = [*items[1:], None]
    pairs = list(zip(items, older, strict=True))[:most]
    return {"newest": [_version(one, before) for one, before in pairs], "older": max(0, len(items) - most)}


def _version(one: Mapping[str, Any], before: Mapping[str, Any] | None) -> dict[str, Any]:
    memory = one["memory"]
    changes = [field_change(change) for change in one["changes"] if change["field"] != "content"]
    if before is not None and before["memory"]["content"] != memory["content"]:
        pieces = around(diff(before["memory"]["content"], memory["content"]))
        changes.insert(0, Change("content", "", "", pieces))
    return {**one, "changes": changes}


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
