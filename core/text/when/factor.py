"""Compute the factor of a named time, in [1 - weight, 1]: 1 within the time, and gradually less outside it.

This is a soft ranking, not a filter. People say "last week" about nine days ago, and report on Sunday what happened on
Friday. The weight is the knee of the curve on judged data (`docs/why/quality.md`). A memory of another time needs a
score two thirds higher to rank before one of the named time. So relevance outweighs a match of time alone.
"""

import re
from collections.abc import Sequence

import msgspec
import numpy as np
import numpy.typing as npt

from muisti.core.model.times import DAY_US
from muisti.core.text.when.time_spans import TimeSpan

WEIGHT = 0.4
NEAR = 3 * DAY_US  # the least distance that counts as far: most events are reported within days

_DUE = re.compile(r"\b(?:due|deadlines?|expir\w+|overdue)\W+(?:\w+\W+){0,2}$", re.IGNORECASE)
_BY = re.compile(r"by\b", re.IGNORECASE)
_PAST = re.compile(r"\b(?:did|has|have|had|was|were)\b(?! to\b)", re.IGNORECASE)

Times = npt.NDArray[np.int64]
Factors = npt.NDArray[np.float64]


class TimeMatch(msgspec.Struct, frozen=True):
    """The named time nearest to a memory: its words, its bounds in microseconds (None: open), and the factor."""

    words: str
    start: int | None
    stop: int | None
    factor: float


def of_events(text: str, spans: Sequence[TimeSpan]) -> tuple[TimeSpan, ...]:
    """Return the spans of a text without deadlines: what is due on Friday was said on another day.

    >>> first = TimeSpan(0, DAY_US, "on Friday", DAY_US)
    >>> [len(of_events(text, [first])) for text in ("What is due on Friday?", "What did Ann say on Friday?")]
    [0, 1]
    """
    found: list[TimeSpan] = []
    stop = 0
    for span in spans:
        start = max(text.find(span.text, stop), stop)
        before = text[stop:start]
        stop = start + len(span.text)
        by = _BY.match(span.text) is not None and _PAST.search(text) is None
        if not by and _DUE.search(before) is None:
            found.append(span)
    return tuple(found)


def time_factor(spans: Sequence[TimeSpan], at: Times, weight: float = WEIGHT) -> Factors:
    """Return the factor of each time of `at` (microseconds): of the nearest span, or 1 without spans.

    >>> may = TimeSpan(0, 31 * DAY_US, "in May", 31 * DAY_US)
    >>> time_factor([may], np.array([0, 62 * DAY_US, 3650 * DAY_US])).round(2).tolist()
    [1.0, 0.75, 0.6]
    """
    if not spans:
        return np.ones(len(at))
    near = _closeness(spans[0], at)
    for span in spans[1:]:
        np.maximum(near, _closeness(span, at), out=near)
    return 1.0 - weight * (1.0 - near)


def time_match(spans: Sequence[TimeSpan], at: int, weight: float = WEIGHT) -> TimeMatch | None:
    """Return the nearest span and the factor of a single time, or None without spans."""
    if not spans:
        return None
    one = np.array([at])
    nearest = max(spans, key=lambda span: float(_closeness(span, one)[0]))
    return TimeMatch(nearest.text, nearest.start, nearest.stop, float(time_factor([nearest], one, weight)[0]))


def _closeness(span: TimeSpan, at: Times) -> Factors:
    """Return 1 within the span and exp(-distance / unit) outside; 0 outside when the span has no unit."""
    outside = np.zeros(len(at))
    if span.start is not None:
        np.maximum(outside, span.start - at, out=outside)
    if span.stop is not None:
        np.maximum(outside, at - span.stop, out=outside)
    return np.exp(-outside / max(span.unit, NEAR)) if span.unit else (outside == 0).astype(np.float64)
