"""Times in words, compared with dateutil and zoneinfo: phrases of a grammar, at any time, in any zone."""

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from itertools import product
from zoneinfo import ZoneInfo

import pytest
from dateutil.easter import easter
from dateutil.relativedelta import MO, relativedelta
from hypothesis import given
from hypothesis import strategies as st

from muisti.core.model.times import from_us, to_us
from muisti.core.text.when.time_spans import time_spans

Bounds = tuple[datetime | None, datetime | None]
Oracle = Callable[[datetime], Bounds]

ZONES = (
    *("UTC", "America/New_York", "Asia/Tokyo", "Asia/Kathmandu", "Australia/Lord_Howe", "Africa/Cairo"),
    *("America/Sao_Paulo", "Europe/Helsinki", "Pacific/Kiritimati", "America/St_Johns"),
)
DAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
MONTHS = (
    *("January", "February", "March", "April", "May", "June"),
    *("July", "August", "September", "October", "November", "December"),
)
COUNTS = {"1": 1, "two": 2, "three": 3, "a dozen": 12, "twenty": 20, "twenty-one": 21, "45": 45}
STEPS = {
    "day": relativedelta(days=1), "week": relativedelta(weeks=1), "month": relativedelta(months=1),
    "year": relativedelta(years=1), "quarter": relativedelta(months=3), "half": relativedelta(months=6),
    "decade": relativedelta(years=10),
}  # fmt: skip


def on(year: int, month: int, day: int) -> datetime:
    return datetime(year, month, day, tzinfo=UTC)


def day(at: datetime) -> datetime:
    return at.replace(hour=0, minute=0, second=0, microsecond=0, fold=0)


def first(unit: str, at: datetime) -> datetime:
    """Return when the unit around a moment begins."""
    at = day(at)
    if unit == "week":
        return at + relativedelta(weekday=MO(-1))
    months = {"month": 1, "quarter": 3, "half": 6}.get(unit, 12)
    if unit == "day":
        return at
    at = at.replace(day=1, month=(at.month - 1) // months * months + 1)
    return at.replace(year=at.year // 10 * 10) if unit == "decade" else at


def unit(name: str, away: int = 0, back: relativedelta | None = None) -> Oracle:
    """Return the oracle of a calendar unit: the one around the reference less `back`, then so many away."""

    def oracle(at: datetime) -> Bounds:
        start = first(name, at - (back or relativedelta())) + away * STEPS[name]
        return start, start + STEPS[name]

    return oracle


def since(back: relativedelta) -> Oracle:
    return lambda at: (at - back, at)


def weekday(number: int, least: int, weeks: int = 0) -> Oracle:
    """Return the oracle of the last such day at least so many days before the reference, and weeks before that."""

    def oracle(at: datetime) -> Bounds:
        start = day(at) - timedelta(days=least)
        start -= timedelta(days=(start.weekday() - number) % 7 + 7 * weeks)
        return start, start + timedelta(days=1)

    return oracle


def latest(make: Callable[[int], datetime], length: relativedelta) -> Oracle:
    """Return the oracle of the latest period of a year that has begun."""

    def oracle(at: datetime) -> Bounds:
        start = make(at.year).replace(tzinfo=at.tzinfo)
        start = start if start <= at else make(at.year - 1).replace(tzinfo=at.tzinfo)
        return start, start + length

    return oracle


def fixed(start: datetime | None, stop: datetime | None) -> Oracle:
    return lambda at: (start and start.replace(tzinfo=at.tzinfo), stop and stop.replace(tzinfo=at.tzinfo))


def hours(count: int) -> Oracle:
    return lambda at: ((at.astimezone(UTC) - timedelta(hours=count)).astimezone(at.tzinfo), at)


def of_month(number: int) -> Oracle:
    def oracle(at: datetime) -> Bounds:
        start = day(at)
        while start.day != number:
            start -= timedelta(days=1)
        return start, start + timedelta(days=1)

    return oracle


def _phrases() -> dict[str, Oracle]:
    one = relativedelta
    found: dict[str, Oracle] = {
        "today": unit("day"), "yesterday": unit("day", -1), "tomorrow": unit("day", 1),
        "the day before yesterday": unit("day", -2), "a fortnight ago": unit("week", -2),
        "last hour": hours(1), "the past 24h": hours(24), "the last 48 hours": hours(48),
        "FY2024": fixed(on(2024, 1, 1), on(2025, 1, 1)), "in Q4 FY24": fixed(on(2024, 10, 1), on(2025, 1, 1)),
        "in 2025 Q3": fixed(on(2025, 7, 1), on(2025, 10, 1)), "H1 2025": fixed(on(2025, 1, 1), on(2025, 7, 1)),
        "from Nov 2025 to Feb": fixed(on(2025, 11, 1), on(2026, 3, 1)),
        "in 2019-2021": fixed(on(2019, 1, 1), on(2022, 1, 1)),
        "before 7 May 2023": fixed(None, on(2023, 5, 7)), "until June 2023": fixed(None, on(2023, 7, 1)),
        "since 7 May 2023": fixed(on(2023, 5, 7), None), "after 2021": fixed(on(2022, 1, 1), None),
        "last 3 days of May 2023": fixed(on(2023, 5, 29), on(2023, 6, 1)),
        "May 5-7, 2023": fixed(on(2023, 5, 5), on(2023, 5, 8)),
        "at Easter": latest(lambda year: on(easter(year).year, easter(year).month, easter(year).day), one(days=1)),
        "on the fourth of July": latest(lambda year: on(year, 7, 4), one(days=1)),
        "at Christmas": latest(lambda year: on(year, 12, 25), one(days=1)),
        "on New Year's Eve": latest(lambda year: on(year, 12, 31), one(days=1)),
        "since the summer": lambda at: (latest(lambda year: on(year, 6, 1), one(months=3))(at)[0], None),
    }  # fmt: skip
    found |= {f"on the {number}th": of_month(number) for number in (4, 5, 12, 15, 28, 30)}
    for name, step in STEPS.items():
        if name != "half":
            found |= {f"{word} {name}": unit(name, away) for word, away in (("last", -1), ("this", 0), ("next", 1))}
            found[f"the {name} before last"] = unit(name, -2)
        if name in ("day", "week", "month", "year"):
            for words, count in COUNTS.items():
                found[f"{words} {name}s ago"] = unit(name, 0, step * count)
                found[f"the last {words} {name}s"] = since(step * count)
    for word in ("last day", "this day", "next day", "the day before last", "the decade before last"):
        del found[word]
    for number, name in enumerate(DAYS):
        found |= {f"on {name}": weekday(number, 0), f"last {name}": weekday(number, 1)}
        found |= {f"on {name[:3]}": weekday(number, 0), f"the {name} before last": weekday(number, 1, 1)}
        found |= {f"two {name}s ago": weekday(number, 1, 1), f"{name} last week": _of_last_week(number)}
    for (number, name), year in product(enumerate(MONTHS, 1), (1999, 2024)):
        start = on(year, number, 1)
        found |= dict.fromkeys(
            (f"in {name} {year}", f"in {name[:3]} '{year % 100:02}", f"{year}-{number:02}"),
            fixed(start, start + one(months=1)),
        )
        found[f"on {name} 9th, {year}"] = fixed(on(year, number, 9), on(year, number, 10))
        found[f"in {name}"] = latest(lambda year, number=number: on(year, number, 1), one(months=1))
    for week in (1, 9, 23, 52):
        start = on(2025, 1, 6) + timedelta(weeks=week - 2)
        found |= dict.fromkeys((f"2025-W{week:02}", f"week {week} of 2025"), fixed(start, start + one(weeks=1)))
    return found


def _of_last_week(number: int) -> Oracle:
    def oracle(at: datetime) -> Bounds:
        start = first("week", at) - timedelta(days=7 - number)
        return start, start + timedelta(days=1)

    return oracle


PHRASES = _phrases()


def test_there_are_many_phrases():
    assert len(PHRASES) >= 200


@pytest.mark.parametrize("frame", ["{}", "What did we say {}?", "notes, {}, of the boat"])
@given(
    words=st.sampled_from(sorted(PHRASES)),
    at=st.integers(to_us(on(1980, 1, 1)), to_us(on(2035, 1, 1))).map(from_us),
    zone=st.sampled_from(ZONES).map(ZoneInfo),
)
def test_words_name_the_time_that_dateutil_computes(frame: str, words: str, at: datetime, zone: ZoneInfo):
    start, stop = (None if one is None else to_us(one) for one in PHRASES[words](at.astimezone(zone)))
    skipped = start is not None and start == stop  # Kiritimati had no 31 December 1994
    found = [(span.start, span.stop) for span in time_spans(frame.format(words), to_us(at), zone)]
    assert found == ([] if skipped else [(start, stop)])
