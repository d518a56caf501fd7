"""Times: microseconds since 1970 inside the core, timezone-aware UTC datetimes in values."""

import time
from collections.abc import Callable
from datetime import UTC, datetime, timedelta

Clock = Callable[[], int]  # microseconds since 1970, UTC

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
MICROSECOND = timedelta(microseconds=1)
PRECISE = 1 << 51  # microseconds, in the year 2041; a float of seconds is exact to a quarter of one up to here
SECOND_US = 1_000_000
DAY_US = 86_400_000_000


def system_clock() -> int:
    """Return the microseconds since 1970, UTC, by the clock of this machine."""
    return time.time_ns() // 1000


def to_us(at: datetime) -> int:
    """Return the microseconds between 1970 (UTC) and a timezone-aware datetime.

    >>> to_us(datetime(1970, 1, 1, 0, 0, 1, tzinfo=UTC))
    1000000
    """
    return (at - EPOCH) // MICROSECOND


def from_us(us: int) -> datetime:
    """Return the UTC datetime of `us` (microseconds since 1970), exact to the microsecond.

    >>> from_us(1_790_000_000_123_457).microsecond, from_us(-1).microsecond
    (123457, 999999)
    """
    if 0 <= us < PRECISE:
        return datetime.fromtimestamp(us / 1_000_000, UTC)
    return EPOCH + timedelta(microseconds=us)
