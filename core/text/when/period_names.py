"""Recognise words that name a period: "7 May 2023", "last summer", "two days ago", "Q3", "the week before last"."""

import re
from collections.abc import Callable, Iterator, Mapping
from datetime import UTC, datetime
from functools import cache
from typing import cast

import msgspec

from muisti.core.text.when.periods import (
    DAY,
    NUMBER,
    NUMBERS,
    SEASONS,
    UNIT,
    WEEKDAY,
    WEEKDAYS,
    Period,
    Unit,
    Which,
    containing,
    month,
    nearest,
    nearest_weekday,
    number,
    season,
    shifted,
    unit_named,
)

Resolve = Callable[[datetime], Period]
"""The period that words name, for a reference. Raises ValueError or OverflowError when there is none."""

MONTHS = (
    *("january", "february", "march", "april", "may", "june"),
    *("july", "august", "september", "october", "november", "december"),
)
SEASON = "|".join(SEASONS)
_MONTH = "|".join(MONTHS)
_SHORT_MONTH = rf"(?:{_MONTH}|(?:jan|feb|mar|apr|jun|jul|aug|sept?|oct|nov|dec)\b\.?)"
_YEAR = r"(?:1[5-9]|20)\d\d"
_DAY = r"(?:[12]\d|3[01]|0?[1-9])(?:st|nd|rd|th)?"
_COUNTED = "words|tokens|times|users|people|customers|dollars|euros|items|rows|lines|pages|steps|points|files|requests"
_NOT_MINE = "".join(rf"(?<!\b{word}\s)" for word in ("my", "our", "his", "her", "your", "their"))  # "my last fall"
_NOT_HALF = r"(?<!\bhalf\s)"
_TODAY = {"today": 0, "tonight": 0, "yesterday": -1, "tomorrow": 1, "last night": -1}
_THIS: dict[str, Which] = {
    **{"last": "last", "past": "last", "previous": "last", "this": "this", "current": "this"},
    **{"next": "next", "coming": "next", "upcoming": "next"},
}

_DIGITS_FIRST = rf"""
    (?P<iso>(?<![./-])(?P<iso_year>{_YEAR})(?P<sep>[-/])(?P<iso_month>\d\d?)(?:(?P=sep)(?P<iso_day>\d\d?))?
        (?:T[\d:.]+Z?)?(?![\w/-]|\.\d))
    |(?P<digits>(?<![./-])(?P<one>\d\d?)(?P<mark>[./])(?P<two>\d\d?)(?P=mark)(?P<digits_year>{_YEAR})(?![\w/-]|\.\d))
    |(?P<day_month>(?P<dm_day>{_DAY})\s+(?:of\s+)?(?P<dm_month>{_SHORT_MONTH})(?:,?\s+(?P<dm_year>{_YEAR}))?(?!\w))
    |(?P<decade>(?P<d_year>{_YEAR})(?<=0)s\b)
    |(?P<year_quarter>(?P<yq_year>{_YEAR})[\s,-]+q(?P<yq_number>[1-4])(?!\w))
    |(?P<year>(?<![.,/$€£#-])(?:year\s+)?(?P<y_year>{_YEAR})(?![\w%/-]|[.,:]\d|\s*(?:{_COUNTED})\b))"""
_NAMES_FIRST = rf"""
    (?P<month_day>(?P<md_month>{_SHORT_MONTH})\s+(?P<md_day>{_DAY})(?![\w:%]|\.\d)(?:,?\s+(?P<md_year>{_YEAR})(?!\w))?)
    |(?P<month>(?:{_NOT_MINE}(?P<m_which>last|this|next)\s+)?
        (?:(?P<m_month>{_MONTH}|sept)|(?P<m_short>{_SHORT_MONTH})(?=,?\s+{_YEAR}))
        (?:,?\s+(?:of\s+)?(?P<m_year>{_YEAR}))?(?!\w))
    |(?P<season>(?:{_NOT_MINE}(?P<s_which>last|this|next)\s+)?
        (?P<s_name>{SEASON})(?:\s+(?:of\s+)?(?P<s_year>{_YEAR}))?(?!\w))
    |(?P<quarter>q(?P<q_number>[1-4])(?:[\s,-]+(?:of\s+)?(?P<q_year>{_YEAR}))?(?!\w|[\s,-]+(?:of\s+)?(?:fy|['’]?\d\d\b)))
    |(?P<weekday>(?:{WEEKDAY})\b(?!\s+(?:before\s+last|after\s+next)\b))"""
_RELATIVE = rf"""
    (?P<around_today>day\s+(?P<side>before\s+yesterday|after\s+tomorrow)\b)
    |(?P<named_day>(?:today|tonight|yesterday|tomorrow|last\s+night|this\s+(?:morning|afternoon|evening))\b)
    |(?P<second>(?:(?P<second_unit>week|weekend|month|quarter|year)|(?P<second_weekday>{WEEKDAY}))\s+(?P<second_side>before\s+last|after\s+next)\b)
    |(?P<relative>{_NOT_MINE}(?P<which>last|past|previous|this|current|next|coming|upcoming)\s+
        (?:(?P<unit>week|weekend|month|quarter|year|decade)|(?P<r_weekday>{WEEKDAY}))\b(?!\s+of\b))
    |(?P<rolling>(?P<rolling_which>last|past|previous|next|coming)\s+
        (?P<rolling_number>{NUMBER})\s+(?P<rolling_unit>{UNIT})s?\b)
    |(?P<weekend>(?<=the\s)weekend\b)"""
_COUNT_FIRST = rf"""
    (?P<weekdays_ago>(?P<wa_number>{NUMBER})\s+(?P<wa_weekday>{WEEKDAY})s?\s+ago\b)
    |(?P<ago>{_NOT_HALF}(?P<ago_number>{NUMBER})\s+(?P<ago_unit>{UNIT})s?\s+ago\b)
    |(?P<ahead>(?P<ahead_number>{NUMBER})\s+(?P<ahead_unit>{UNIT})
        (?:s?\s+(?:from\s+(?:now|today)|hence)\b|(?:['’]s|s['’]?)\s+time\b))"""
_PERIOD = rf"(?<!\w)(?:{_DIGITS_FIRST}|{_NAMES_FIRST}|{_RELATIVE}|{_COUNT_FIRST})"
_WORD = re.compile(r"[a-z]+|\d+", re.IGNORECASE)

# fmt: off
_FIRST = frozenset({
    "q", "day", "today", "tonight", "yesterday", "tomorrow", "week", "weekend", "month", "quarter", "year",
    "last", "past", "previous", "this", "current", "next", "coming", "upcoming",
    "jan", "feb", "mar", "apr", "jun", "jul", "aug", "sep", "sept", "oct", "nov", "dec",
}).union(MONTHS, SEASONS, WEEKDAYS, NUMBERS)
"""The words with which a period begins, if not with digits."""

IN_LOWER = frozenset({"in", "during", "since", "until", "till", "of", "as of", "back in"})
"""Words after which a month stands that is also a verb, in lower case: "may", "march"."""
IN = IN_LOWER | {"by", "before", "after", "prior to", "up to", "for", "throughout", "over", "within"}
"""The same for other months, seasons and years."""
ON = frozenset({
    "on", "since", "until", "till", "by", "before", "after", "prior to", "up to", "as of", "over", "for", "around",
})
"""The same for days of the week."""
# fmt: on


class Name(msgspec.Struct, frozen=True):
    """The meaning of a match.

    `yearless`: it is the latest period of its name, by the reference or by the period that it is joined to. `leads`: it
    is certainly a time only after one of these words. None: always.
    """

    resolve: Resolve
    yearless: bool = False
    leads: frozenset[str] | None = None


@cache
def _period() -> re.Pattern[str]:
    """Compile the pattern on first use: `re` takes 10 ms for it."""
    return re.compile(_PERIOD, re.IGNORECASE | re.VERBOSE)


def names(text: str, stop: int) -> Iterator[tuple[int, int, Name]]:
    """Yield every period that is named before `stop`: where its words start and stop, and their meaning."""
    done = 0
    for word in _WORD.finditer(text, 0, stop):
        start = word.start()
        if start >= done and (text[start].isdecimal() or word[0].lower() in _FIRST):
            match = _period().match(text, start)
            if match is not None:
                done = match.end()
                yield start, done, _READERS[cast(str, match.lastgroup)](match)


def _iso(match: re.Match[str]) -> Name:
    year, number_, day = int(match["iso_year"]), int(match["iso_month"]), match["iso_day"]
    if day is None and match["sep"] == "/":
        return Name(_never)
    return Name(lambda _: _date(year, number_, int(day)) if day else month(year, number_))


def _digits(match: re.Match[str]) -> Name:
    """Read a date of digits, day first; a second number above 12 is the day instead (American order)."""
    one, two, year = int(match["one"]), int(match["two"]), int(match["digits_year"])
    return Name(lambda _: _date(year, two, one) if two <= 12 else _date(year, one, two))


def _calendar_day(name: str, day: str, year: str | None) -> Name:
    number_, day_number = _month_number(name), int(day.rstrip("sthndrSTHNDR"))
    leads = ON | IN if name in ("may", "march") and year is None else None
    return _yearly(lambda year: _date(year, number_, day_number), year, "latest", leads)


def _month(match: re.Match[str]) -> Name:
    name, which = match["m_month"] or match["m_short"] or "sept", match["m_which"]
    number_ = _month_number(name)
    leads = IN_LOWER if name in ("may", "march") else None if which else IN
    return _yearly(lambda year: month(year, number_), match["m_year"], _which(which), leads)


def _season(match: re.Match[str]) -> Name:
    name, which = match["s_name"].lower(), match["s_which"]
    return _yearly(lambda year: season(year, name), match["s_year"], _which(which), None if which else IN)


def _quarter(match: re.Match[str]) -> Name:
    first = 3 * int(match["q_number"]) - 2
    return _yearly(
        lambda year: containing("quarter", datetime(year, first, 1, tzinfo=UTC)), match["q_year"], "latest", IN
    )


def _yearly(make: Callable[[int], Period], year: str | None, which: Which, leads: frozenset[str] | None) -> Name:
    """Return a yearly period: that of the named year, which is certain, or else the one that `which` selects."""
    if year is not None:
        return Name(lambda _: make(int(year)))
    return Name(lambda at: nearest(make, at, which), True, leads)


def _unit_of(unit: Unit, year: int, month: int = 1, leads: frozenset[str] | None = None) -> Name:
    return Name(lambda _: containing(unit, datetime(year, month, 1, tzinfo=UTC)), leads=leads)


def _days_away(days: int) -> Name:
    return Name(lambda at: containing("day", at + days * DAY))


def _second(match: re.Match[str]) -> Name:
    count = -2 if "last" in match["second_side"].lower() else 2
    if match["second_weekday"]:
        return _weekdays_away(match["second_weekday"], count)
    unit = unit_named(match["second_unit"])
    return Name(lambda at: containing(unit, shifted(containing(unit, at).start, unit, count)))


def _relative(match: re.Match[str]) -> Name:
    word = match["which"].lower()
    which = _THIS[word]
    if match["r_weekday"]:
        weekday = WEEKDAYS.index(match["r_weekday"].lower())
        return Name(lambda at: nearest_weekday(weekday, at, which))
    unit = unit_named(match["unit"])
    rolls = word == "past" or match.string[: match.start("which")].lower().endswith("the ")
    if rolls and unit != "weekend" and which == "last":
        return Name(lambda at: Period(shifted(at, unit, -1), at))
    if unit == "weekend" and which != "this":
        return Name(lambda at: _weekend(at, which))
    count = {"last": -1, "this": 0, "next": 1}.get(which, 0)
    return Name(lambda at: containing(unit, shifted(containing(unit, at).start, unit, count)))


def _weekdays_away(name: str, count: int) -> Name:
    """Return the weekday of that name, as many of them before or after the reference. Today is none of them."""
    weekday, which = WEEKDAYS.index(name.lower()), "last" if count < 0 else "next"
    weeks = 7 * (count + 1 if count < 0 else count - 1) * DAY

    def resolve(at: datetime) -> Period:
        day = nearest_weekday(weekday, at, which)
        return Period(day.start + weeks, day.stop + weeks)

    return Name(resolve)


def _rolling(match: re.Match[str]) -> Name:
    unit, most = unit_named(match["rolling_unit"]), number(match["rolling_number"])[1]
    if _THIS[match["rolling_which"].lower()] == "last":
        return Name(lambda at: Period(shifted(at, unit, -most), at))
    return Name(lambda at: Period(at, shifted(at, unit, most)))


def _ago(match: re.Match[str]) -> Name:
    unit, (least, most) = unit_named(match["ago_unit"]), number(match["ago_number"])
    return Name(lambda at: _between(unit, shifted(at, unit, -most), shifted(at, unit, -least)))


def _ahead(match: re.Match[str]) -> Name:
    unit, (least, most) = unit_named(match["ahead_unit"]), number(match["ahead_number"])
    return Name(lambda at: _between(unit, shifted(at, unit, least), shifted(at, unit, most)))


def _weekday(match: re.Match[str]) -> Name:
    weekday = WEEKDAYS.index(match["weekday"].lower())
    return Name(lambda at: nearest_weekday(weekday, at, "latest"), True, ON)


def _weekend(at: datetime, which: Which) -> Period:
    saturday = nearest_weekday(5, at - DAY if which == "last" else at, which).start
    return Period(saturday, saturday + 2 * DAY)


def _between(unit: Unit, first: datetime, last: datetime) -> Period:
    return Period(containing(unit, first).start, containing(unit, last).stop)


def _date(year: int, number_: int, day: int) -> Period:
    return containing("day", datetime(year, number_, day, tzinfo=UTC))


def _never(_: datetime) -> Period:
    raise ValueError("no such date")


def _month_number(name: str) -> int:
    return next(place for place, known in enumerate(MONTHS, 1) if known.startswith(name[:3].lower()))


def _which(word: str | None) -> Which:
    return "latest" if word is None else _THIS[word.lower()]


_READERS: Mapping[str, Callable[[re.Match[str]], Name]] = {
    "iso": _iso,
    "digits": _digits,
    "day_month": lambda match: _calendar_day(match["dm_month"], match["dm_day"], match["dm_year"]),
    "month_day": lambda match: _calendar_day(match["md_month"], match["md_day"], match["md_year"]),
    "month": _month,
    "season": _season,
    "quarter": _quarter,
    "decade": lambda match: _unit_of("decade", int(match["d_year"])),
    "year_quarter": lambda match: _unit_of("quarter", int(match["yq_year"]), 3 * int(match["yq_number"]) - 2),
    "year": lambda match: _unit_of("year", int(match["y_year"]), leads=IN),
    "around_today": lambda match: _days_away(-2 if "yesterday" in match["side"].lower() else 2),
    "named_day": lambda match: _days_away(_TODAY.get(" ".join(match["named_day"].lower().split()), 0)),
    "second": _second,
    "relative": _relative,
    "rolling": _rolling,
    "weekdays_ago": lambda match: _weekdays_away(match["wa_weekday"], -number(match["wa_number"])[1]),
    "ago": _ago,
    "ahead": _ahead,
    "weekday": _weekday,
    "weekend": lambda _: Name(lambda at: _weekend(at, "latest"), True, ON | IN | {"at"}),
}
