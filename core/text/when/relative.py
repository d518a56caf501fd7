"""Read words that name a period from a reference: "last week", "two days ago", "the Friday before last"."""

import re
from collections.abc import Callable, Mapping
from datetime import datetime

import msgspec

from muisti.core.text.when.leads import number, unit_named
from muisti.core.text.when.patterns import THIS, WEEKDAYS
from muisti.core.text.when.periods import DAY, Period, Unit, Which, containing, nearest_weekday, shifted

Resolve = Callable[[datetime], Period]
"""The period that words name, for a reference. Raises ValueError or OverflowError when there is none."""

IN_SHORT = frozenset({"in", "during", "since", "until", "till"})
"""Words after which "Jan" or "Dec" is a month, and "h1" a half of a year."""
IN_LOWER = IN_SHORT | {"of", "as of", "back in"}
"""Words after which a month stands that is also a verb, in lower case: "may", "march"."""
IN = IN_LOWER | {"by", "before", "after", "prior to", "up to", "for", "throughout", "over", "within"}
"""Words for other months, seasons and years, likewise."""
# fmt: off
ON = frozenset({
    "on", "since", "until", "till", "by", "before", "after", "prior to", "up to", "as of", "over", "for", "around",
})
"""Words for days of the week, likewise."""
# fmt: on
AT = IN | {"at", "on", "around"}
"""Words for holidays, likewise."""


class Name(msgspec.Struct, frozen=True):
    """The meaning of a match.

    `following` is set where words leave out the year, and `resolve` takes the latest by the reference; it takes the
    next after a moment. `leads`: it is certainly a time only after one of these words. None: always.
    """

    resolve: Resolve
    following: Resolve | None = None
    leads: frozenset[str] | None = None


def never(_: datetime) -> Period:
    raise ValueError("no such period")


def weekday_number(name: str) -> int:
    return next(place for place, known in enumerate(WEEKDAYS) if known.startswith(name[:3].lower()))


def _days_away(days: int) -> Name:
    return Name(lambda at: containing("day", at + days * DAY))


def _named_day(match: re.Match[str]) -> Name:
    days = {"yesterday": -1, "tomorrow": 1, "last night": -1}
    return _days_away(days.get(" ".join(match["named_day"].lower().split()), 0))


def _second(match: re.Match[str]) -> Name:
    count = -2 if "last" in match["second_side"].lower() else 2
    if match["second_weekday"]:
        return _weekdays_away(match["second_weekday"], count)
    unit = unit_named(match["second_unit"])
    return Name(lambda at: containing(unit, shifted(containing(unit, at).start, unit, count)))


def _relative(match: re.Match[str]) -> Name:
    word = match["which"].lower()
    which = THIS[word]
    if match["r_weekday"]:
        weekday = weekday_number(match["r_weekday"])
        return Name(lambda at: nearest_weekday(weekday, at, which))
    count = {"last": -1, "this": 0, "next": 1}.get(which, 0)
    if match["unit"].lower() in ("hour", "fortnight"):
        unit, times = unit_named(match["unit"]), 2 if match["unit"].lower() == "fortnight" else 1
        return Name(
            lambda at: Period(*sorted((at, shifted(at, unit, times * count)))) if count else containing(unit, at)
        )
    unit = unit_named(match["unit"])
    rolls = word == "past" or match.string[: match.start("which")].lower().endswith("the ")
    if rolls and unit != "weekend" and which == "last":
        return Name(lambda at: Period(shifted(at, unit, -1), at))
    if unit == "weekend" and which != "this":
        return Name(lambda at: _weekend(at, which))
    return Name(lambda at: containing(unit, shifted(containing(unit, at).start, unit, count)))


def _week_day(week: str, weekday: str) -> Name:
    """Return the day of a week: "Tuesday last week"."""
    count, day = {"last": -1, "next": 1}.get(week.lower(), 0), weekday_number(weekday)
    return Name(lambda at: containing("day", containing("week", at).start + (7 * count + day) * DAY))


def _weekdays_away(name: str, count: int) -> Name:
    """Return the weekday of that name, as many of them before or after the reference. Today is none of them."""
    weekday, which = weekday_number(name), "last" if count < 0 else "next"
    weeks = 7 * (count + 1 if count < 0 else count - 1) * DAY

    def resolve(at: datetime) -> Period:
        day = nearest_weekday(weekday, at, which)
        return Period(day.start + weeks, day.stop + weeks)

    return Name(resolve)


def _rolling(match: re.Match[str]) -> Name:
    counted = match["rolling_number"] or match["rolling_digits"]
    unit, _, most = _span(counted, match["rolling_unit"] or match["rolling_short"])
    if THIS[match["rolling_which"].lower()] == "last":
        return Name(lambda at: Period(shifted(at, unit, -most), at))
    return Name(lambda at: Period(at, shifted(at, unit, most)))


def _ago(match: re.Match[str]) -> Name:
    if match["ago_day"]:
        return Name(never)
    unit, least, most = _span(match["ago_number"] or match["ago_digits"], match["ago_unit"] or match["ago_short"])
    if match["ago_least"]:
        least = number(re.sub(r"\s*(?:\bor|\bto|[-–—])\s*$", "", match["ago_least"]))[0]
    return Name(lambda at: _between(unit, shifted(at, unit, -most), shifted(at, unit, -least)))


def _ahead(match: re.Match[str]) -> Name:
    unit, least, most = _span(match["ahead_number"], match["ahead_unit"])
    return Name(lambda at: _between(unit, shifted(at, unit, least), shifted(at, unit, most)))


def _span(counted: str, word: str) -> tuple[Unit, int, int]:
    """Return the unit, and the least and the most that are counted of it."""
    times = 2 if word.lower().startswith("fortnight") else 1
    least, most = number(counted)
    return unit_named(word), times * least, times * most


def _weekday(match: re.Match[str]) -> Name:
    if match["wd_week"]:
        return _week_day(match["wd_week"], match["wd_name"])
    weekday = weekday_number(match["wd_name"])
    return Name(lambda at: nearest_weekday(weekday, at, "latest"), lambda at: nearest_weekday(weekday, at, "next"), ON)


def _weekend(at: datetime, which: Which) -> Period:
    saturday = nearest_weekday(5, at - DAY if which == "last" else at, which).start
    return Period(saturday, saturday + 2 * DAY)


def _between(unit: Unit, first: datetime, last: datetime) -> Period:
    return Period(containing(unit, first).start, containing(unit, last).stop)


RELATIVE: Mapping[str, Callable[[re.Match[str]], Name]] = {
    "around_today": lambda match: _days_away(-2 if "yesterday" in match["side"].lower() else 2),
    "named_day": _named_day,
    "second": _second,
    "week_day": lambda match: _week_day(match["wk_which"], match["wk_day"]),
    "relative": _relative,
    "rolling": _rolling,
    "weekdays_ago": lambda match: _weekdays_away(match["wa_weekday"], -number(match["wa_number"])[1]),
    "ago": _ago,
    "ahead": _ahead,
    "weekday": _weekday,
    "weekend": lambda _: Name(lambda at: _weekend(at, "latest"), lambda at: _weekend(at, "next"), ON | IN | {"at"}),
}
"""What reads each group of the pattern."""
