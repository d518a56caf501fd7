"""Counts, sizes and rates, as frozen values without I/O."""

from collections.abc import Mapping
from datetime import datetime

import msgspec

from muisti.core.model.terms import Verdict
from muisti.core.model.values import Seq


class Telemetry(msgspec.Struct, frozen=True, kw_only=True):
    """Retrieval and feedback counts of a memory: how often searches and reads returned it, and what callers thought.

    Retrievals are best-effort: they are counted in batches and are no change of the memory. `useful` and `not_useful`
    are how many callers gave that verdict; `feedback` is the verdict of the caller who asks.
    """

    memory_id: str
    retrieval_count: int
    last_retrieved_at: datetime | None
    useful: int
    not_useful: int
    feedback: Verdict | None
    seq: Seq


class Count(msgspec.Struct, frozen=True, kw_only=True):
    """A name and how many current memories have it."""

    name: str
    count: int


class Counts(msgspec.Struct, frozen=True, kw_only=True):
    """Names and their counts, most frequent first."""

    items: tuple[Count, ...]
    seq: Seq


class Quota(msgspec.Struct, frozen=True, kw_only=True):
    """Limits on what a space may hold; None for no limit."""

    memories: int | None = None
    bytes: int | None = None


class Usage(msgspec.Struct, frozen=True, kw_only=True):
    """The size of a space, counting memories that are not deleted and the bytes that callers stated, and its quota."""

    memories: int
    bytes: int
    quota: Quota


class SpaceUse(msgspec.Struct, frozen=True, kw_only=True):
    """The size of a space by its counters, and its last change, None before the first."""

    memories: int
    bytes: int
    last_change_at: datetime | None


class Stats(msgspec.Struct, frozen=True, kw_only=True):
    """Sizes of a space. `by` counts current memories by kind, type, status and importance; bytes are of content.

    `usage` is of the whole space, None for those of one category.
    """

    memories: int
    versions: int
    passages: int
    tokens: int
    content_bytes: int
    expired: int
    changes: int
    changes_last_day: int
    by: Mapping[str, Mapping[str, int]]
    last_change_at: datetime | None
    usage: Usage | None
    seq: Seq
