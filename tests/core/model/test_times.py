"""Times: what goes in as microseconds comes out the same."""

from datetime import UTC, datetime, timedelta

from hypothesis import given
from hypothesis import strategies as st

from muisti.core.model.times import EPOCH, PRECISE, from_us, to_us

FIRST, LAST = to_us(datetime(1, 1, 1, tzinfo=UTC)), to_us(datetime.max.replace(tzinfo=UTC))


@given(st.one_of(st.integers(FIRST, LAST), st.integers(0, 2 * PRECISE), st.integers(PRECISE - 99, PRECISE + 99)))
def test_a_time_is_exact_to_the_microsecond(us: int):
    assert from_us(us) == EPOCH + timedelta(microseconds=us)
    assert to_us(from_us(us)) == us
    assert from_us(us).tzinfo is UTC
