"""Points of a space's history and ranges of its changes, as callers name them."""

import re
from typing import get_args

import msgspec
from msgspec import Struct

from muisti.core.model.choices import CHANGES_MAX, ChangeKind, Show
from muisti.core.model.errors import InvalidInput
from muisti.core.model.values import Seq
from muisti.core.query.filter_fields import moment
from muisti.core.query.filters import Filter

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


class Wanted(Struct, frozen=True, kw_only=True):
    """A query of the change feed: changes after `since` (None: all kept), of `kinds` (empty: all), that pass `filter`.

    `show` chooses ids only, also the memory after the change, or also the memory before it.
    """

    since: Seq | None = None
    kinds: tuple[ChangeKind, ...] = ()
    filter: Filter | None = None
    show: Show = "after"
    limit: int = 100


def check(wanted: Wanted) -> None:
    """Raise `InvalidInput` if the limit is out of range, or a kind or `show` is unknown."""
    if not 1 <= wanted.limit <= CHANGES_MAX:
        raise InvalidInput.at("$.limit", f"{wanted.limit} is not between 1 and {CHANGES_MAX:,}")
    unknown = [kind for kind in wanted.kinds if kind not in get_args(ChangeKind)]
    if unknown:
        raise InvalidInput.at("$.change", f"{unknown[0][:40]!r} is none of {', '.join(get_args(ChangeKind))}")
    if wanted.show not in get_args(Show):
        raise InvalidInput.at("$.show", f"{wanted.show[:40]!r} is none of {', '.join(get_args(Show))}")
