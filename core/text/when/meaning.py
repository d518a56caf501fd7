"""Describe the meaning of words that name a period, and the words that must come before some of them."""

from collections.abc import Callable
from datetime import datetime

import msgspec

from muisti.core.text.when.patterns import WEEKDAYS
from muisti.core.text.when.periods import Period

Resolve = Callable[[datetime], Period]
"""The period that words name, for a reference. Raises ValueError or OverflowError when there is none."""

IN_SHORT = frozenset({"in", "during", "since", "until", "till"})
"""Words after which "Jan" or "Dec" is a month, and "h1" a half of a year."""
IN_LOWER = IN_SHORT | {"of", "as of", "back in"}
"""Words after which a month stands that is also a verb, in lower case: "may", "march"."""
IN = IN_LOWER | {"by", "before", "after", "prior to", "up to", "for", "throughout", "over", "within"}
"""The same for other months, seasons and years."""
# fmt: off
ON = frozenset({
    "on", "since", "until", "till", "by", "before", "after", "prior to", "up to", "as of", "over", "for", "around",
})
"""The same for days of the week."""
# fmt: on
AT = IN | {"at", "on", "around"}
"""The same for holidays."""


class Name(msgspec.Struct, frozen=True):
    """The meaning of a match.

    `following` is set where words leave out the year, and `resolve` takes the latest by the reference; it takes the
    next after a moment. `leads`: it is certainly a time only after one of these words. None: always.
    """

    resolve: Resolve
    following: Resolve | None = None
    leads: frozenset[str] | None = None


def never(_: datetime) -> Period:
    raise ValueError("no such period")


def weekday_number(name: str) -> int:
    return next(place for place, known in enumerate(WEEKDAYS) if known.startswith(name[:3].lower()))
