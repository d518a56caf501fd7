from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from muisti.core.model.times import to_us
from muisti.core.text.discourse.signals import signals

MONDAY = to_us(datetime(2026, 11, 23, 10, tzinfo=UTC))
DAY = 86_400_000_000


@pytest.mark.parametrize(
    ("text", "acts"),
    [
        ("What is it", {"question"}),
        ("You went where?", {"question"}),
        ("Hello!", {"statement"}),
        ("", {"statement"}),
        ("Could you fix the build?", {"question", "request"}),
        ("Fix the login test.", {"request"}),
        ("Please, not today", {"request"}),
        ("I'm allergic to nuts.", {"statement", "preference"}),
        ("I really like long walks.", {"statement", "preference"}),
        ("I would like to know more.", {"request"}),
        ("Do I like tea?", {"question"}),
        ("Let's go with option B.", {"statement", "decision"}),
        ("I went with my kids.", {"statement"}),
        ("Don't forget the milk!", {"statement", "task"}),
        ("We have to pay the rent.", {"statement", "task"}),
        ("I moved. Do you know Turku?", {"statement", "question"}),
        ("これは何ですか？", {"question"}),
    ],
)
def test_acts(text: str, acts: set[str]) -> None:
    assert set(signals(text).acts) == acts


def test_an_assistant_states_no_preference_decision_or_task() -> None:
    text = "I love that! We decided well. You must rest."
    assert signals(text, author="Assistant").acts == ("statement",)
    assert set(signals(text, author="ann").acts) == {"statement", "preference", "decision", "task"}
    assert not signals(text, author="assistant").first_person


def test_times_count_from_the_reference() -> None:
    (span,) = signals("I'll call her tomorrow.", reference=MONDAY).times
    assert span.text == "tomorrow"
    assert span.start == MONDAY // DAY * DAY + DAY


@given(st.text())
def test_each_text_does_something(text: str) -> None:
    found = signals(text)
    assert found.acts
    assert list(dict.fromkeys(found.acts)) == list(found.acts)
