"""Points of a space's history: as a caller names them, and as reads use them."""

import re

import msgspec

from muisti.core.model.errors import InvalidInput
from muisti.core.query.filter_fields import moment

_SEQ = re.compile(r"(?:(?P<epoch>[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}):)?(?P<number>[0-9]{1,18})")


class AsOf(msgspec.Struct, frozen=True):
    """A point as a caller names it: a `time` in microseconds, or the `number` of a change, perhaps with its epoch."""

    time: int | None = None
    number: int | None = None
    epoch: str | None = None


class Point(msgspec.Struct, frozen=True):
    """A point to read at: memories that were current after change `number` (None: now) and not expired at `time`."""

    number: int | None
    time: int


def parse(text: str | int | None) -> AsOf | None:
    """Read a point; None stays None.

    >>> parse("1970-01-01T00:00:01Z"), parse("17"), parse(None)
    (AsOf(time=1000000, number=None, epoch=None), AsOf(time=None, number=17, epoch=None), None)

    Raises:
        InvalidInput: the text is no point of history.
    """
    if text is None:
        return None
    match = _SEQ.fullmatch(str(text))
    if match is not None:
        return AsOf(number=int(match["number"]), epoch=match["epoch"])
    try:
        return AsOf(time=moment(str(text)))
    except ValueError:
        what = f"{str(text)[:80]!r} is no point of history"
        advice = "send an RFC 3339 time such as 2026-01-31T09:30:00Z, or a point of history as an answer gave it"
        raise InvalidInput.at("$.as_of", f"{what}; {advice}") from None
