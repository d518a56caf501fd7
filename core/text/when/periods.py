"""Find stretches of the calendar: the day, week or season around a moment, and the nearest period of a name.

Moments are datetimes in the zone of whoever asks, whose days count as they are on a calendar there. Hours and minutes
are those of a clock that runs on. Weeks begin on Monday (ISO 8601). Seasons are whole months of the northern
hemisphere; winter belongs to the year in which it begins. A fiscal year is taken as the calendar year.
"""

from collections.abc import Callable, Iterable
from datetime import UTC, datetime, timedelta, tzinfo
from itertools import chain
from typing import Literal, NamedTuple

Unit = Literal["minute", "hour", "day", "week", "weekend", "month", "quarter", "half", "year", "decade"]
Zone = tzinfo | None  # None does not occur: the type of `datetime.tzinfo` has it
Which = Literal["latest", "last", "this", "next"]

DAY = timedelta(days=1)
_STEPS: dict[Unit, timedelta] = {"minute": timedelta(minutes=1), "hour": timedelta(hours=1), "day": DAY}
_MONTHS: dict[Unit, int] = {"month": 1, "quarter": 3, "half": 6, "year": 12, "decade": 120}
SEASONS = {"spring": 3, "summer": 6, "autumn": 9, "fall": 9, "winter": 12}


class Period(NamedTuple):
    """A period `[start, stop)`."""

    start: datetime
    stop: datetime

    @property
    def length(self) -> timedelta:
        return self.stop - self.start

    def fraction(self, low: float, high: float) -> "Period":
        """Return the part between two fractions of the length, in whole months or days where it is long enough."""
        months = 12 * (self.stop.year - self.start.year) + self.stop.month - self.start.month
        if months % 6 == 0 and self.start.day == self.stop.day == 1:
            return Period(*(shifted(self.start, "month", round(months * part)) for part in (low, high)))
        step = DAY if self.length > 3 * DAY else _STEPS["minute"]
        return Period(*(self.start + round(self.length * part / step) * step for part in (low, high)))


def midnight(at: datetime) -> datetime:
    return at.replace(hour=0, minute=0, second=0, microsecond=0, fold=0)


def elapsed(at: datetime, span: timedelta) -> datetime:
    """Return the moment at which a clock that runs on shows so much more."""
    return (at.astimezone(UTC) + span).astimezone(at.tzinfo)


def shifted(at: datetime, unit: Unit, count: int) -> datetime:
    """Return the moment `count` units later. In a month that is too short, it is the last day.

    Raises:
        OverflowError, ValueError: outside the years 1 to 9999.

    >>> shifted(datetime(2024, 3, 31, tzinfo=UTC), "month", -1).isoformat()
    '2024-02-29T00:00:00+00:00'
    >>> shifted(datetime(2024, 3, 31, 23, tzinfo=UTC), "month", -1).isoformat()
    '2024-02-29T23:00:00+00:00'
    """
    if unit in ("minute", "hour"):
        return elapsed(at, count * _STEPS[unit])
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
        return Period(elapsed(at, -_STEPS[unit] / 2), elapsed(at, _STEPS[unit] / 2))
    day = midnight(at)
    if unit == "day":
        return Period(day, day + DAY)
    if unit in ("week", "weekend"):
        monday = day - day.weekday() * DAY
        return Period(monday + (5 * DAY if unit == "weekend" else 0 * DAY), monday + 7 * DAY)
    months = _MONTHS[unit]
    count = 12 * day.year + day.month - 1
    count -= count % months
    start = datetime(count // 12, count % 12 + 1, 1, tzinfo=at.tzinfo)
    return Period(start, shifted(start, unit, 1))


def unit_of(unit: Unit, year: int, month: int, zone: Zone) -> Period:
    """Return the unit that contains the first day of a month."""
    return containing(unit, datetime(year, month, 1, tzinfo=zone))


def date(year: int, month: int, day: int, zone: Zone) -> Period:
    return containing("day", datetime(year, month, day, tzinfo=zone))


def season(year: int, name: str, zone: Zone) -> Period:
    start = datetime(year, SEASONS[name], 1, tzinfo=zone)
    return Period(start, shifted(start, "quarter", 1))


def iso_week(year: int, number: int, zone: Zone) -> Period:
    """Return a week of ISO 8601.

    Raises:
        ValueError: the year has no week of that number.
    """
    return containing("week", datetime.fromisocalendar(year, number, 1).replace(tzinfo=zone))


def easter(year: int, zone: Zone) -> Period:
    """Return Easter Sunday: Meeus, "Astronomical Algorithms", 1991, chapter 8."""
    century, of_century = divmod(year, 100)
    epact = (19 * (year % 19) + century - century // 4 - (century - (century + 8) // 25 + 1) // 3 + 15) % 30
    weekday = (32 + 2 * (century % 4) + 2 * (of_century // 4) - epact - of_century % 4) % 7
    days = epact + weekday - 7 * ((year % 19 + 11 * epact + 22 * weekday) // 451) + 114
    return date(year, days // 31, days % 31 + 1, zone)


def nearest(yearly: Callable[[int], Period], at: datetime, which: Which) -> Period:
    """Return a yearly period: the `latest` that has begun by `at`, the `last` that is over, this year's, or the `next`.

    Raises:
        ValueError: there is none within nine years, or in this one.

    >>> at = datetime(2024, 6, 15, tzinfo=UTC)
    >>> nearest(lambda year: unit_of("month", year, 6, UTC), at, "last").start.isoformat()
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
