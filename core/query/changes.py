"""Queries of the change feed."""

from typing import get_args

from msgspec import Struct

from muisti.core.model.errors import InvalidInput
from muisti.core.model.terms import CHANGES_MAX, ChangeKind, Show
from muisti.core.model.values import Seq
from muisti.core.query.filters import Filter


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
