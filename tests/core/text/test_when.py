"""Time words: what they name, what they must not be taken for, and what they do to a ranking."""

import re
from datetime import UTC, datetime, timedelta

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from muisti.core.model.times import DAY_US, from_us, to_us
from muisti.core.text.when.time_spans import (
    LONGEST,
    NEAR,
    WEIGHT,
    TimeSpan,
    of_events,
    time_factor,
    time_match,
    time_spans,
)

WEDNESDAY = to_us(datetime(2023, 11, 22, 15, 30, tzinfo=UTC))
CYCLE_US = 146_097 * DAY_US  # 400 years, after which the calendar repeats, days of the week included


def moment(us: int | None) -> str:
    return "" if us is None else from_us(us).strftime("%Y-%m-%d %H:%M").removesuffix(" 00:00")


def named(text: str, reference: int = WEDNESDAY) -> list[tuple[str, str, str]]:
    return [(span.text, moment(span.start), moment(span.stop)) for span in time_spans(text, reference)]


ONE = [
    # days
    ("what happened yesterday?", "yesterday", "2023-11-21", "2023-11-22"),
    ("today's notes", "today", "2023-11-22", "2023-11-23"),
    ("this morning", "this morning", "2023-11-22", "2023-11-23"),
    ("the day before yesterday", "the day before yesterday", "2023-11-20", "2023-11-21"),
    ("two days ago", "two days ago", "2023-11-20", "2023-11-21"),
    ("two Fridays ago", "two Fridays ago", "2023-11-10", "2023-11-11"),
    ("a Wednesday ago", "a Wednesday ago", "2023-11-15", "2023-11-16"),
    ("the Friday before last", "the Friday before last", "2023-11-10", "2023-11-11"),
    ("the Tuesday after next", "the Tuesday after next", "2023-12-05", "2023-12-06"),
    ("in 2025 Q3", "in 2025 Q3", "2025-07-01", "2025-10-01"),
    ("Who spoke on 7 May 2023?", "on 7 May 2023", "2023-05-07", "2023-05-08"),
    ("on October 13, 2023", "on October 13, 2023", "2023-10-13", "2023-10-14"),
    ("the 1st of February, 2022", "the 1st of February, 2022", "2022-02-01", "2022-02-02"),
    ("dec 24th", "dec 24th", "2022-12-24", "2022-12-25"),
    ("ON MAY 22", "ON MAY 22", "2023-05-22", "2023-05-23"),
    ("log of 2023-05-07", "of 2023-05-07", "2023-05-07", "2023-05-08"),
    ("since 2023-05-07T10:00:00Z", "since 2023-05-07T10:00:00Z", "2023-05-07", ""),
    ("13/10/2023", "13/10/2023", "2023-10-13", "2023-10-14"),
    ("03/04/2023", "03/04/2023", "2023-04-03", "2023-04-04"),
    ("10/13/2023", "10/13/2023", "2023-10-13", "2023-10-14"),
    ("29 February", "29 February", "2020-02-29", "2020-03-01"),
    ("dayjs('2022-01-01T12:00')", "2022-01-01T12:00", "2022-01-01", "2022-01-02"),
    ("March 1 - March 7, 2024", "March 1 - March 7, 2024", "2024-03-01", "2024-03-08"),
    ("pictures from last night - a blast", "from last night", "2023-11-21", "2023-11-22"),
    ("on the fourth of July", "on the fourth of July", "2023-07-04", "2023-07-05"),
    ("July the 4th", "July the 4th", "2023-07-04", "2023-07-05"),
    ("May 5-7, 2023", "May 5-7, 2023", "2023-05-05", "2023-05-08"),
    ("the trip of May 5 ’22", "of May 5 ’22", "2022-05-05", "2022-05-06"),
    ("on the 5th", "on the 5th", "2023-11-05", "2023-11-06"),
    ("the 5th of last month", "the 5th of last month", "2023-10-05", "2023-10-06"),
    ("Monday the 20th", "Monday the 20th", "2023-11-20", "2023-11-21"),
    ("on Monday, May 22", "on Monday, May 22", "2023-05-22", "2023-05-23"),
    ("3d ago", "3d ago", "2023-11-19", "2023-11-20"),
    ("twenty-one days ago", "twenty-one days ago", "2023-11-01", "2023-11-02"),
    ("last Christmas", "last Christmas", "2022-12-25", "2022-12-26"),
    ("on Thanksgiving", "on Thanksgiving", "2022-11-24", "2022-11-25"),
    # days of the week
    ("on Tues", "on Tues", "2023-11-21", "2023-11-22"),
    ("last week on Tuesday", "last week on Tuesday", "2023-11-14", "2023-11-15"),
    ("on Wednesday", "on Wednesday", "2023-11-22", "2023-11-23"),
    ("last Wednesday", "last Wednesday", "2023-11-15", "2023-11-16"),
    ("on Friday", "on Friday", "2023-11-17", "2023-11-18"),
    ("this Friday", "this Friday", "2023-11-24", "2023-11-25"),
    ("next Tuesday", "next Tuesday", "2023-11-28", "2023-11-29"),
    ("the first Monday of October", "the first Monday of October", "2023-10-02", "2023-10-03"),
    ("the last Friday in May 2022", "the last Friday in May 2022", "2022-05-27", "2022-05-28"),
    # weeks and weekends
    ("last week", "last week", "2023-11-13", "2023-11-20"),
    ("this week", "this week", "2023-11-20", "2023-11-27"),
    ("the week before last", "the week before last", "2023-11-06", "2023-11-13"),
    ("a couple of weeks ago", "a couple of weeks ago", "2023-11-06", "2023-11-13"),
    ("over the weekend", "over the weekend", "2023-11-18", "2023-11-20"),
    ("last weekend", "last weekend", "2023-11-18", "2023-11-20"),
    ("the week of July 10", "the week of July 10", "2023-07-10", "2023-07-17"),
    ("in 2 weeks' time", "in 2 weeks' time", "2023-12-04", "2023-12-11"),
    ("a fortnight ago", "a fortnight ago", "2023-11-06", "2023-11-13"),
    ("two or three weeks ago", "two or three weeks ago", "2023-10-30", "2023-11-13"),
    ("in week 23", "in week 23", "2023-06-05", "2023-06-12"),
    ("week 23 of 2025", "week 23 of 2025", "2025-06-02", "2025-06-09"),
    # months, quarters, seasons
    ("in May ’22", "in May ’22", "2022-05-01", "2022-06-01"),
    ("in May last year", "in May last year", "2022-05-01", "2022-06-01"),
    ("in Nov", "in Nov", "2023-11-01", "2023-12-01"),
    ("in Q4 FY24", "in Q4 FY24", "2024-10-01", "2025-01-01"),
    ("H1 2025", "H1 2025", "2025-01-01", "2025-07-01"),
    ("in May 2023", "in May 2023", "2023-05-01", "2023-06-01"),
    ("in may", "in may", "2023-05-01", "2023-06-01"),
    ("in December", "in December", "2022-12-01", "2023-01-01"),
    ("last June", "last June", "2023-06-01", "2023-07-01"),
    ("2023-05", "2023-05", "2023-05-01", "2023-06-01"),
    ("last month", "last month", "2023-10-01", "2023-11-01"),
    ("Q1 2022", "Q1 2022", "2022-01-01", "2022-04-01"),
    ("in Q3", "in Q3", "2023-07-01", "2023-10-01"),
    ("last summer", "last summer", "2023-06-01", "2023-09-01"),
    ("summer of 2022", "summer of 2022", "2022-06-01", "2022-09-01"),
    ("this winter", "this winter", "2023-12-01", "2024-03-01"),
    ("in the fall", "in the fall", "2023-09-01", "2023-12-01"),
    ("before the trip in June", "in June", "2023-06-01", "2023-07-01"),
    # years
    ("in 2021", "in 2021", "2021-01-01", "2022-01-01"),
    ("in the year 2020", "in the year 2020", "2020-01-01", "2021-01-01"),
    ("last year", "last year", "2022-01-01", "2023-01-01"),
    ("10 years ago", "10 years ago", "2013-01-01", "2014-01-01"),
    ("in the 1990s", "in the 1990s", "1990-01-01", "2000-01-01"),
    ("FY2024", "FY2024", "2024-01-01", "2025-01-01"),
    ("the '90s", "the '90s", "1990-01-01", "2000-01-01"),
    ("back in the nineties", "back in the nineties", "1990-01-01", "2000-01-01"),
    # parts
    ("mid to late 2022", "mid to late 2022", "2022-05-01", "2023-01-01"),
    ("last 3 days of May", "last 3 days of May", "2023-05-29", "2023-06-01"),
    ("late 2022", "late 2022", "2022-09-01", "2023-01-01"),
    ("in the first half of September 2022", "in the first half of September 2022", "2022-09-01", "2022-09-16"),
    ("second week of November", "second week of November", "2023-11-08", "2023-11-15"),
    # to and fro
    ("the last 3 days", "the last 3 days", "2023-11-19 15:30", "2023-11-22 15:30"),
    ("past week", "past week", "2023-11-15 15:30", "2023-11-22 15:30"),
    ("an hour ago", "an hour ago", "2023-11-22 14:00", "2023-11-22 15:00"),
    ("the week before 16 November 2023", "the week before 16 November 2023", "2023-11-09", "2023-11-16"),
    ("two weeks before August 11, 2023", "two weeks before August 11, 2023", "2023-07-25", "2023-08-01"),
    ("last weekend before April 10, 2023", "last weekend before April 10, 2023", "2023-04-08", "2023-04-10"),
    ("the Sunday before October 25, 2022", "the Sunday before October 25, 2022", "2022-10-23", "2022-10-24"),
    ("the day after 7 May 2023", "the day after 7 May 2023", "2023-05-08", "2023-05-09"),
    ("last hour", "last hour", "2023-11-22 14:30", "2023-11-22 15:30"),
    ("past 24h", "past 24h", "2023-11-21 15:30", "2023-11-22 15:30"),
    # open, and from one to another
    ("before 7 May 2023", "before 7 May 2023", "", "2023-05-07"),
    ("after 2021", "after 2021", "2022-01-01", ""),
    ("since last week", "since last week", "2023-11-13", ""),
    ("until June", "until June", "", "2023-07-01"),
    ("by July 10, 2022", "by July 10, 2022", "", "2022-07-11"),
    ("between August 11 and August 15 2022", "between August 11 and August 15 2022", "2022-08-11", "2022-08-16"),
    ("from May to July 2022", "from May to July 2022", "2022-05-01", "2022-08-01"),
    ("from 2019 to 2021", "from 2019 to 2021", "2019-01-01", "2022-01-01"),
    ("from Nov 2025 to Feb", "from Nov 2025 to Feb", "2025-11-01", "2026-03-01"),
    ("Q1–Q3 2022", "Q1–Q3 2022", "2022-01-01", "2022-10-01"),
    ("in 2019–2021", "in 2019–2021", "2019-01-01", "2022-01-01"),
    ("between last week and yesterday", "between last week and yesterday", "2023-11-13", "2023-11-22"),
]


@pytest.mark.parametrize(("text", "words", "start", "stop"), ONE, ids=[row[0] for row in ONE])
def test_a_time_that_is_named(text: str, words: str, start: str, stop: str):
    assert named(text) == [(words, start, stop)]


NONE = [
    "May I ask what you may do?",
    "this may be so, and the last may not",
    "it may 3 times fail",
    "they march on, second to none, in the sun",
    "what April said to June about August",
    "my last fall, our next spring",
    "the fall",
    "he did it in 2 weeks",
    "version 3.5, 2.0.2023.1 and v2023",
    "an essay in 2000 words",
    "sold 2023 tickets, $2024, #1999",
    "the last year of school",
    "half a year ago",
    "30 February 2023",
    "2023-13-45 and 45/45/2023",
    "half past three, the next day",
    "on Good Friday",
    "2.5 weeks ago, a year and two months ago, two and a half years ago, a hundred and twenty days ago",
    "over a year ago, more than a week ago, a week ago Friday",
    "from Nov 2025 to the wedding, from 2019 to Berlin",
    "in 2019–21, in 1995-96, in 2000 BC",
    "on the 5th floor, the 1st try",
    "every last Friday, on Fridays, each Monday",
    "Jan said that the sun sat, for Jan, may first",
    "last minute changes",
    "the Christmas tree",
    "week 7, day 3",
    "",
]


@pytest.mark.parametrize(
    ("text", "kept"),
    [
        ("What must be done by Friday?", []),
        ("Which report is due on 12 March?", []),
        ("What expires tomorrow?", []),
        ("Is the deadline set for next week?", []),
        ("What is due on Friday, and what did Ann say on Monday?", ["on Monday"]),
        ("What did Ann say on Friday about the invoice due on Friday?", ["on Friday"]),
        ("How many games had Ann won by July?", ["by July"]),
        ("What was to be done by July?", []),
        ("What did we agree last week?", ["last week"]),
    ],
)
def test_a_deadline_is_no_date_of_an_event(text: str, kept: list[str]):
    assert [span.text for span in of_events(text, time_spans(text, WEDNESDAY))] == kept


@pytest.mark.parametrize("text", NONE)
def test_no_time(text: str):
    assert named(text) == []


def test_several_times_winters_and_long_texts():
    assert named("What changed in May and June 2022, and since last week?") == [
        ("in May", "2022-05-01", "2022-06-01"),
        ("and June 2022", "2022-06-01", "2022-07-01"),
        ("since last week", "2023-11-13", ""),
    ]
    january = to_us(datetime(2024, 1, 10, tzinfo=UTC))  # winter counts from the year in which it begins
    assert named("this winter", january) == [("this winter", "2023-12-01", "2024-03-01")]
    assert named("last winter", january) == [("last winter", "2022-12-01", "2023-03-01")]
    assert named("x" * LONGEST + " in May 2023") == []


times = st.integers(to_us(datetime(1600, 1, 1, tzinfo=UTC)), to_us(datetime(2400, 1, 1, tzinfo=UTC)))
texts = st.sampled_from([row[0] for row in ONE])
IN_YEAR = re.compile(r"\d{4}|’\d\d\b|FY\d")
RELATIVE = [row[0] for row in ONE if not IN_YEAR.search(row[0])]
DATES = [row[0] for row in ONE if IN_YEAR.search(row[0])]


@given(text=texts, reference=times)
def test_spans_are_never_empty(text: str, reference: int):
    for span in time_spans(text, reference):
        assert span.start is None or span.stop is None or span.start < span.stop
        assert (span.unit > 0) == (span.start is None or span.start <= reference)
        assert span.text in text


@given(text=st.sampled_from(RELATIVE), reference=times)
def test_relative_words_move_with_the_reference(text: str, reference: int):
    def moved(span: TimeSpan, by: int) -> tuple[int | None, int | None]:
        return tuple(None if at is None else at + by for at in (span.start, span.stop))

    here, there = time_spans(text, reference), time_spans(text, reference + CYCLE_US)
    assert [moved(span, CYCLE_US) for span in here] == [moved(span, 0) for span in there]


@given(text=st.sampled_from(DATES), first=times, second=times)
def test_dates_do_not_depend_on_the_reference(text: str, first: int, second: int):
    here, there = time_spans(text, first), time_spans(text, second)
    assert [(span.start, span.stop) for span in here] == [(span.start, span.stop) for span in there]


words = st.sampled_from(
    ["the", "last", "next", "3", "two", "a", "may", "May", "week", "weeks", "before", "after", "of", "in", "on", "2023"]
    + [
        "-", ",", "to", "and", "5", "ago", "Friday", "summer", "Q3", "first", "late", "between", "from", "decades",
        "900",
    ]
)  # fmt: skip


@given(
    text=st.one_of(st.text(), st.lists(words).map(" ".join)),
    reference=st.sampled_from(
        [WEDNESDAY, to_us(datetime.min.replace(tzinfo=UTC)), to_us(datetime.max.replace(tzinfo=UTC))]
    ),
)
def test_any_text_at_any_time_is_read(text: str, reference: int):
    for span in time_spans(text, reference):
        assert span.text in text


spans = st.lists(
    st.builds(
        lambda start, length: TimeSpan(start, start + length, "then", length), times, st.integers(1, 1000 * DAY_US)
    ),
    min_size=1,
    max_size=3,
)


@given(spans=spans, at=st.lists(times, min_size=1), weight=st.floats(0, 1))
def test_the_factor_is_bounded_and_whole_within_the_span(spans: list[TimeSpan], at: list[int], weight: float):
    factors = time_factor(spans, np.array(at), weight)
    assert ((factors >= 1 - weight - 1e-12) & (factors <= 1)).all()
    inside = [any(span.start <= one < span.stop for span in spans if span.start and span.stop) for one in at]
    assert (factors[inside] == 1).all()


@given(at=times, far=st.integers(0, 10_000), farther=st.integers(0, 10_000))
def test_the_factor_falls_with_the_distance(at: int, far: int, farther: int):
    span = TimeSpan(at, at + DAY_US, "that day", DAY_US)
    for side in (at - np.array([far, far + farther]) * DAY_US, at + np.array([far, far + farther]) * DAY_US):
        near, away = time_factor([span], side)
        assert near >= away


def test_a_longer_unit_forgives_more():
    assert time_factor((), np.array([1, 2])).tolist() == [1, 1] and time_match((), 1) is None
    day, year = (TimeSpan(0, unit, "then", unit) for unit in (DAY_US, 365 * DAY_US))
    later = timedelta(days=30) // timedelta(microseconds=1)
    assert time_factor([year], np.array([365 * DAY_US + later]))[0] > time_factor([day], np.array([DAY_US + later]))[0]
    assert time_factor([day], np.array([DAY_US + NEAR]))[0] == pytest.approx(1 - WEIGHT * (1 - np.exp(-1)))


def test_what_lies_ahead_prefers_only_what_is_dated_there():
    (span,) = time_spans("plans for next week", WEDNESDAY)
    assert span.start is not None
    at = np.array([WEDNESDAY, WEDNESDAY - 90 * DAY_US, span.start])
    assert time_factor([span], at).tolist() == [1 - WEIGHT, 1 - WEIGHT, 1]


@given(spans=spans, at=times)
def test_what_is_explained_is_what_was_counted(spans: list[TimeSpan], at: int):
    match = time_match(spans, at)
    assert match is not None
    assert match.factor == time_factor(spans, np.array([at]))[0]
