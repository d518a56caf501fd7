"""The values that the stages pass on. Plain, frozen, without I/O.

They are `msgspec.Struct`s, which are made six times as fast as frozen dataclasses, and whose classes are made in a
tenth of the time, which every start pays (docs/why.md).
What only a search makes stands in `core.model.hits`, what a write answers in `core.model.outcomes`.
"""

from collections.abc import Collection, Mapping
from datetime import datetime, timedelta
from typing import Literal

import msgspec
from msgspec import Struct

from muisti.core.model.terms import Importance, SourceClass, Status, Type

Json = str | int | float | bool | None | list["Json"] | dict[str, "Json"]

Kind = Literal["memory", "chunk", "exchange"]

# How far what comes from somewhere is trusted, in percent: web pages may be written by anybody, and for us to read.
TRUST: Mapping[SourceClass, int] = {"user": 100, "tool": 80, "model": 60, "unknown": 50, "web": 20}
IMPORTANCE: tuple[Importance, ...] = ("low", "medium", "high", "critical")

NAME_MAX = 200  # characters of a category, key, author, source or tag
REASON_MAX = 2_000  # characters
TAGS_MAX = 100
SOURCES_MAX = 100  # memories that one is derived from
METADATA_MAX = 16_384  # bytes of JSON
LIMIT_MAX = 100  # hits of a search, items of a list
QUERY_MAX = 10_000  # characters
LOCAL = "local"  # who acts on the database itself, without a key


class Seq(msgspec.Struct, frozen=True):
    """A point in the history of a space: the space's epoch and the number of the last change."""

    epoch: str
    number: int

    def __str__(self) -> str:
        return f"{self.epoch}:{self.number}"


class Draft(msgspec.Struct, frozen=True, kw_only=True):
    """A memory as a caller states it, before it has an id. `expires_at` may be said as how long from now."""

    content: str
    kind: Kind = "memory"
    category: str | None = None
    key: str | None = None
    type: Type = "fact"
    status: Status = "active"
    importance: Importance = "medium"
    author: str | None = None
    reason: str | None = None
    source: str | None = None
    tags: tuple[str, ...] = ()
    metadata: Mapping[str, Json] = msgspec.field(default_factory=dict[str, Json])
    event_at: datetime | None = None
    valid_from: datetime | None = None
    valid_to: datetime | None = None
    expires_at: datetime | timedelta | None = None
    parent_id: str | None = None
    source_class: SourceClass = "unknown"
    derived_from: tuple[str, ...] = ()


class Memory(Struct, frozen=True, kw_only=True):
    """A version of a memory. `tokens` counts words, punctuation marks and CJK characters of the content.

    `trust` is that of its source class, in percent, or the lowest of the memories that it is derived from.
    """

    id: str
    space: str
    version: int
    kind: Kind
    category: str | None
    key: str | None
    content: str
    type: Type
    status: Status
    importance: Importance
    author: str | None
    reason: str | None
    source: str | None
    tags: tuple[str, ...]
    metadata: Mapping[str, Json]
    event_at: datetime | None
    valid_from: datetime | None
    valid_to: datetime | None
    created_at: datetime
    updated_at: datetime
    expires_at: datetime | None
    supersedes: str | None
    superseded_by: str | None
    parent_id: str | None
    source_class: SourceClass
    derived_from: tuple[str, ...]
    trust: int
    tokens: int

    @property
    def etag(self) -> str:
        return f'"{self.id}.{self.version}"'


class FieldChange(msgspec.Struct, frozen=True):
    """What a field was and what it became; None where there is nothing. `field` is a path within metadata.

    Of content both are the stretch of words that differs.
    """

    field: str
    before: object
    after: object


class Version(msgspec.Struct, frozen=True, kw_only=True):
    """A memory as it stood from `born_at` until `died_at`; `died_at` is None for the newest of a living memory.

    `changes` are those from the version before, none for the oldest.
    """

    memory: Memory
    born: int
    died: int | None
    born_at: datetime
    died_at: datetime | None
    changes: tuple[FieldChange, ...] = ()


class Address(msgspec.Struct, frozen=True):
    """A category and a key: at any time at most one memory has both. The category compares without case."""

    category: str
    key: str

    def __str__(self) -> str:
        return f"{self.category}/{self.key}"


Name = str | Address  # of a memory: its id, or where it is
# Etags, one of which must be the current one, or the number of the version that must be; None when any will do.
IfMatch = Collection[str] | int | None


class RequestKey(msgspec.Struct, frozen=True):
    """What makes a repeated request the same request.

    `scope` separates callers and routes, `key` is the caller's, `body_hash` tells a repeat from a reuse.
    """

    scope: str
    key: str
    body_hash: bytes


class Found(msgspec.Struct, frozen=True, kw_only=True):
    """One memory and the point of history at which it was read."""

    memory: Memory
    seq: Seq


class Page(msgspec.Struct, frozen=True, kw_only=True):
    """A page of a list. `next_cursor` is None on the last."""

    items: tuple[Memory, ...]
    next_cursor: str | None
    seq: Seq


class History(msgspec.Struct, frozen=True, kw_only=True):
    """All kept versions of a memory, newest first.

    `chain` are the ids of the memories that superseded one another up to it, itself, and those that followed.
    """

    versions: tuple[Version, ...]
    chain: tuple[str, ...]
    seq: Seq


class Passage(Struct, frozen=True):
    """A stretch of a memory's content: character offsets, and its number within the memory."""

    number: int
    start: int
    stop: int
