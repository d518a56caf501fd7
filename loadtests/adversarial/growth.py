"""Growth of a function's time with the length of its text, judged by ratios within one process."""

from collections.abc import Callable, Iterator, Sequence
from math import inf, log2, sqrt
from time import process_time
from typing import NamedTuple

from loadtests.adversarial.texts import Family

FLOOR = 0.02  # seconds; shorter runs are noise and are not judged
ENOUGH = 0.012  # seconds at which a step that is not steep ends the search: no longer text is needed
MOST = 3.0  # times as long for twice the text: 2 is linear, 4 is quadratic
NEARLY = 2.5  # times as long at which longer texts need not be tried
LIMITED = 1.3  # times as long for four times the text: less is a call that reads only so much of it
LONG = 0.2  # seconds from which a steep step is not measured again with longer texts
TRIES = 4  # runs of each text of a ratio that looks too high; the least counts
TOP = 100_000  # characters
FIRST = 1_562
SOON = 62_500  # characters, from which a search to a long text begins
SHORT = (14, 20)  # characters; what doubles with every character takes 64 times as long
EXPLOSIVE = 0.005  # seconds

Call = Callable[[str], object]


def seconds(call: Call, text: str) -> float:
    """Processor time of one call."""
    began = process_time()
    call(text)
    return process_time() - began


def lengths(top: int, step: int) -> Iterator[int]:
    """Lengths from a small one to `top`, each `step` times the one before.

    >>> list(lengths(100_000, 4))
    [1562, 6248, 24992, 100000]
    """
    length = min(FIRST, top)
    while length * step < top:
        yield length
        length *= step
    if length * step < top * step:
        yield length
    yield top


def curve(call: Call, family: Family, lengths: Sequence[int]) -> dict[int, float]:
    """Return seconds by length, the lesser of two runs."""
    texts = {length: family(length) for length in lengths}
    return {length: min(seconds(call, text) for _ in range(2)) for length, text in texts.items()}


def fault(call: Call, family: Family, top: int = TOP) -> str | None:
    """Say where the time grows faster than the text; None where it does not.

    The text grows fourfold from step to step, so what is quadratic is found while it is short. A step that looks too
    steep is measured again, the whole against its half.
    """
    if said := _explosion(call, family):
        return said
    before, was = 0.0, 0
    for length in lengths(top, 4):
        text = family(length)
        took = seconds(call, text)
        if took > FLOOR and was and took > MOST ** log2(length / was) * max(before, FLOOR / 16):
            ratio = _ratio(call, family(length // 2), text)
            if ratio > MOST and (took > LONG or not _levels_off(call, text, family(4 * length))):
                return f"{took:.2f} s at {length:,} characters, {ratio:.1f} times what half of them take"
        if took > ENOUGH and took < NEARLY ** log2(length / max(was, 1)) * before:
            return None
        before, was = took, length
    return None


class Steep(NamedTuple):
    """Where the search to a long text ended: the length, its seconds, and how many times those of half of it."""

    length: int
    seconds: float
    growth: float
    fault: bool


def long_fault(call: Call, family: Family, top: int, clock: Callable[[], float] = process_time) -> Steep:
    """Grow a text fourfold from `SOON` up to `top` characters, or until its time grows faster than n log n.

    A step that looks too steep is measured again, the whole against its half. A single one may be a step between two
    speeds, both linear, so the next one decides unless that would take too long.
    """
    before, length, steep = 0.0, min(SOON, top), False
    while True:
        text = family(length)
        took = _least(call, text, 1, clock)
        growth = sqrt(took / before) if before > FLOOR / 4 else 0.0
        if growth > NEARLY and took > FLOOR:
            took = _least(call, text, TRIES, clock)
            growth = took / max(_least(call, family(length // 2), TRIES, clock), FLOOR / 4)
        was, steep = steep, growth > MOST
        if length >= top or (steep and (was or took > 10 * LONG)):
            return Steep(length, took, growth, steep)
        before, length = took, min(4 * length, top)


def _least(call: Call, text: str, tries: int, clock: Callable[[], float]) -> float:
    """Return the least time of some runs; a long one is run once."""
    least = inf
    for _ in range(tries):
        began = clock()
        call(text)
        least = min(least, clock() - began)
        if least > 1:
            break
    return least


def _levels_off(call: Call, text: str, longer: str) -> bool:
    """Return whether a text four times as long takes longer in proportion: a step between two speeds, both linear.

    A call that takes no longer reads only so much of a text. So it says nothing about a longer one.
    """
    ratio = _ratio(call, text, longer)
    return LIMITED < ratio <= MOST**2


def _explosion(call: Call, family: Family) -> str | None:
    """Say that the time grows exponentially, which a text of twenty characters shows and a longer one would hide."""
    short, long = (min(seconds(call, family(length)) for _ in range(2)) for length in SHORT)
    return f"{long:.3f} s at {SHORT[1]} characters" if long > EXPLOSIVE and long > 8 * short else None


def _ratio(call: Call, part: str, whole: str) -> float:
    """Return how many times as long the whole takes as a part of it, each at its best."""
    least = min(seconds(call, part) for _ in range(TRIES))
    return min(seconds(call, whole) for _ in range(TRIES)) / max(least, 1e-6)
