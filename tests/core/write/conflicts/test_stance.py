"""Texts that contradict nothing: questions, plans, the past, additions, quotations."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from muisti.core.write.conflicts.stance import comparable
from muisti.core.write.conflicts.words import read

STATEMENT = "The limit is 5 MB."


def alike(one: str, other: str) -> bool:
    return comparable(one, other, read(one), read(other))


@pytest.mark.parametrize(
    "other",
    [
        "Is the limit 9 MB?",
        "The limit might be 9 MB.",
        "We plan to raise the limit to 9 MB.",
        "The limit was 9 MB in 2020.",
        "The limit used to be 9 MB.",
        "The limit will be 9 MB.",
        "The other limit is 9 MB as well.",
        'The old manual says "the limit is 9 MB".',
    ],
)
def test_what_is_no_plain_statement_contradicts_none(other: str):
    assert not alike(STATEMENT, other) and not alike(other, STATEMENT)


@pytest.mark.parametrize("other", ["The limit is 9 MB.", "The limit was raised to 9 MB.", "The limit is now 9 MB."])
def test_a_statement_and_its_change_are_comparable(other: str):
    assert alike(STATEMENT, other)


def test_two_texts_of_one_stance_are_comparable():
    assert alike("Requests should be retried.", "Requests should not be retried.")
    assert not alike("Grad A: The lamp is on.", "Grad D: The lamp is off.")
    assert alike("Grad A: The lamp is on.", "Grad A: The lamp is off.")


@given(st.text(max_size=80), st.text(max_size=80))
def test_the_order_of_texts_does_not_matter(one: str, other: str):
    assert alike(one, other) == alike(other, one)
