"""Read words that name a period: "7 May 2023", "last summer", "two days ago", "Q3", "the week before last"."""

import re
from collections.abc import Callable, Iterator, Mapping
from datetime import datetime
from typing import cast

from muisti.core.support.regex import regex
from muisti.core.text.when.patterns import (
    DECADES,
    FIRST,
    HOLIDAYS,
    MONTHS,
    NUMBER,
    ORDINALS,
    PERIOD,
    THIS,
    UNIT,
    WORD,
)
from muisti.core.text.when.periods import (
    DAY,
    Period,
    Unit,
    Which,
    Zone,
    containing,
    date,
    easter,
    iso_week,
    nearest,
    season,
    shifted,
    unit_of,
)
from muisti.core.text.when.relative import AT, IN, IN_LOWER, IN_SHORT, ON, RELATIVE, Name, never, weekday_number

_HALF_READ = regex(
    rf"(?:(?:{NUMBER})\s+(?:{UNIT})s?\s*,?\s*(?:and)?|\b(?:hundred|thousand)(?:\s+and)?|\d\s*[-/]"
    r"|\b(?:(?:more|less|fewer)\s+than|over|under|half|and\s+a))\s*$|\d[.,]$",
    re.IGNORECASE,
)
_COUNTED = ("ago", "ahead", "weekdays_ago")


def names(text: str, stop: int) -> Iterator[tuple[int, int, Name]]:
    """Yield every period that is named before `stop`: where its words start and stop, and their meaning."""
    done = 0
    for word in WORD.finditer(text, 0, stop):
        start = word.start()
        if start >= done and (not text[start].isalpha() or _begins(word[0].lower())):
            match = PERIOD.match(text, start)
            if match is None and text[start] in "'’":  # quoted, and not left out: '2024-05-01'
                start += 1
                match = PERIOD.match(text, start)
            if match is not None:
                done = match.end()
                group = cast(str, match.lastgroup)
                half = group in _COUNTED and _HALF_READ.search(text[max(0, start - 20) : start])
                yield start, done, Name(never) if half else _READERS[group](match)


def _begins(word: str) -> bool:
    return word in FIRST


# Dates


def _iso(match: re.Match[str]) -> Name:
    year, number_, day = int(match["iso_year"]), int(match["iso_month"]), match["iso_day"]
    if day is None and match["sep"] == "/":
        return Name(never)
    if day is None:
        return Name(lambda at: unit_of("month", year, number_, at.tzinfo))
    return Name(lambda at: date(year, number_, int(day), at.tzinfo))


def _digits(match: re.Match[str]) -> Name:
    """Read a date of digits, day first; a second number above 12 is the day instead (American order)."""
    one, two, year = int(match["one"]), int(match["two"]), int(match["digits_year"])
    return Name(lambda at: date(year, two, one, at.tzinfo) if two <= 12 else date(year, one, two, at.tzinfo))


def _day_month(match: re.Match[str]) -> Name:
    last = _day(match["dm_day"] or match["dm_word"])
    first = _day(match["dm_from"]) if match["dm_from"] else last
    return _days(match["dm_month"], (first, last), match["dm_weekday"], match["dm_year"])


def _month_day(match: re.Match[str]) -> Name:
    first = _day(match["md_day"] or match["md_word"])
    last = _day(match["md_to"]) if match["md_to"] else first
    return _days(match["md_month"], (first, last), match["md_weekday"], match["md_year"])


def _days(name: str, days: tuple[int, int], weekday: str | None, year: str | None) -> Name:
    """Return the days of a month from one to another. With a weekday, the year is one in which it is that day."""
    month, (first, last) = _month_number(name), days

    def make(year_: int, zone: Zone) -> Period:
        start = date(year_, month, first, zone)
        if weekday and year is None and start.start.weekday() != weekday_number(weekday):
            raise ValueError("another day of the week")
        return Period(start.start, date(year_, month, last, zone).stop)

    leads = ON | IN if name in ("may", "march") and year is None and weekday is None else None
    return _yearly(make, year, "latest", leads)


def _nth(match: re.Match[str]) -> Name:
    """Read a day without its month: "the 5th", "Monday the 5th", "the 5th of last month"."""
    day, weekday, which = _day(match["n_day"]), match["n_weekday"], (match["n_which"] or "").lower()
    if " of " in " ".join(match[0].lower().split()):
        count = {"last": -1, "next": 1}.get(which, 0)

        def within(at: datetime) -> Period:
            month = shifted(containing("month", at).start, "month", count)
            return date(month.year, month.month, day, at.tzinfo)

        return Name(within)

    def resolve(at: datetime) -> Period:
        month = containing("month", at).start
        for back in range(84 if weekday else 3):
            earlier = shifted(month, "month", -back)
            if day <= (shifted(earlier, "month", 1) - DAY).day:
                found = date(earlier.year, earlier.month, day, at.tzinfo)
                if found.start <= at and (not weekday or found.start.weekday() == weekday_number(weekday)):
                    return found
        raise ValueError("no such day")

    return Name(resolve, leads=None if weekday else ON)


# Months, seasons, quarters, years


def _month(match: re.Match[str]) -> Name:
    name, which, year = match["m_month"].lower(), match["m_which"], match["m_year"]
    certain = None if which and (name not in ("may", "march") or match["m_month"][0].isupper()) else IN
    month = _month_number(name)
    short = name not in MONTHS and name != "sept"
    leads = certain and (IN_SHORT if short else IN_LOWER if match["m_month"] in ("may", "march") else certain)
    return _yearly(lambda year, zone: unit_of("month", year, month, zone), year, _which(which), leads)


def _season(match: re.Match[str]) -> Name:
    name, which = match["s_name"].lower(), match["s_which"]
    leads = None if which else IN
    return _yearly(lambda year, zone: season(year, name, zone), match["s_year"], _which(which), leads)


def _holiday(match: re.Match[str]) -> Name:
    name, which = " ".join(match["h_name"].lower().replace("’", "'").split()), match["h_which"]
    month, day = HOLIDAYS[name.replace("years", "year's").replace("valentines", "valentine's")]

    def make(year: int, zone: Zone) -> Period:
        if month:
            return date(year, month, day, zone)
        if not day:
            return easter(year, zone)
        november = date(year, 11, 1, zone).start
        return containing("day", november + (21 + (3 - november.weekday()) % 7) * DAY)

    return _yearly(make, match["h_year"], _which(which), None if which else AT)


def _quarter(match: re.Match[str]) -> Name:
    year = match["q_year"] or match["q_fiscal"]
    return _part_of_year(match["q_number"], match["q_half"], year)


def _part_of_year(quarter: str | None, half: str | None, year: str | None) -> Name:
    unit: Unit = "quarter" if quarter else "half"
    first = 3 * int(quarter) - 2 if quarter else 6 * int(half or 1) - 5
    leads = IN if quarter else IN_SHORT
    return _yearly(lambda year, zone: unit_of(unit, year, first, zone), year, "latest", leads)


def _years(match: re.Match[str]) -> Name:
    first, last = int(match["ys_first"]), int(match["ys_last"])
    if first >= last:
        return Name(never)
    return Name(
        lambda at: Period(unit_of("year", first, 1, at.tzinfo).start, unit_of("year", last, 1, at.tzinfo).stop),
        leads=IN | {"from", "between"},
    )


def _short_decade(match: re.Match[str]) -> Name:
    """Read "the '90s": the latest decade of that name that has begun."""
    told = match["sd_mark"] or match["sd_bare"]
    tens = int(told) if told else DECADES[match["sd_word"].lower()]

    def resolve(at: datetime) -> Period:
        century = at.year // 100 * 100
        return unit_of("decade", century + tens if century + tens <= at.year else century - 100 + tens, 1, at.tzinfo)

    return Name(resolve, leads=None if match["sd_mark"] else IN)


def _calendar_week(match: re.Match[str]) -> Name:
    week, year = int(match["cw_number"]), match["cw_year"]
    leads = IN if week < 10 else None
    return _yearly(lambda year, zone: iso_week(year, week, zone), year, "latest", leads)


def _iso_week(match: re.Match[str]) -> Name:
    year, week = int(match["iw_year"]), int(match["iw_number"])
    return Name(lambda at: iso_week(year, week, at.tzinfo))


def _yearly(make: Callable[[int, Zone], Period], year: str | None, which: Which, leads: frozenset[str] | None) -> Name:
    """Return a yearly period: that of the named year, which is certain, or else the one that `which` selects."""
    if year is None:
        return Name(
            lambda at: nearest(lambda year: make(year, at.tzinfo), at, which),
            lambda at: nearest(lambda year: make(year, at.tzinfo), at, "next"),
            leads,
        )
    if year[-1].isdigit():
        number_ = _year_number(year)
        return Name(lambda at: make(number_, at.tzinfo))
    away = {"last": -1, "next": 1}.get(year.split()[0].lower(), 0)
    return Name(lambda at: make(at.year + away, at.tzinfo))


def _unit_of(unit: Unit, year: int, leads: frozenset[str] | None = None) -> Name:
    return Name(lambda at: unit_of(unit, year, 1, at.tzinfo), leads=leads)


# Numbers


def _month_number(name: str) -> int:
    return next(place for place, known in enumerate(MONTHS, 1) if known.startswith(name[:3].lower()))


def _day(words: str) -> int:
    if words[0].isdigit():
        return int(words.rstrip("sthndrSTHNDR"))
    return ORDINALS[words.lower().split()[-1]]


def _year_number(digits: str) -> int:
    """Return the year of "2023", "'23" or "95": of two digits it is from 1970 to 2069."""
    year = int(digits.lstrip("'’"))
    return year if year >= 100 else year + (1900 if year >= 70 else 2000)


def _which(word: str | None) -> Which:
    return "latest" if word is None else THIS[word.lower()]


_READERS: Mapping[str, Callable[[re.Match[str]], Name]] = {
    "iso_week": _iso_week,
    "iso": _iso,
    "digits": _digits,
    "month_year": lambda match: Name(
        lambda at: unit_of("month", int(match["my_year"]), int(match["my_month"]), at.tzinfo)
    ),
    "day_month": _day_month,
    "month_day": _month_day,
    "nth": _nth,
    "month": _month,
    "season": _season,
    "holiday": _holiday,
    "quarter": _quarter,
    "decade": lambda match: _unit_of("decade", int(match["d_year"])),
    "short_decade": _short_decade,
    "year_quarter": lambda match: _part_of_year(match["yq_number"], match["yh_number"], match["yq_year"]),
    "years": _years,
    "year": lambda match: _unit_of("year", int(match["y_year"]), leads=IN),
    "fiscal": lambda match: _unit_of("year", _year_number(match["f_year"])),
    "calendar_week": _calendar_week,
    **RELATIVE,
}
