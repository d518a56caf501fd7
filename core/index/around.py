"""The surroundings of a row: the turns before and after its memory in a dialogue, and the passages beside it."""

from collections.abc import Sequence

import msgspec

from muisti.core.index.snapshot import Snapshot
from muisti.core.kernels import Ints, Mask


class Around(msgspec.Struct, frozen=True):
    """The first rows of the memories before and after a hit, oldest first, and the stretch of its neighbour passages.

    `start` and `stop` are in characters of the hit's own content.
    """

    before: Sequence[int]
    after: Sequence[int]
    start: int
    stop: int


def around(snapshot: Snapshot, visible: Mask, row: int, reach: int) -> Around:
    """Return at most `reach` visible memories on each side of a row's memory, and its passages as far."""
    c = snapshot.columns
    first, last = _passages(snapshot, row)
    before, after = snapshot.links()
    return Around(
        _walk(before, first, visible, reach)[::-1],
        _walk(after, first, visible, reach),
        int(c.start[max(first, row - reach)]),
        int(c.stop[min(last, row + reach)]),
    )


def _passages(snapshot: Snapshot, row: int) -> tuple[int, int]:
    """Return the first and the last row of a row's memory."""
    versions = snapshot.columns.version
    first = last = row - int(snapshot.columns.number[row])
    while last + 1 < snapshot.size and versions[last + 1] == versions[first]:
        last += 1
    return first, last


def _walk(links: Ints, row: int, visible: Mask, reach: int) -> Sequence[int]:
    """Follow the links from a row over rows that are not visible; return the visible ones, nearest first."""
    found: list[int] = []
    at = int(links[row]) if row < len(links) else -1
    while at >= 0 and len(found) < reach:
        if at < len(visible) and visible[at]:
            found.append(at)
        at = int(links[at])
    return found
