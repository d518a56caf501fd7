"""Values that are equal in other words."""

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from muisti.core.write.conflicts.quantities import class_of, equal
from muisti.core.write.conflicts.words import read

SIZES = {"ms": 1, "seconds": 1_000, "s": 1_000, "minutes": 60_000, "hours": 3_600_000, "days": 86_400_000}


@given(st.integers(1, 5_000), st.integers(1, 5_000), st.sampled_from(list(SIZES)), st.sampled_from(list(SIZES)))
def test_two_lengths_of_time_are_equal_when_they_are(one: int, other: int, unit: str, other_unit: str):
    found = equal(read(f"{one} {unit}"), read(f"{other} {other_unit}"))
    assert found == (Fraction(one) * SIZES[unit] == Fraction(other) * SIZES[other_unit])


@given(st.integers(0, 23), st.integers(0, 59))
def test_a_time_of_day_is_the_same_on_both_clocks(hour: int, minute: int):
    half = f"{hour % 12 or 12}:{minute:02} {'PM' if hour >= 12 else 'AM'}"
    assert equal(read(half), read(f"{hour}:{minute:02}"))
    assert not equal(read(half), read(f"{(hour + 12) % 24}:{minute:02}"))


@pytest.mark.parametrize(
    ("value", "kind"),
    [
        ("5 MB", "number"),
        ("5MB", "number"),
        ("twice", "number"),
        ("30 minutes", "number"),
        ("May 3", "date"),
        ("14:00", "date"),
        ("QX-991", "name"),
        ("slowly", None),
    ],
)
def test_a_value_has_a_class(value: str, kind: str | None):
    assert class_of(read(value)) == kind


def test_versions_with_several_points_are_equal_only_to_themselves():
    assert equal(read("1.2.31"), read("1.2.31"))
    assert not equal(read("1.2.31"), read("1.23.1"))
