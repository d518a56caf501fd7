"""Borders that every way of cutting a text has in common, so that a change of the text moves no border far from it."""

from collections import deque
from collections.abc import Iterable, Iterator
from zlib import crc32

from muisti.core.chunking.unit import GLUED, TOP, Unit


def anchor(before: Unit, after: Unit) -> int:
    """Return a number that depends on the text on both sides of a border alone."""
    return crc32(after.text.encode("utf-8", "surrogatepass"), crc32(before.text.encode("utf-8", "surrogatepass")))


def anchored(units: Iterable[Unit], reach: int) -> Iterator[tuple[Unit, bool]]:
    """Yield the units, and whether the border before each is an anchor: better than all others within `reach` tokens.

    The rank of a border counts first, then `anchor`; of equals the first is better. Anchors are more than `reach`
    apart, from the ends of the text too.
    """
    best: deque[tuple[int, tuple[int, int]]] = deque()  # of the last borders: places and falling scores
    waiting: list[Unit] = []  # from the unit that may turn out to begin at an anchor
    at, since, before = 0, 0, None
    for unit in units:
        score = (TOP + 1, 0) if before is None else (unit.rank, -anchor(before, unit))
        while best and best[0][0] < at - reach:
            best.popleft()
        better = not best or score > best[0][1]
        while best and best[-1][1] < score:
            best.pop()
        best.append((at, score))
        if waiting and (better or at - since > reach):
            yield from _flagged(waiting, anchor=at - since > reach)
            waiting = []
        if waiting or (better and unit.rank > GLUED):
            since = since if waiting else at
            waiting.append(unit)
        else:
            yield unit, False
        at, before = at + unit.weight, unit
    yield from _flagged(waiting, anchor=at - since > reach)


def _flagged(units: list[Unit], *, anchor: bool) -> Iterator[tuple[Unit, bool]]:
    """Yield the units, of which the first may begin at an anchor."""
    for place, unit in enumerate(units):
        yield unit, anchor and place == 0
