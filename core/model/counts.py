"""Counts, sizes and rates, as frozen values without I/O."""

from collections.abc import Mapping
from datetime import datetime

import msgspec

from muisti.core.model.terms import Verdict
from muisti.core.model.values import Seq


class Telemetry(msgspec.Struct, frozen=True, kw_only=True):
    """How often a memory was given to somebody who searched or read, when last, and what they said of it.

    Retrievals are best-effort: counted in batches, by no change of the memory. `useful` and `not_useful` are how many
    callers said so, `feedback` is what this one did.
    """

    memory_id: str
    retrieval_count: int
    last_retrieved_at: datetime | None
    useful: int
    not_useful: int
    feedback: Verdict | None
    seq: Seq


class Count(msgspec.Struct, frozen=True, kw_only=True):
    """How many current memories bear a name."""

    name: str
    count: int


class Counts(msgspec.Struct, frozen=True, kw_only=True):
    """Names and their counts, most frequent first."""

    items: tuple[Count, ...]
    seq: Seq


class Quota(msgspec.Struct, frozen=True, kw_only=True):
    """How much a space may hold; None for any."""

    memories: int | None = None
    bytes: int | None = None


class Usage(msgspec.Struct, frozen=True, kw_only=True):
    """What a space holds: memories that are not deleted, and the bytes that were said of them; and what it may hold."""

    memories: int
    bytes: int
    quota: Quota


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
