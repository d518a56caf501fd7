"""Bodies of replies. Each class has a method `of` that makes it from a value of the core."""

from collections.abc import Iterable
from datetime import datetime
from operator import attrgetter
from typing import Annotated, Any, Literal, Self, cast

from msgspec import UNSET, Meta, UnsetType

from muisti.core.model.decoding import convert
from muisti.core.model.generations import CacheUse
from muisti.core.model.outcomes import Stats, Written
from muisti.core.model.values import Memory, Page
from muisti.core.text.discourse.signals import suggested
from muisti.service.schemas import fields
from muisti.service.schemas.copying import Reply, Same
from muisti.service.schemas.errors import Problem
from muisti.service.schemas.fields import doc
from muisti.service.schemas.likeness import LikenessReply
from muisti.service.schemas.policy import FlagReply, QuotaReply


class StretchReply(Same, frozen=True, kw_only=True):
    """A stretch of a text, in characters."""

    start: Annotated[int, Meta(ge=0)]
    stop: Annotated[int, Meta(ge=0)]


Scope = Annotated[
    StretchReply | None, doc("Clause of the content that says to what it applies; null where it applies to everything.")
]


class TypeSuggestionReply(Same, frozen=True, kw_only=True):
    """A type that would suit a memory: its content reads like a standing instruction. Nothing was changed."""

    id: fields.MemoryId
    type: fields.TypeName
    scope: Scope


Suggestions = (
    Annotated[
        list[TypeSuggestionReply],
        doc("Memories that read like standing instructions and have another type; absent for none."),
    ]
    | UnsetType
)


def suggestions_of(memories: Iterable[Memory]) -> list[TypeSuggestionReply] | UnsetType:
    """Return the suggestions of a reply, unset when there are none."""
    found = list[TypeSuggestionReply]()
    for one in suggested(memories):
        found.append(convert(one, TypeSuggestionReply, from_attributes=True))
    return found or UNSET


Cursor = Annotated[str | None, doc("The `cursor` of the next page; null on the last.")]


Degraded = (
    Annotated[list[str], doc("What searches cannot do yet with the text, in words; absent when nothing.")] | UnsetType
)


class MemoryReply(Same, frozen=True, kw_only=True):
    """A memory in one of its versions."""

    id: fields.MemoryId
    space: fields.SpaceName
    version: Annotated[int, doc("1, 2, … as it changes.", ge=1)]
    kind: fields.AnyKind
    category: fields.Category | None
    key: fields.Key | None
    content: fields.Content
    type: fields.TypeName
    status: fields.StatusName
    importance: fields.ImportanceName
    author: fields.Author | None
    reason: fields.Reason | None
    source: fields.Source | None
    tags: fields.Tags
    metadata: fields.Metadata
    event_at: fields.EventAt | None
    valid_from: fields.ValidFrom | None
    valid_to: fields.ValidTo | None
    created_at: fields.Time
    updated_at: fields.Time
    expires_at: fields.ExpiresAt | None
    supersedes: fields.MemoryId | None
    superseded_by: fields.MemoryId | None
    parent_id: fields.MemoryId | None
    source_class: fields.SourceClassName
    derived_from: fields.DerivedFrom
    trust: fields.Trust
    tokens: Annotated[int, doc("Words, punctuation marks and CJK characters of the content.")]
    session: fields.SessionName | None
    conversation: fields.ConversationName | None
    topic: fields.TopicName | None
    turn: fields.TurnNumber | None
    document: fields.DocumentPath | None
    position: fields.Position | None
    structure: fields.Structure
    anchors: fields.Anchors


_FIELDS = attrgetter(*MemoryReply.__struct_fields__)


class WrittenReply(MemoryReply, frozen=True, kw_only=True):
    """The memory that a write made or changed, with flags for differences from the request."""

    flags: Annotated[list[FlagReply], doc("Empty when all is stored as it was sent.")]
    degraded: Degraded = UNSET
    suggestions: Suggestions = UNSET

    @classmethod
    def of_changed(cls, written: Written, **more: Any) -> Self:
        memory = written.memories[0]
        return cls(
            **dict(zip(MemoryReply.__struct_fields__, _FIELDS(memory), strict=True)),
            flags=cast(list[FlagReply], list(written.flags)),
            degraded=list(written.degraded) or UNSET,
            suggestions=suggestions_of(written.memories),
            **more,
        )


class AddedReply(WrittenReply, frozen=True, kw_only=True):
    """The memory that was added, and current ones that are like it."""

    similar: Annotated[
        list[LikenessReply], doc("Current memories that say nearly the same; it was stored beside them.")
    ]
    checked_at: Annotated[str | None, doc("The point in history up to which they were sought; null without a search.")]

    @classmethod
    def of_written(cls, written: Written) -> Self:
        at = None if written.checked_at is None else str(written.checked_at)
        return cls.of_changed(written, similar=cast(list[LikenessReply], list(written.similar)), checked_at=at)


class TelemetryReply(Reply, frozen=True, kw_only=True):
    """Use of a memory. Retrievals are counted in batches, and may lag by some seconds; verdicts never do."""

    memory_id: fields.MemoryId
    retrieval_count: Annotated[int, doc("How often a search found it, or a caller read it.", ge=0)]
    last_retrieved_at: Annotated[datetime | None, doc("When last; null for never.")]
    useful: Annotated[int, doc("How many callers said that it was useful.", ge=0)]
    not_useful: Annotated[int, doc("How many said that it was not.", ge=0)]
    feedback: Annotated[fields.Verdict | None, doc("Verdict of this caller; null for none.")]


class PageReply(Reply, frozen=True, kw_only=True):
    """Memories, newest first."""

    items: list[MemoryReply]
    next_cursor: Cursor
    degraded: Annotated[
        list[str] | UnsetType, doc("What may be missing, in words; only where the graph is behind.")
    ] = UNSET

    @classmethod
    def of(cls, value: Page, /, **more: Any) -> Self:
        return super().of(value, degraded=list(value.degraded) or UNSET, **more)


class FieldChangeReply(Same, frozen=True, kw_only=True):
    """A changed field, with its old and new value."""

    field: Annotated[str, doc("A field, or a path such as `metadata.team`.", examples=["content"])]
    before: Annotated[Any, doc("Of `content` the words that differ; null where there was nothing.")]
    after: Any


class VersionReply(Same, frozen=True, kw_only=True):
    """A version of a memory, valid from `born_at` until `died_at`, which is null for the current version."""

    memory: MemoryReply
    born: Annotated[int, doc("Number in the history of the space.")]
    died: int | None
    born_at: datetime
    died_at: datetime | None
    changes: Annotated[list[FieldChangeReply], doc("From the version before; none for the oldest.")]


class HistoryReply(Reply, frozen=True, kw_only=True):
    """Versions of a memory, newest first."""

    named = {"items": "versions", "next_cursor": "earlier"}

    items: list[VersionReply]
    chain: Annotated[
        list[fields.MemoryId],
        doc("Ids of the memories that superseded one another, oldest first; this one is among them."),
    ]
    next_cursor: Cursor


class UndoReply(Reply, frozen=True, kw_only=True):
    """The memories whose changes were undone, in their current versions; `ended` are those that undo deleted."""

    named = {"items": "memories"}

    undone: Annotated[str, doc("What was taken back, in words; empty in a replayed answer.")]
    items: list[MemoryReply]
    ended: list[fields.MemoryId]
    flags: Annotated[list[FlagReply], doc("Differences from the earlier state; empty for none.")]
    seq: fields.SeqText


class BatchReply(Reply, frozen=True, kw_only=True):
    """The memories that were added, in the order of the request."""

    items: list[MemoryReply]
    flags: Annotated[list[FlagReply], doc("What was not stored as it was sent; empty when all was.")]
    seq: fields.SeqText
    degraded: Degraded = UNSET
    suggestions: Suggestions = UNSET

    @classmethod
    def of(cls, value: Written, /, **more: Any) -> Self:
        items, degraded = list(value.memories), list(value.degraded) or UNSET
        return super().of(value, items=items, degraded=degraded, suggestions=suggestions_of(items), **more)


class ItemReply(Reply, frozen=True, kw_only=True):
    """Result for one memory of a batch."""

    index: Annotated[int, doc("Its place in the request, from 0.", ge=0)]
    status: Literal["created", "failed"]
    memory: MemoryReply | UnsetType = UNSET
    problem: Problem | UnsetType = UNSET


class ItemsReply(Reply, frozen=True, kw_only=True):
    """Result for each memory of a batch that is not atomic. `seq` is null when nothing was created."""

    items: list[ItemReply]
    created: int
    failed: int
    flags: Annotated[list[FlagReply], doc("What was not stored as it was sent; empty when all was.")]
    seq: fields.SeqText | None
    degraded: Degraded = UNSET
    suggestions: Suggestions = UNSET


class CountReply(Same, frozen=True, kw_only=True):
    """Number of active memories that have a category or tag."""

    name: str
    count: int


class CountsReply(Reply, frozen=True, kw_only=True):
    """Names and their counts, most frequent first."""

    items: list[CountReply]
    next_cursor: None = None


class PlacedReply(Same, frozen=True, kw_only=True):
    """A memory on a map: the beginning of its text, and its place, each coordinate between -1 and 1."""

    id: fields.MemoryId
    title: str
    category: str | None
    kind: str
    x: Annotated[float, doc("To the right.", ge=-1, le=1)]
    y: Annotated[float, doc("Upwards.", ge=-1, le=1)]


class MapReply(Reply, frozen=True, kw_only=True):
    """Memories in two dimensions, newest first: close together where their meanings are."""

    points: list[PlacedReply]
    kept: Annotated[float, doc("Share of the variance of the vectors that two dimensions show.", ge=0, le=1)]


class CacheReply(Reply, frozen=True, kw_only=True):
    """Use of the cache of vectors that slow models have computed."""

    entries: int
    bytes: int
    hits: Annotated[int, doc("Texts whose vector was in the cache.")]
    misses: int
    rate: Annotated[float | None, doc("Share of the texts whose vector was there; null before the first.")]

    @classmethod
    def of(cls, value: CacheUse, /, **more: Any) -> Self:
        return super().of(value, bytes=value.nbytes, **more)


class StatsReply(Reply, frozen=True, kw_only=True):
    """Sizes of a space. `by` counts current memories by kind, type, status and importance; bytes are of content.

    `by_day` counts changes of the last 30 days by day in UTC and kind; days without changes are absent. `quota` is of
    the whole space, null for a key of one category.
    """

    memories: int
    versions: int
    passages: int
    tokens: int
    content_bytes: int
    expired: int
    changes: int
    changes_last_day: int
    by: dict[str, dict[str, int]]
    by_day: dict[str, dict[str, int]]
    last_change_at: datetime | None
    quota: QuotaReply | None
    embedding_cache: Annotated[
        CacheReply | None, doc("Of the whole process; null for a key without the scope `admin`.")
    ]
    seq: fields.SeqText

    @classmethod
    def of(cls, value: Stats, cache: CacheUse | None = None, /, **more: Any) -> Self:
        quota = None if value.usage is None else QuotaReply.of(value.usage)
        return super().of(value, quota=quota, embedding_cache=cache and CacheReply.of(cache), **more)


class WarmedReply(Reply, frozen=True, kw_only=True):
    """Index and model of a space, loaded so that the next search need not wait."""

    loaded: Annotated[bool, doc("Whether the index was loaded; false where it was in memory.")]
    fits: Annotated[bool, doc("False where the index takes more than `MUISTI_INDEX_MEMORY`, and so displaces others.")]
    seconds: Annotated[float, doc("What that took.")]
    model: Annotated[str | None, doc("The model that is ready; null when embeddings are off or the model is missing.")]
    seq: fields.SeqText


# Replies of a dry run


class PlannedReply(Same, frozen=True, kw_only=True):
    """A change that the request would make, and the version that it would make or end."""

    kind: str
    memory_id: fields.MemoryId
    version: int


class ShiftReply(Same, frozen=True, kw_only=True):
    """A probe whose expected memory would get another rank."""

    id: fields.MemoryId
    query: str
    before: Annotated[int | None, doc("Its rank now; null: not among the first 100.")]
    after: Annotated[int | None, doc("The rank that it would have.")]


class DryRunReply(Reply, frozen=True, kw_only=True):
    """Changes and answer of the request, without storing anything. A new memory would have another id."""

    dry_run: Literal[True] = True
    status: Annotated[int, doc("The status that it would answer.")]
    changes: Annotated[int, doc("How many changes it would make; `items` are the first 1,000.")]
    items: list[PlannedReply]
    probes: Annotated[
        list[ShiftReply] | None, doc("Probes that would rank otherwise; null when checking takes too long.")
    ]
    answer: Annotated[Any, doc("The body that it would answer, null for none.")]
