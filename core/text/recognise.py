"""Find stretches of a text by their form: tables of rules, each of hints, a pattern, and a judge of what matches."""

import re
from bisect import bisect_left
from collections.abc import Callable, Sequence
from typing import NamedTuple

SURE, UNSURE = 1.0, 0.5  # certainty that a stretch is what it looks like


class Found(NamedTuple):
    """A stretch of a text, in characters, and what it looks like; not `sure` where it may also be ordinary text."""

    kind: str
    start: int
    stop: int
    sure: bool = True


Judge = Callable[[re.Match[str]], float]
"""Returns the certainty of a candidate: `SURE`, `UNSURE`, or 0 for none. A truth value will do."""


class Rule(NamedTuple):
    """`pattern` finds candidates; its group `value`, or else all that it matches, is what counts, if `judge` agrees.

    `hints`, in lower case: one of them is in every candidate. They spare most texts the pattern. Each pattern starts
    where a word starts or has a bounded length, so that the time is linear in the text.
    """

    kind: str
    hints: tuple[str, ...]
    pattern: re.Pattern[str]
    judge: Judge


def rule(kind: str, hints: str, pattern: str, judge: Judge) -> Rule:
    """`hints` are parted by `|`."""
    return Rule(kind, tuple(hints.split("|")), re.compile(pattern), judge)


def found_in(text: str, rules: Sequence[Rule]) -> list[Found]:
    """All that a table recognises, in the order of the text; of what overlaps the first, and of those the longest."""
    lowered = text.lower()
    found: list[Found] = []
    for kind, hints, pattern, judge in rules:
        for hint in hints:
            if hint in lowered:
                for match in pattern.finditer(text):
                    if certainty := judge(match):
                        found.append(Found(kind, *_value(match), certainty >= SURE))
                break
    return parted(found) if len(found) > 1 else found


def _value(match: re.Match[str]) -> tuple[int, int]:
    return match.span("value") if "value" in match.re.groupindex else match.span()


def parted(found: list[Found]) -> list[Found]:
    """Drop what overlaps; what is sure goes before what is not."""
    kept = _apart([one for one in found if one.sure])
    unsure = [one for one in found if not one.sure]
    if not unsure:
        return kept
    return sorted([*kept, *(one for one in _apart(unsure) if not _meets(one, kept))], key=lambda one: one.start)


def _apart(found: list[Found]) -> list[Found]:
    kept: list[Found] = []
    for one in sorted(found, key=lambda one: (one.start, -one.stop)):
        if not kept or one.start >= kept[-1].stop:
            kept.append(one)
    return kept


def _meets(one: Found, others: Sequence[Found]) -> bool:
    """Return whether a stretch overlaps one of some that are in order and apart."""
    after = bisect_left(others, one.stop, key=lambda other: other.start)
    return after > 0 and others[after - 1].stop > one.start
