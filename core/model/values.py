"""Values that the stages of reads and writes pass to each other. Frozen and without I/O.

They are `msgspec.Struct`s. Instances are made six times as fast as those of frozen dataclasses. Classes are made in a
tenth of the time, which matters at every start (docs/why/why.md). `core.model.hits` has the values of searches,
`core.model.outcomes` those of writes.
"""

import re
from collections.abc import Collection, Mapping
from datetime import datetime, timedelta
from typing import Annotated, Literal

import msgspec
from msgspec import Meta, Struct

from muisti.core.model.choices import LIMIT_MAX as LIMIT_MAX
from muisti.core.model.choices import Importance, SourceClass, Status, Type

# Tells whether a text shows nothing: it is empty, or white space and characters that Unicode lets nobody see

# White space, control characters, Default_Ignorable_Code_Point, and the blank of Braille.
_SEEN = re.compile(
    "[^\\s\\x00-\\x1f\\x7f-\\x9f\u2800\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u202a-\u202e\u2060-\u206f\u3164"
    "\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufff8\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e0fff]"
)


def is_blank(text: str) -> bool:
    r"""Tell whether a text shows nothing.

    >>> is_blank(" \u200b\ufeff"), is_blank("\u200bword")
    (True, False)
    """
    return _SEEN.search(text) is None


Json = str | int | float | bool | None | list["Json"] | dict[str, "Json"]
Anchor = Mapping[str, str]  # see core/model/anchors.py

StatedKind = Literal["memory", "chunk", "exchange"]  # kinds that callers may give a memory
Kind = Literal[
    "memory", "chunk", "exchange", "session", "conversation", "topic", "summary", "document", "entity", "relation"
]
# Kinds of the objects that order memories, and of what people say of the graph. They have no passages, so no search
# finds them, and lists show them only when a filter names `kind`.
STRUCTURAL: tuple[Kind, ...] = ("session", "conversation", "topic", "summary", "document", "entity", "relation")

# Trust in each class of source, in percent. Anybody may write a web page, also to mislead its readers.
TRUST: Mapping[SourceClass, int] = {"user": 100, "tool": 80, "model": 60, "unknown": 50, "web": 20}
IMPORTANCE: tuple[Importance, ...] = ("low", "medium", "high", "critical")

NAME_MAX = 200  # characters of a category, author, source or tag
KEY_MAX = 1_024  # characters of a key, which may be a path
DOCUMENT_MAX = 1_000  # characters of the path or name of a document
REASON_MAX = 2_000  # characters
TAGS_MAX = 100
SOURCES_MAX = 100  # memories that one is derived from
METADATA_MAX = 16_384  # bytes of JSON
QUERY_MAX = 10_000  # characters
LOCAL = "local"  # name of a caller who opens the database directly, without a key

# Fields of answers, with their descriptions for the OpenAPI document.
MemoryId = Annotated[
    str,
    Meta(
        description="Id of a memory, a UUIDv7.",
        extra_json_schema={"format": "uuid"},
        examples=["0197a3c0-5f4e-7000-8000-0123456789ab"],
    ),
]
SpaceName = Annotated[
    str,
    Meta(
        description="1 to 63 of a-z, 0-9, '.', '_', '-', the first a letter or digit.",
        extra_json_schema={"pattern": "^[a-z0-9][a-z0-9._-]{0,62}$"},
        examples=["default"],
    ),
]
SeqText = Annotated[
    str,
    Meta(
        description="Point in the history of the space, `{epoch}:{number}`.",
        examples=["b0c5a3de-6d0c-4bb0-a6c2-2d7c5ba1b1a4:17"],
    ),
]


class Seq(msgspec.Struct, frozen=True):
    """A point in the history of a space: the space's epoch and the number of the last change."""

    epoch: str
    number: int

    def __str__(self) -> str:
        return f"{self.epoch}:{self.number}"


class Draft(msgspec.Struct, frozen=True, kw_only=True):
    """A memory as a caller states it, before it has an id. `expires_at` may be a time from now."""

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
    anchors: tuple[Anchor, ...] = ()
    session: str | None = None
    conversation: str | None = None
    topic: str | None = None
    turn: int | None = None
    document: str | None = None
    position: int | None = None
    structure: Mapping[str, Json] = msgspec.field(default_factory=dict[str, Json])


class Memory(Struct, frozen=True, kw_only=True):
    """A version of a memory. `tokens` counts words, punctuation marks and CJK characters of the content.

    `trust` is that of its source class, in percent, or the lowest of the memories that it is derived from.
    `supersedes`, `superseded_by`, `parent_id` and `derived_from` are ids of other memories.
    `session`, `conversation` and `topic` are names within the space, `turn` is the place of an exchange in its
    conversation. `document` is the path of a document, on it and on its chunks; `position` orders these. The service
    writes `structure` (core/conversations/model.py, core/parsing/pieces.py). `anchors` are places in source code.
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
    session: str | None = None
    conversation: str | None = None
    topic: str | None = None
    turn: int | None = None
    document: str | None = None
    position: int | None = None
    structure: Mapping[str, Json] = msgspec.field(default_factory=dict[str, Json])
    anchors: tuple[Anchor, ...] = ()

    @property
    def etag(self) -> str:
        return f'"{self.id}.{self.version}"'


class FieldChange(msgspec.Struct, frozen=True):
    """A field before and after a change; None where it has no value. `field` is a name, or a path within metadata.

    For the content both are the stretch of words that differs.
    """

    field: str
    before: object
    after: object


class Version(msgspec.Struct, frozen=True, kw_only=True):
    """A version that was current from `born_at` until `died_at`, which is None while it is current.

    `born` and `died` are the numbers of the changes that made and ended it. `changes` are the differences from the
    version before, empty for the oldest.
    """

    memory: Memory
    born: int
    died: int | None
    born_at: datetime
    died_at: datetime | None
    changes: tuple[FieldChange, ...] = ()


class Address(msgspec.Struct, frozen=True):
    """A category and a key, which at any time belong to at most one memory. The category compares without case."""

    category: str
    key: str

    def __str__(self) -> str:
        return f"{self.category}/{self.key}"


Name = str | Address  # a memory's id or address
# Etags, one of which must be that of the current version, or the number of that version; None accepts any version.
IfMatch = Collection[str] | int | None


class RequestKey(msgspec.Struct, frozen=True):
    """The identity of a request that may be repeated.

    `scope` separates callers and routes, `key` is the caller's idempotency key. Another `body_hash` means that the key
    was used for another request.
    """

    scope: str
    key: str
    body_hash: bytes


class Found(msgspec.Struct, frozen=True, kw_only=True):
    """One memory and the point of history at which it was read."""

    memory: Memory
    seq: Seq


class Page(msgspec.Struct, frozen=True, kw_only=True):
    """A page of a list. `next_cursor` is None on the last page.

    `degraded` says in words what may be missing; it is empty when nothing is.
    """

    items: tuple[Memory, ...]
    next_cursor: str | None
    seq: Seq
    degraded: tuple[str, ...] = ()


class History(msgspec.Struct, frozen=True, kw_only=True):
    """Kept versions of a memory, newest first.

    `earlier` is the version before which the next page begins; None when there are no more. `chain` has the ids of all
    memories in its line of supersession, oldest first, with this one.
    """

    versions: tuple[Version, ...]
    chain: tuple[str, ...]
    seq: Seq
    earlier: int | None = None


class Stretch(Struct, frozen=True):
    """A stretch of a text, from `start` to `stop` (exclusive), in characters."""

    start: int
    stop: int


class Passage(Struct, frozen=True):
    """The passage of the content that answers best: its number, and its start and stop in characters."""

    number: int
    start: int
    stop: int
