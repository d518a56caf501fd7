"""Read time words of a question as stretches of time: "last week", "in May 2023", "before 7 May", "two days ago".

English only. Relative words count from a reference moment, and days are those of a zone. A name without a year means
the latest that has begun by the reference. Ambiguous words ("may", "fall", a number) count only with other evidence: a
preposition, a year or a day of the month. Words that are read only in part are no time.
"""

import re
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime, timedelta, tzinfo
from itertools import zip_longest

import msgspec
import numpy as np
import numpy.typing as npt
from msgspec.structs import replace

from muisti.core.model.times import DAY_US, MICROSECOND, from_us, to_us
from muisti.core.support.regex import regex
from muisti.core.text.forms import regular
from muisti.core.text.when.leads import CONNECTORS, Lead, lead_of, moved, part_of
from muisti.core.text.when.patterns import DECADES, MONTHS, UNITS, WEEKDAYS
from muisti.core.text.when.period_names import names
from muisti.core.text.when.periods import SEASONS, Period
from muisti.core.text.when.relative import IN, IN_SHORT, Name, Resolve

LONGEST = 1_000  # characters that are read; a longer text is a document, not a question about a time

_SINGULAR = (*UNITS, *WEEKDAYS, *MONTHS, *SEASONS, "fortnight")
_SHORT = (
    "jan feb mar apr jun jul aug sep sept oct nov dec q1 q2 q3 q4 h1 h2 ago today tonight yesterday tomorrow night "
    "morning mon tue tues wed weds thu thur thurs fri sat sun christmas easter halloween boxing valentine valentines "
    "thanksgiving fiscal last past previous next coming 1st 2nd 3rd 21st 22nd 23rd 31st"
)
_TRIGGERS = frozenset(
    word.encode()
    for word in (
        *_SINGULAR,
        *(word + "s" for word in _SINGULAR),
        *(_SHORT + " afternoon evening").split(),
        *map(str, range(1500, 2100)),
        *(f"{year}s" for year in range(1500, 2100, 10)),
        *(f"{tens}s" for tens in range(20, 100, 10)),
        *DECADES,
        *(f"{day}th" for day in range(4, 31)),
        *(f"fy{year}" for year in (*range(1500, 2100), *range(100))),
    )
)
"""Every time span has one of these words. Looking for them takes microseconds, where the patterns take a hundred."""
_CONNECTED = {
    "from": regex(r"\s*(?:to|until|till|through)\b|-\w", re.IGNORECASE),
    "between": regex(r"\s*(?:and|to)\b|-\w", re.IGNORECASE),
}
_TO_WORDS = bytes(byte if chr(byte).isalnum() or byte > 127 else 32 for byte in range(256)).lower()


class TimeSpan(msgspec.Struct, frozen=True):
    """The time `[start, stop)` that `text` names, in microseconds since 1970. None means open on that side.

    `unit` is the length of the named period, in microseconds, which measures what is near. It is 0 for a period in the
    future: a question about next week asks for plans, which may be of any time.
    """

    start: int | None
    stop: int | None
    text: str
    unit: int


class _Place(msgspec.Struct, frozen=True):
    """A period named at `[start, stop)` of the text, including the words before it."""

    start: int
    stop: int
    lead: Lead
    name: Name

    def period(self, at: datetime) -> Period | None:
        """Return the period, or None when the calendar has no such period."""
        return self._resolved(self.name.resolve, at)

    def period_after(self, at: datetime) -> Period | None:
        """Return the next period of a name without a year after a moment, if there is one."""
        return self._resolved(self.name.following or self.name.resolve, at)

    def _resolved(self, resolve: Resolve, at: datetime) -> Period | None:
        try:
            period = part_of(self.lead, resolve(at))
            moved(self.lead, period)
            return period
        except (OverflowError, ValueError):
            return None


def time_spans(text: str, reference: int, zone: tzinfo = UTC) -> tuple[TimeSpan, ...]:
    """Return the times that a text names, in its order. `reference` is in microseconds since 1970. Never raises.

    Days begin at midnight in `zone`.

    >>> [span.text for span in time_spans("Who came last week, and what may happen in May?", 1_700_000_000_000_000)]
    ['last week', 'in May']
    """
    read = regular(text)
    if not _may_name(read):
        return ()
    named = ((stop, name, lead_of(read, start)) for start, stop, name in names(read, LONGEST))
    places = [_Place(lead.start, stop, lead, name) for stop, name, lead in named]
    resolved = _resolved(read, _certain(read, places), _local(reference, zone))
    return tuple(
        (replace(span, unit=0) if span.start is not None and span.start > reference else span)
        for span in _spans(read, resolved, text)
        if span.start is None or span.stop is None or span.start < span.stop
    )


def _may_name(read: str) -> bool:
    return not _TRIGGERS.isdisjoint(read.encode("utf-8", "replace").translate(_TO_WORDS).split())


def _local(reference: int, zone: tzinfo) -> datetime:
    try:
        return from_us(reference).astimezone(zone)
    except OverflowError:  # at the ends of the calendar
        return from_us(reference)


def _certain(text: str, places: Sequence[_Place]) -> list[_Place]:
    """Drop places that may be no time. A place joined to a time is one: "from May to July", "in June and July"."""
    kept: list[_Place] = []
    for place, after in zip_longest(places, places[1:]):
        if after is not None and after.start <= place.start:
            continue  # it qualifies another: "the last weekend before 3 June"
        leads = place.name.leads
        opens = _joined(text, place, after) and (place.lead.word in ("from", "between") or _is_range(place, after))
        if not opens and place.lead.word in _CONNECTED and _CONNECTED[place.lead.word].match(text, place.stop):
            continue  # to what is not understood
        follows = bool(kept) and _joined(text, kept[-1], place)
        if leads is None or place.lead.word in leads or place.lead.names_part or opens or follows:
            kept.append(place)
    return kept


def _is_range(first: _Place, second: _Place | None) -> bool:
    """Return whether a name that needs a preposition is the first of two with a dash between: "Q1-Q3 2023"."""
    return second is not None and second.lead.word not in ("and", "or") and first.name.leads in (IN, IN_SHORT)


def _joined(text: str, first: _Place, second: _Place | None) -> bool:
    return second is not None and second.lead.word in CONNECTORS and not text[first.stop : second.start].strip()


def _resolved(text: str, places: Sequence[_Place], at: datetime) -> list[tuple[_Place, Period]]:
    """Return the places whose period exists.

    A place without a year takes the year of the place before or after that it is joined to.
    """
    resolved: list[tuple[_Place, Period]] = []
    for at_, place in reversed(list(enumerate(places))):
        before = places[at_ - 1] if at_ else None
        joined = bool(resolved) and place.name.following is not None and _joined(text, place, resolved[-1][0])
        period = place.period(resolved[-1][1].start if joined else at)
        if not joined and before is not None and before.name.following is None and _joined(text, before, place):
            first = before.period(at)
            period = place.period_after(first.start) if first is not None and place.name.following else period
        if period is not None:
            resolved.append((place, period))
    return resolved[::-1]


def _spans(read: str, named: Sequence[tuple[_Place, Period]], text: str) -> Iterator[TimeSpan]:
    """Yield one span for each place, or for two places that are the ends of a range, with its words in `text`."""
    rest = list(reversed(named))
    while rest:
        place, period = rest.pop()
        follows = bool(rest) and _joined(read, place, rest[-1][0])
        if follows and (rest[-1][0].lead.word not in ("and", "or") or place.lead.word == "between"):
            last, end = rest.pop()
            yield _span(text, place.start, last.stop, (period.start, end.stop), end.stop - period.start)
        else:
            yield _span(text, place.start, place.stop, moved(place.lead, period), period.stop - period.start)


def _span(
    text: str, start: int, stop: int, stretch: tuple[datetime | None, datetime | None], unit: timedelta
) -> TimeSpan:
    first, last = (None if at is None else to_us(at) for at in stretch)
    return TimeSpan(first, last, text[start:stop], unit // MICROSECOND)


def named_times(text: str) -> Iterator[tuple[int, int]]:
    """Yield the start and stop, in characters, of words that certainly name a time, without the words before them.

    >>> text = "We met in May, and may meet on Friday or next week"
    >>> [text[start:stop] for start, stop in named_times(text)]
    ['May', 'Friday', 'next week']
    """
    if not _may_name(text):
        return
    text = regular(text)
    for start, stop, name in names(text, len(text)):
        if name.leads is None or lead_of(text, start).word in name.leads:
            yield start, stop


# Compute the factor of a named time, in [1 - weight, 1]: 1 within the time, and gradually less outside it


WEIGHT = 0.4
NEAR = 3 * DAY_US  # the least distance that counts as far: most events are reported within days

_DUE = regex(r"\b(?:due|deadlines?|expir\w+|overdue)\W+(?:\w+\W+){0,2}$", re.IGNORECASE)
_BY = regex(r"by\b", re.IGNORECASE)
_PAST = regex(r"\b(?:did|has|have|had|was|were)\b(?! to\b)", re.IGNORECASE)

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
