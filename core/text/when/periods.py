"""Find stretches of the calendar: the day, week or season around a moment, and the nearest period of a name.

Moments are datetimes in UTC. Weeks begin on Monday (ISO 8601). Seasons are whole months of the northern hemisphere;
winter belongs to the year in which it begins.

Words before a period change it: "before", "since", "the first half of". There are up to three parts, in this order:

    the week       before      the first half of    June 2023
                   since                            last winter
    away           word        part                 the period
"""

import re
from collections.abc import Callable, Iterable, Mapping
from datetime import UTC, datetime, timedelta
from functools import cache
from itertools import chain
from typing import Literal, NamedTuple, cast

Unit = Literal["minute", "hour", "day", "week", "weekend", "month", "quarter", "year", "decade"]
Which = Literal["latest", "last", "this", "next"]

DAY = timedelta(days=1)
_STEPS: dict[Unit, timedelta] = {"minute": timedelta(minutes=1), "hour": timedelta(hours=1), "day": DAY}
_MONTHS: dict[Unit, int] = {"month": 1, "quarter": 3, "year": 12, "decade": 120}
SEASONS = {"spring": 3, "summer": 6, "autumn": 9, "fall": 9, "winter": 12}


class Period(NamedTuple):
    """A period `[start, stop)`."""

    start: datetime
    stop: datetime

    @property
    def length(self) -> timedelta:
        return self.stop - self.start

    def fraction(self, low: float, high: float) -> "Period":
        """Return the part between two fractions of the length, rounded to whole days in a period of several."""
        step = DAY if self.length > 3 * DAY else _STEPS["minute"]
        return Period(*(self.start + round(self.length * part / step) * step for part in (low, high)))


def midnight(at: datetime) -> datetime:
    return at.replace(hour=0, minute=0, second=0, microsecond=0)


def shifted(at: datetime, unit: Unit, count: int) -> datetime:
    """Return the moment `count` units later. In a month that is too short, it is the last day.

    Raises:
        OverflowError, ValueError: outside the years 1 to 9999.

    >>> shifted(datetime(2024, 3, 31, tzinfo=UTC), "month", -1).isoformat()
    '2024-02-29T00:00:00+00:00'
    >>> shifted(datetime(2024, 3, 31, 23, tzinfo=UTC), "month", -1).isoformat()
    '2024-02-29T23:00:00+00:00'
    """
    if unit not in _MONTHS:
        return at + count * _STEPS.get(unit, 7 * DAY)
    months = 12 * at.year + at.month - 1 + count * _MONTHS[unit]
    first = at.replace(year=months // 12, month=months % 12 + 1, day=1)
    return min(first + (at.day - 1) * DAY, (first + 32 * DAY).replace(day=1) - DAY)


def containing(unit: Unit, at: datetime) -> Period:
    """Return the calendar unit around a moment. The weekend is that of the week; an hour or minute is centred.

    >>> [str(at.date()) for at in containing("week", datetime(2024, 5, 5, tzinfo=UTC))]
    ['2024-04-29', '2024-05-06']
    """
    if unit in ("minute", "hour"):
        return Period(at - _STEPS[unit] / 2, at + _STEPS[unit] / 2)
    day = midnight(at)
    if unit == "day":
        return Period(day, day + DAY)
    if unit in ("week", "weekend"):
        monday = day - day.weekday() * DAY
        return Period(monday + (5 * DAY if unit == "weekend" else 0 * DAY), monday + 7 * DAY)
    months = _MONTHS[unit]
    count = 12 * day.year + day.month - 1
    count -= count % months
    start = datetime(count // 12, count % 12 + 1, 1, tzinfo=UTC)
    return Period(start, shifted(start, unit, 1))


def month(year: int, number: int) -> Period:
    return containing("month", datetime(year, number, 1, tzinfo=UTC))


def season(year: int, name: str) -> Period:
    start = datetime(year, SEASONS[name], 1, tzinfo=UTC)
    return Period(start, shifted(start, "quarter", 1))


def nearest(yearly: Callable[[int], Period], at: datetime, which: Which) -> Period:
    """Return a yearly period: the `latest` that has begun by `at`, the `last` that is over, this year's, or the `next`.

    Raises:
        ValueError: there is none within nine years, or in this one.

    >>> nearest(lambda year: month(year, 6), datetime(2024, 6, 15, tzinfo=UTC), "last").start.isoformat()
    '2023-06-01T00:00:00+00:00'
    """
    if which == "this":
        running = yearly(at.year - 1)  # a winter that began last year
        return running if running.stop > at else yearly(at.year)
    years = range(at.year - 1, at.year + 9) if which == "next" else range(at.year, at.year - 9, -1)
    return _first_fitting(chain.from_iterable(_existing(yearly, year) for year in years), at, which)


def nearest_weekday(number: int, at: datetime, which: Which) -> Period:
    """Return a weekly period, as `nearest` does for a yearly one. Monday is 0, and `last` is never today."""
    week = containing("week", at).start
    days = [containing("day", week + (number + 7 * ahead) * DAY) for ahead in (-1, 0, 1)]
    if which == "this":
        return days[1]
    return _first_fitting(days if which == "next" else reversed(days), at, which)


def _first_fitting(periods: Iterable[Period], at: datetime, which: Which) -> Period:
    for period in periods:
        fits = {"latest": period.start <= at, "last": period.stop <= at, "next": period.start > at}
        if fits[which]:
            return period
    raise ValueError("no such period near the moment")


def _existing(yearly: Callable[[int], Period], year: int) -> tuple[Period, ...]:
    """Return the period of a year, or nothing when the year lacks it (29 February) or is outside the calendar."""
    try:
        return (yearly(year),)
    except (OverflowError, ValueError):
        return ()


WEEKDAYS = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
WEEKDAY = "|".join(WEEKDAYS)
UNITS: tuple[Unit, ...] = ("minute", "hour", "day", "week", "weekend", "month", "quarter", "year", "decade")
UNIT = "|".join(UNITS)

_COUNT = ("one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve")
NUMBERS: Mapping[str, tuple[int, int]] = {
    **{word: (count, count) for count, word in enumerate(_COUNT, 1)},
    **{"a": (1, 1), "an": (1, 1)},
    **{"couple": (2, 2), "few": (2, 5), "several": (3, 8)},
}
"""From and to how many."""
NUMBER = rf"(?:an?\s+)?(?:couple(?:\s+of)?|few)|\d{{1,3}}|{'|'.join(sorted(NUMBERS, key=len, reverse=True))}"

OPEN_BEFORE = frozenset({"before", "prior to"})
OPEN_UNTIL = frozenset({"until", "till", "by", "up to", "through"})
CONNECTORS = frozenset({"and", "or", "to", "until", "till", "through", "-"})
_ORDINALS = {
    name: place
    for place, names in enumerate(("first 1st", "second 2nd", "third 3rd", "fourth 4th"))
    for name in names.split()
}
_EDGES = {
    "early": (0.0, 1 / 3),
    "beginning of": (0.0, 1 / 3),
    "start of": (0.0, 1 / 3),
    "mid": (1 / 3, 2 / 3),
    "middle of": (1 / 3, 2 / 3),
    "late": (2 / 3, 1.0),
    "end of": (2 / 3, 1.0),
    "first half of": (0.0, 0.5),
    "second half of": (0.5, 1.0),
}
_EDGES_OF = "|".join(edge for edge in _EDGES if " " in edge).replace(" ", r"\s+")
_BEFORE = rf"""(?<!\w)
    (?:(?P<article>the\s+|last\s+)?(?:(?P<count>{NUMBER})\s+)?(?:(?P<unit>{UNIT}|night|morning|evening)s?|(?P<weekday>{WEEKDAY}))
        \s+(?=(?:before|after|of)\b))?
    (?:(?P<word>prior\s+to|up\s+to|as\s+of|back\s+in|before|after|since|until|till|by|through(?:out)?|in|on|during|over
        |at|from|between|for|around|about|within|of|and|or|to)\s+|\s*(?P<dash>[-–—])\s*)?
    (?:the\s+)?
    (?:(?P<edge>early|mid|late|{_EDGES_OF})[\s-]+(?:the\s+)?
      |(?P<ordinal>{"|".join(_ORDINALS)}|last)\s+(?:(?P<piece>{UNIT})|(?P<pieceday>{WEEKDAY}))\s+(?:of|in)\s+(?:the\s+)?)?
    $"""
_REACH = 45  # characters before a period that are read


class Lead(NamedTuple):
    """The words before a period. `start` is where they begin, and `word` is the preposition, "" if there is none."""

    start: int
    word: str
    parts: re.Match[str]

    @property
    def names_part(self) -> bool:
        return self.parts["edge"] is not None or self.parts["ordinal"] is not None


@cache
def _before() -> re.Pattern[str]:
    return re.compile(_BEFORE, re.IGNORECASE | re.VERBOSE)


def lead_of(text: str, start: int) -> Lead:
    """Return the words before the period that starts at `start`."""
    found = cast(re.Match[str], _before().search(text, max(0, start - _REACH), start))  # matches at least the empty end
    word = "-" if found["dash"] else " ".join((found["word"] or "").lower().split())
    return Lead(found.start() if found[0].strip() else start, word, found)


def part_of(lead: Lead, period: Period) -> Period:
    """Return the part of a period that the words name: "late", "the second week of"."""
    parts = lead.parts
    if parts["edge"]:
        return period.fraction(*_EDGES[" ".join(parts["edge"].lower().split())])
    if not parts["ordinal"]:
        return period
    ordinal = parts["ordinal"].lower()
    if parts["pieceday"]:
        return _weekday_of(period, WEEKDAYS.index(parts["pieceday"].lower()), ordinal)
    unit = cast(Unit, parts["piece"].lower())
    if ordinal == "last":
        return Period(max(period.start, shifted(period.stop, unit, -1)), period.stop)
    start = shifted(period.start, unit, _ORDINALS[ordinal])
    return Period(start, min(period.stop, shifted(start, unit, 1)))


def moved(lead: Lead, period: Period) -> tuple[datetime | None, datetime | None]:
    """Return the start and stop of the time that the words and the period name together. None means open."""
    if lead.parts["unit"] or lead.parts["weekday"]:
        return _away(lead, period)
    if lead.word in OPEN_BEFORE:
        return None, period.start
    if lead.word in OPEN_UNTIL:
        return None, period.stop
    if lead.word == "since":
        return period.start, None
    if lead.word == "after":
        return period.stop, None
    return period


def _away(lead: Lead, period: Period) -> Period:
    """Return the time some days, weeks or weekdays before or after a period, or within it."""
    if lead.parts["weekday"]:
        return _nearby_weekday(lead.word, period, WEEKDAYS.index(lead.parts["weekday"].lower()))
    unit = unit_named(lead.parts["unit"])
    if lead.word == "of":
        return containing(unit, period.start) if unit in ("week", "weekend") else period
    if unit == "weekend":
        saturday = _nearby_weekday(lead.word, period, 5).start
        return Period(saturday, saturday + 2 * DAY)
    sign = 1 if lead.word == "after" else -1
    count = number(lead.parts["count"] or "a")[1] * sign
    side = period.stop if sign > 0 else period.start
    if abs(count) == 1 or lead.parts["article"]:
        return Period(*sorted((side, shifted(side, unit, count))))
    moment = shifted(period.start, unit, count)
    half = (shifted(moment, unit, 1) - moment) // DAY // 2 * DAY
    return Period(moment - half, moment + half + DAY)


def unit_named(word: str) -> Unit:
    """Return the unit of a word, singular or plural. Nights and mornings are days."""
    word = word.lower().removesuffix("s")
    return "day" if word in ("night", "morning", "evening", "afternoon") else cast(Unit, word)


def number(words: str) -> tuple[int, int]:
    """Return the smallest and the largest number that the words may mean.

    >>> number("12"), number("a couple of"), number("few")
    ((12, 12), (2, 2), (2, 5))
    """
    if words.isdecimal():
        return int(words), int(words)
    return next(NUMBERS[word] for word in reversed(words.lower().split()) if word in NUMBERS)


def _nearby_weekday(word: str, period: Period, weekday: int) -> Period:
    if word == "before":
        return nearest_weekday(weekday, period.start - DAY, "latest")
    return nearest_weekday(weekday, (period.stop if word == "after" else period.start) - DAY, "next")


def _weekday_of(period: Period, weekday: int, ordinal: str) -> Period:
    if ordinal == "last":
        return nearest_weekday(weekday, period.stop - DAY, "latest")
    first = nearest_weekday(weekday, period.start - DAY, "next")
    return Period(*(at + 7 * _ORDINALS[ordinal] * DAY for at in first))
