"""Find stretches of a text by their form: tables of rules, each of hints, a pattern, and a judge of what matches."""

import re
from collections.abc import Callable, Sequence
from typing import NamedTuple


class Found(NamedTuple):
    """A stretch of a text, in characters, and what it looks like."""

    kind: str
    start: int
    stop: int


class Rule(NamedTuple):
    """`pattern` finds candidates; its group `value`, or else all that it matches, is what counts, if `judge` agrees.

    `hints`, in lower case: one of them is in every candidate. They spare most texts the pattern. Each pattern starts
    where a word starts or has a bounded length, so that the time is linear in the text.
    """

    kind: str
    hints: tuple[str, ...]
    pattern: re.Pattern[str]
    judge: Callable[[re.Match[str]], bool]


def rule(kind: str, hints: str, pattern: str, judge: Callable[[re.Match[str]], bool]) -> Rule:
    """`hints` are parted by `|`."""
    return Rule(kind, tuple(hints.split("|")), re.compile(pattern), judge)


def found_in(text: str, rules: Sequence[Rule]) -> list[Found]:
    """All that a table recognises, in the order of the text; of what overlaps the first, and of those the longest."""
    lowered = text.lower()
    found: list[Found] = []
    for kind, hints, pattern, judge in rules:
        for hint in hints:
            if hint in lowered:
                found += [Found(kind, *_value(match)) for match in pattern.finditer(text) if judge(match)]
                break
    return _parted(found) if len(found) > 1 else found


def _value(match: re.Match[str]) -> tuple[int, int]:
    return match.span("value") if "value" in match.re.groupindex else match.span()


def _parted(found: list[Found]) -> list[Found]:
    kept: list[Found] = []
    for one in sorted(found, key=lambda one: (one.start, -one.stop)):
        if not kept or one.start >= kept[-1].stop:
            kept.append(one)
    return kept
