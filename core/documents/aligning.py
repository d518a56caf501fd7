"""Align the chunks of a document that are there with those that it should have, by content and in order.

Chunks are given by keys: two with the same key have the same text. Cuts follow from the text, so that most keys occur
once on each side. Those are matched first, where they are in order. Neighbours of matched chunks follow.
"""

from bisect import bisect_left
from collections import Counter
from collections.abc import Sequence

STEP = 1 << 30  # between the positions of new chunks
POSITION_MAX = 2**53 - 1

Key = bytes


def aligned(old: Sequence[Key], new: Sequence[Key]) -> list[int | None]:
    """Return for each new key the place of the old one that it stays, ascending; None for those that are new.

    >>> aligned([b"a", b"b", b"c"], [b"a", b"x", b"c"])
    [0, None, 2]
    """
    head = _common(old, new)
    tail = _common(old[head:][::-1], new[head:][::-1])
    matched: list[int | None] = [*range(head), *[None] * (len(new) - head)]
    for back in range(1, tail + 1):
        matched[-back] = len(old) - back
    anchors = _anchors(old[head : len(old) - tail], new[head : len(new) - tail])
    for mine, theirs in anchors:
        matched[head + mine] = head + theirs
    _spread(old, new, matched)
    return matched


def placed(positions: Sequence[int | None]) -> list[int] | None:
    """Return positions with a number in place of each None, between its neighbours; None when a gap is too narrow.

    >>> placed([0, None, 8]), placed([4, None, 5]), placed([None, None])
    ([0, 4, 8], None, [1073741824, 2147483648])
    """
    found = list(positions)
    start = 0
    while start < len(found):
        if found[start] is not None:
            start += 1
            continue
        stop = start
        while stop < len(found) and found[stop] is None:
            stop += 1
        low = found[start - 1] if start else None
        numbers = _between(low, found[stop] if stop < len(found) else None, stop - start)
        if numbers is None:
            return None
        found[start:stop] = numbers
        start = stop
    return [one for one in found if one is not None]


def fresh(count: int) -> list[int]:
    """Return positions for a document of so many chunks."""
    step = min(STEP, POSITION_MAX // (count + 1))
    return [step * number for number in range(1, count + 1)]


def _between(low: int | None, high: int | None, count: int) -> list[int] | None:
    if low is None and high is None:
        return fresh(count)
    if high is None:
        first = (low or 0) + STEP
        return [first + STEP * number for number in range(count)] if first + STEP * count <= POSITION_MAX else None
    bottom = -1 if low is None else low
    if high - bottom - 1 < count:
        return None
    return [bottom + (high - bottom) * number // (count + 1) for number in range(1, count + 1)]


def _common(old: Sequence[Key], new: Sequence[Key]) -> int:
    """Return how many keys at the start are equal."""
    return next(
        (n for n, (one, other) in enumerate(zip(old, new, strict=False)) if one != other), min(len(old), len(new))
    )


def _anchors(old: Sequence[Key], new: Sequence[Key]) -> list[tuple[int, int]]:
    """Return pairs (new, old) of keys that occur once on each side, the most that are in order."""
    once = {key for key, count in Counter(old).items() if count == 1}
    once &= {key for key, count in Counter(new).items() if count == 1}
    place = {key: number for number, key in enumerate(old) if key in once}
    return _longest([(mine, place[key]) for mine, key in enumerate(new) if key in once])


def _longest(pairs: Sequence[tuple[int, int]]) -> list[tuple[int, int]]:
    """Return the longest subsequence of pairs whose second numbers ascend."""
    ends: list[int] = []  # the least last number of an ascending sequence of each length
    last: list[int] = []  # the pair that has it
    before: list[int] = []
    for number, (_, theirs) in enumerate(pairs):
        length = bisect_left(ends, theirs)
        before.append(last[length - 1] if length else -1)
        if length == len(ends):
            ends.append(theirs)
            last.append(number)
        else:
            ends[length], last[length] = theirs, number
    found: list[tuple[int, int]] = []
    at = last[-1] if last else -1
    while at >= 0:
        found.append(pairs[at])
        at = before[at]
    return found[::-1]


def _spread(old: Sequence[Key], new: Sequence[Key], matched: list[int | None]) -> None:
    """Match equal neighbours of matched keys, behind them and before them."""
    taken = {one for one in matched if one is not None}
    for places, step in ((range(1, len(new)), 1), (range(len(new) - 2, -1, -1), -1)):
        for mine in places:
            beside = matched[mine - step]
            if matched[mine] is not None or beside is None:
                continue
            theirs = beside + step
            if 0 <= theirs < len(old) and theirs not in taken and old[theirs] == new[mine]:
                matched[mine] = theirs
                taken.add(theirs)
