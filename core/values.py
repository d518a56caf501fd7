"""The values that the stages pass on. Plain, frozen, without I/O.

They are `msgspec.Struct`s, which are made six times as fast as frozen dataclasses, and whose classes are made in a
tenth of the time, which every start pays (docs/why.md).
Those that only a search makes stand in `core.hits`.
"""

import re
from collections.abc import Mapping
from datetime import datetime
from typing import Literal

import msgspec
from msgspec import Struct

from core.terms import BATCH_MAX as BATCH_MAX
from core.terms import CONTENT_MAX as CONTENT_MAX
from core.terms import Echoes as Echoes
from core.terms import Importance, Status, Type
from core.terms import OnConflict as OnConflict
from core.terms import Scope as Scope
from core.terms import Screening as Screening
from core.terms import SourceClass as SourceClass
from core.terms import Verdict as Verdict

Json = str | int | float | bool | None | list["Json"] | dict[str, "Json"]

Kind = Literal["memory", "chunk", "exchange"]
Strategy = Literal["ours", "theirs"]
LikenessKind = Literal["duplicate", "conflict", "similar", "address"]
DifferenceKind = Literal["negation", "opposite", "number", "date", "name"]
Field = Literal["content", "key", "tags", "category", "author", "reason"]
FlagCode = Literal["redacted", "trust_lowered", "echo"]
Action = Literal[
    "space_created",
    "space_deleted",
    "space_cleared",
    "key_created",
    "key_revoked",
    "key_rotated",
    "memory_deleted",
    "memory_erased",
    "conflict_kept",
    "quota_set",
    "policy_set",
    "space_rolled_back",
    "memories_imported",
    "import_undone",
    "space_forked",
    "space_merged",
    "webhook_created",
    "webhook_deleted",
]

# How far what comes from somewhere is trusted, in percent: web pages may be written by anybody, and for us to read.
TRUST: Mapping[SourceClass, int] = {"user": 100, "tool": 80, "model": 60, "unknown": 50, "web": 20}
IMPORTANCE: tuple[Importance, ...] = ("low", "medium", "high", "critical")

QUOTA_MAX = 2**53  # what every JSON reader can count to
NAME_MAX = 200  # characters of a category, key, author, source or tag
REASON_MAX = 2_000  # characters
TAGS_MAX = 100
SOURCES_MAX = 100  # memories that one is derived from
METADATA_MAX = 16_384  # bytes of JSON
LIMIT_MAX = 100  # hits of a search, items of a list
QUERY_MAX = 10_000  # characters
SPACE_NAME = re.compile(r"[a-z0-9][a-z0-9._-]{0,62}")
LOCAL = "local"  # who acts on the database itself, without a key


class Seq(msgspec.Struct, frozen=True):
    """A point in the history of a space: the space's epoch and the number of the last change."""

    epoch: str
    number: int

    def __str__(self) -> str:
        return f"{self.epoch}:{self.number}"


class SpaceSettings(msgspec.Struct, frozen=True, kw_only=True):
    """What is fixed when a space is made.

    `lexical_weights`: weight of each field in the keyword index; a field that is missing is not indexed.
    `embedded_fields`: the fields whose text is joined and embedded.
    """

    lexical_weights: Mapping[Field, float] = msgspec.field(
        default_factory=lambda: {"content": 1.0, "key": 0.5, "tags": 0.5, "category": 0.3, "author": 0.3, "reason": 0.3}
    )
    embedded_fields: tuple[Field, ...] = ("key", "content", "tags", "reason")


CONTENT_ONLY = SpaceSettings(lexical_weights={"content": 1.0}, embedded_fields=("content",))


class Policy(msgspec.Struct, frozen=True, kw_only=True):
    """What a space lets in, and how long it keeps it. None: what the server does by default.

    `history_days` is how long versions that have ended are kept, 0 for ever; memories are purged `purge_after_days`
    after they were created, and where that is None never.
    """

    secrets: Screening | None = None
    personal_data: Screening | None = None
    echoes: Echoes | None = None
    history_days: float | None = None
    purge_after_days: float | None = None

    def over(self, default: "Policy") -> "Policy":
        """This policy, and where it says nothing another.

        >>> policy = Policy(secrets="allow", history_days=0).over(Policy(secrets="refuse", history_days=365))
        >>> policy.secrets, policy.history_days
        ('allow', 0)
        """
        return Policy(
            secrets=self.secrets or default.secrets,
            personal_data=self.personal_data or default.personal_data,
            echoes=self.echoes or default.echoes,
            history_days=default.history_days if self.history_days is None else self.history_days,
            purge_after_days=self.purge_after_days or default.purge_after_days,
        )


USUAL_POLICY = Policy(secrets="refuse", personal_data="allow", echoes="flag", history_days=0.0)


class Space(msgspec.Struct, frozen=True, kw_only=True):
    """An isolated store. `generation` is the hash of the model that embedded it, None before the first vector.

    `policy` is what was said of this space, and not the defaults.
    """

    name: str
    epoch: str
    seq: int
    created_at: datetime
    settings: SpaceSettings
    generation: str | None
    policy: Policy = Policy()

    @property
    def at(self) -> Seq:
        return Seq(self.epoch, self.seq)


class Draft(msgspec.Struct, frozen=True, kw_only=True):
    """A memory as a caller states it, before it has an id."""

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
    expires_at: datetime | None = None
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


class RequestKey(msgspec.Struct, frozen=True):
    """What makes a repeated request the same request.

    `scope` separates callers and routes, `key` is the caller's, `body_hash` tells a repeat from a reuse.
    """

    scope: str
    key: str
    body_hash: bytes


class Difference(msgspec.Struct, frozen=True):
    """Where two memories that are otherwise alike part: the words of each, None where one has nothing of the kind."""

    kind: DifferenceKind
    existing: str | None
    new: str | None


class Likeness(msgspec.Struct, frozen=True, kw_only=True):
    """A current memory that is like a new one. `content` is its beginning.

    A `duplicate` says the same, a `conflict` the contrary, a `similar` one nearly the same; an `address` is only the
    same category and key. `similarity` is the cosine of both texts, None where they were not compared.
    """

    id: str
    kind: LikenessKind
    similarity: float | None
    differs: tuple[Difference, ...]
    content: str
    category: str | None
    key: str | None


class Flag(msgspec.Struct, frozen=True, kw_only=True):
    """What a write did differently than it was asked to.

    `path` is where in the request, `kind` says of what it is about, `ids` are memories that are the reason.
    """

    code: FlagCode
    path: str
    kind: str | None = None
    ids: tuple[str, ...] = ()


class Checkpoint(msgspec.Struct, frozen=True, kw_only=True):
    """A named point of a space's history, and who named it."""

    name: str
    seq: int
    created_at: datetime
    actor: str
    note: str | None


class MemoryChange(msgspec.Struct, frozen=True, kw_only=True):
    """What became of a memory between two points; `before` and `after` are None where it was not current."""

    id: str
    change: Literal["added", "changed", "ended"]
    before: Memory | None
    after: Memory | None
    fields: tuple[FieldChange, ...]


class Diff(msgspec.Struct, frozen=True, kw_only=True):
    """A page of what changed between two points, by id. `next_cursor` is None on the last."""

    items: tuple[MemoryChange, ...]
    next_cursor: str | None
    since: Seq
    until: Seq


class Divergence(msgspec.Struct, frozen=True, kw_only=True):
    """A memory that is not the same in a space and in another that is to be merged into it.

    `ours` stands in the space, `theirs` in the other, None where there is none; `here` and `there` are the fields that
    each has changed since both were the same. `conflict`: both have changed it, or want one address.
    """

    id: str
    other: str
    conflict: bool
    ours: Memory | None
    theirs: Memory | None
    here: tuple[FieldChange, ...]
    there: tuple[FieldChange, ...]


class Comparison(msgspec.Struct, frozen=True, kw_only=True):
    """A page of what differs between a space, at `seq`, and another, at `other`. `next_cursor` is None on the last."""

    items: tuple[Divergence, ...]
    next_cursor: str | None
    seq: Seq
    other: Seq


class Tally(msgspec.Struct, frozen=True):
    """How many memories one step has added or brought back, changed, and ended."""

    added: int
    changed: int
    ended: int

    @property
    def changes(self) -> int:
        return self.added + self.changed + self.ended


class Undo(msgspec.Struct, frozen=True, kw_only=True):
    """Which changes to take back: the `last` ones of a request, of memories of an author, or else of who asks."""

    last: int = 1
    author: str | None = None
    request: str | None = None


class LaterChange(msgspec.Struct, frozen=True):
    """A change that came upon others. `actor` is who made it, None where that was not told."""

    seq: int
    kind: str
    memory_id: str
    actor: str | None


class Planned(Struct, frozen=True):
    """A change that a write would make: to which memory, and the version that it would make or end."""

    kind: str
    memory_id: str
    version: int


class Plan(msgspec.Struct, frozen=True):
    """What a dry run has found: the number of changes that the write would make, and the first of them."""

    changes: int
    items: tuple[Planned, ...]


class Written(msgspec.Struct, frozen=True, kw_only=True):
    """What a write did. `replayed` is true when an earlier request with the same key did it.

    `similar` are memories like the one that was added; `checked_at` is the point of history up to which they were
    sought, None when they were not. `commit` is how many milliseconds it took until all was durable, 0 when nothing
    was to be stored. `ended` are the ids of memories that an undoing deleted. With a `plan` nothing was stored.
    `flags` tell what is not as it was asked. `tally` counts what changed of a whole space at once.
    """

    memories: tuple[Memory, ...]
    seq: Seq
    created: bool
    replayed: bool = False
    similar: tuple[Likeness, ...] = ()
    checked_at: Seq | None = None
    commit: float = 0.0
    ended: tuple[str, ...] = ()
    plan: Plan | None = None
    flags: tuple[Flag, ...] = ()
    tally: Tally | None = None


class RolledBack(msgspec.Struct, frozen=True, kw_only=True):
    """That a space stands as it stood at `to`. `before` is where it stood before: to roll back there undoes it."""

    to: Seq
    before: Seq
    written: Written


class Reviewed(msgspec.Struct, frozen=True, kw_only=True):
    """What a review of candidates did: the memories in the versions that stand now, and all of them by status.

    `more`: it did what it does at once, and may find more the next time.
    """

    written: Written
    before: Mapping[str, int]
    after: Mapping[str, int]
    more: bool


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


class Found(msgspec.Struct, frozen=True, kw_only=True):
    """One memory and the point of history at which it was read."""

    memory: Memory
    seq: Seq


class Page(msgspec.Struct, frozen=True, kw_only=True):
    """A page of a list, newest first. `next_cursor` is None on the last."""

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


class Passage(Struct, frozen=True):
    """A stretch of a memory's content: character offsets, and its number within the memory."""

    number: int
    start: int
    stop: int


class Audited(msgspec.Struct, frozen=True, kw_only=True):
    """That somebody did something. `actor` is the id of a key, or names who acts without one."""

    number: int
    at: datetime
    actor: str
    action: Action
    space: str | None
    target: str | None


class AuditPage(msgspec.Struct, frozen=True, kw_only=True):
    """A page of the audit log, newest first. `next_cursor` is None on the last."""

    items: tuple[Audited, ...]
    next_cursor: str | None
