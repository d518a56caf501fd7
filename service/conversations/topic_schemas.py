"""Requests and replies about topics, summaries and working memory."""

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Annotated, Any, Self

from msgspec import Meta, Struct

from muisti.core.conversations.context.counting import ENCODINGS, USUAL
from muisti.core.conversations.model import BUDGET, BUDGET_MAX, PRIORITY_MAX, TEXT_MAX, Entry, Working
from muisti.core.conversations.view import Stored
from muisti.core.model.values import Memory
from muisti.service.schemas import fields
from muisti.service.schemas.copying import Reply
from muisti.service.schemas.fields import doc

Encoding = Annotated[str, doc("The encoding whose tokens are counted.", enum=list(ENCODINGS))]
Budget = Annotated[int, doc("Tokens that the text may have.", minimum=1, maximum=BUDGET_MAX)]
FirstTurn = Annotated[int, doc("The first turn of the later topic.", minimum=1)]
Title = Annotated[str, doc("What it is called.", minLength=1, maxLength=2000)]


class SplitTopicBody(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Where a topic is split. The later part gets `title`, or one made from its words."""

    turn: FirstTurn
    title: Title | None = None


class MoveTopicBody(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Where a topic begins: the turns before go to the topic before it, later ones come from there."""

    turn: FirstTurn


class MergeTopicsBody(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Topics that become one. The first keeps its name and title."""

    topics: Annotated[list[fields.TopicName], Meta(extra_json_schema={"minItems": 2}, examples=[["t1", "t2"]])]


class ChangedTopic(Reply, frozen=True, kw_only=True):
    """A topic after a change."""

    id: fields.MemoryId
    version: int
    name: fields.TopicName
    title: str
    spans: Annotated[list[list[int]], doc("First and last turn of each stretch.")]

    @classmethod
    def of(cls, value: Memory, /, **more: Any) -> Self:
        spans = value.structure.get("spans", [])
        return super().of(value, name=value.topic or "", title=value.content, spans=spans, **more)


class ChangedTopicsReply(Reply, frozen=True, kw_only=True):
    """The topics that a change has left."""

    items: list[ChangedTopic]


class SummariseBody(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Method of summarising. `abstractive` asks the language model of the operator; without one it is `extractive`."""

    method: Annotated[str, doc("How summaries are made.", enum=["extractive", "abstractive"])] = "extractive"
    category: fields.Category | None = None


class SummaryReply(Struct, frozen=True, kw_only=True):
    """A summary, and what it is about. It is derived from `sources`, and erased with any of them."""

    id: fields.MemoryId
    of: Annotated[str, doc("What it summarises.", enum=["exchange", "topic", "conversation", "session"])]
    text: str
    tokens: Annotated[int, doc("Words, punctuation marks and CJK characters of the text.")]
    method: Annotated[str, doc("Whether it has sentences of its sources, or was written.")]
    session: fields.SessionName | None
    conversation: fields.ConversationName | None
    topic: fields.TopicName | None
    turn: fields.TurnNumber | None
    up_to: Annotated[int | None, doc("The last turn that it covers.")]
    stale: Annotated[bool, doc("What it is about has changed since.")]
    sources: list[fields.MemoryId]
    made_at: datetime

    @classmethod
    def of_memory(cls, memory: Memory, *, stale: bool = False) -> "SummaryReply":
        told = memory.structure
        up_to = told.get("up_to")
        return cls(
            id=memory.id,
            of=str(told.get("of", memory.kind)),
            text=memory.content,
            tokens=memory.tokens,
            method=str(told.get("method", "extractive")),
            session=memory.session,
            conversation=memory.conversation,
            topic=memory.topic,
            turn=memory.turn,
            up_to=up_to if isinstance(up_to, int) else None,
            stale=stale,
            sources=list(memory.derived_from),
            made_at=memory.created_at,
        )


class SummariesReply(Struct, frozen=True, kw_only=True):
    """Summaries: those of topics in the order of their turns, that of the conversation last."""

    items: list[SummaryReply]

    @classmethod
    def of(cls, found: Sequence[Stored]) -> "SummariesReply":
        return cls(items=[SummaryReply.of_memory(one.memory, stale=one.stale) for one in found])


class MadeSummariesReply(Reply, frozen=True, kw_only=True):
    """The summaries that were missing or stale and are made now. `degraded` says why one is not as it was asked for."""

    items: list[SummaryReply]
    degraded: list[str]


class WorkingEntryBody(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Entry to keep: a memory, a text, or a number of tokens that stay free. Exactly one of them."""

    memory_id: fields.MemoryId | None = None
    content: Annotated[str | None, doc("A text of your own.", maxLength=TEXT_MAX)] = None
    tokens: Annotated[int | None, doc("Tokens to reserve.", minimum=1, maximum=BUDGET_MAX)] = None
    pinned: Annotated[bool, doc("Whether it is never evicted.")] = True
    priority: Annotated[
        int, doc("What has the lowest goes first, unless it is pinned.", minimum=0, maximum=PRIORITY_MAX)
    ] = 5
    ttl_seconds: Annotated[int, doc("Seconds after which it goes; none: it stays.", ge=1, le=3_153_600_000)] | None = (
        None
    )

    def entry(self, key: str, now: datetime) -> Entry:
        """Return what the core keeps."""
        given = {name: getattr(self, name) for name in ("memory_id", "content", "tokens", "pinned", "priority")}
        expires_at = None if self.ttl_seconds is None else now + timedelta(seconds=self.ttl_seconds)
        return Entry(key=key, expires_at=expires_at, **given)


class WorkingEntryReply(Reply, frozen=True, kw_only=True):
    """Entry that is kept at a key."""

    key: str
    memory_id: fields.MemoryId | None
    content: str | None
    tokens: int | None
    pinned: bool
    priority: int
    expires_at: datetime | None


class HeldReply(Reply, frozen=True, kw_only=True):
    """Something that working memory holds, or has evicted for a `reason`."""

    source: Annotated[str, Meta(extra_json_schema={"enum": ["memory", "text", "reserved", "turn"]})]
    tokens: int
    key: str | None
    memory_id: fields.MemoryId | None
    turn: fields.TurnNumber | None
    pinned: bool
    priority: int | None
    value: Annotated[float | None, doc("What a turn is worth now; the sum of `parts`.")]
    parts: dict[str, float]
    acts: Annotated[
        list[str], doc("Acts of a turn: `question`, `request`, `statement`, `preference`, `decision`, `task`. English.")
    ]
    importance: Annotated[dict[str, float], doc("Parts of the importance of a turn, which is never 0.")]
    expires_at: datetime | None
    reason: Annotated[str | None, Meta(extra_json_schema={"enum": ["budget", "gone", None]})]


class WorkingReply(Reply, frozen=True, kw_only=True):
    """The working memory of a conversation. `tokens` and `reserved` are together at most `token_budget`."""

    token_budget: int
    encoding: Encoding
    text: str
    tokens: int
    reserved: int
    free: int
    held: list[HeldReply]
    evicted: list[HeldReply]

    @classmethod
    def of(cls, value: Working, /, **more: Any) -> Self:
        return super().of(value, free=value.token_budget - value.tokens - value.reserved, **more)


class OptimizeBody(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A text to compress. `query` makes its words count more."""

    text: Annotated[str, doc("The text, which is not stored.")]
    token_budget: Budget = BUDGET
    encoding: Encoding = USUAL
    query: Annotated[str, doc("What the text is needed for.")] = ""


class OptimizedReply(Reply, frozen=True, kw_only=True):
    """The text within its budget: whole sentences and blocks of code, in their order."""

    text: str
    tokens: int
    token_budget: int
    encoding: Encoding
    tokens_before: int
