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
    """A rule: `pattern` finds candidates, and `judge` decides. The group `value`, or else the whole match, is the find.

    Every candidate contains one of the `hints` (lower case), so most texts never run the pattern. Each pattern starts
    at the start of a word or has a bounded length, so that the time is linear in the text.
    """

    kind: str
    hints: tuple[str, ...]
    pattern: re.Pattern[str]
    judge: Judge


def rule(kind: str, hints: str, pattern: str, judge: Judge) -> Rule:
    """Return a rule. `hints` are separated by `|`."""
    return Rule(kind, tuple(hints.split("|")), re.compile(pattern), judge)


def found_in(text: str, rules: Sequence[Rule]) -> list[Found]:
    """Return all finds of a table, in the order of the text. Of overlapping finds, the first or longest is kept."""
    lowered = text.lower()
    return found_by(text, [rule for rule in rules if any(hint in lowered for hint in rule.hints)])


def found_by(text: str, hinted: Sequence[Rule]) -> list[Found]:
    """Return what `found_in` returns. `hinted` are the rules with a hint that the text has."""
    found: list[Found] = []
    for kind, _, pattern, judge in hinted:
        for match in pattern.finditer(text):
            if certainty := judge(match):
                found.append(Found(kind, *_value(match), certainty >= SURE))
    return parted(found) if len(found) > 1 else found


def _value(match: re.Match[str]) -> tuple[int, int]:
    return match.span("value") if "value" in match.re.groupindex else match.span()


def parted(found: list[Found]) -> list[Found]:
    """Drop overlapping finds; sure ones are kept before unsure ones."""
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
    """Return whether a find overlaps one of some that are sorted and do not overlap."""
    after = bisect_left(others, one.stop, key=lambda other: other.start)
    return after > 0 and others[after - 1].stop > one.start
