"""Replies about sessions, conversations, topics and exchanges; requests are in `requests.py`."""

from datetime import datetime
from typing import Annotated, Any, Literal, Self

from msgspec import UNSET, Meta, Struct, UnsetType

from muisti.core.conversations.model import USERS_MAX, Object
from muisti.core.conversations.view import Suggestions
from muisti.core.model.outcomes import Ending
from muisti.service.schemas import fields
from muisti.service.schemas.copying import Reply
from muisti.service.schemas.errors import Problem
from muisti.service.schemas.fields import doc
from muisti.service.schemas.policy import FlagReply
from muisti.service.schemas.replies import Cursor, ItemReply, ItemsReply, MemoryReply

Title = Annotated[str, doc("What it is called.", minLength=1, maxLength=2000)]
Users = Annotated[list[fields.Author], doc("Who takes part.", maxItems=USERS_MAX, examples=[["Ann"]])]
StateName = Annotated[str, doc("A closed one takes no more turns.", enum=["open", "closed"])]
Spans = Annotated[
    list[Annotated[list[int], Meta(min_length=2, max_length=2)]],
    doc("Stretches of turns: the first and the last of each.", examples=[[[1, 12], [30, 34]]]),
]


class _ObjectReply(Reply, frozen=True, kw_only=True):
    """Fields that sessions, conversations and topics have in common."""

    within = ("counted", "memory")
    named = {"title": "memory.content"}

    id: fields.MemoryId
    version: Annotated[int, doc("1, 2, … as it changes.", ge=1)]
    name: str
    title: Title
    state: StateName
    category: fields.Category | None
    metadata: fields.Metadata
    tags: fields.Tags
    created_at: fields.Time
    updated_at: fields.Time
    closed_at: fields.Time | None
    turns: Annotated[int, doc("How many exchanges it has.", ge=0)]
    tokens: Annotated[int, doc("Words, punctuation marks and CJK characters of its exchanges.", ge=0)]
    first_at: Annotated[datetime | None, doc("When its first turn was said.")]
    last_at: Annotated[datetime | None, doc("When its last turn was said.")]

    @classmethod
    def of(cls, value: Object, /, **more: Any) -> Self:
        closed_at = value.memory.structure.get("closed_at")
        closed = datetime.fromisoformat(closed_at) if isinstance(closed_at, str) else None
        return super().of(value, closed_at=closed, **more)


class SessionReply(_ObjectReply, frozen=True, kw_only=True):
    """A session, with the sizes of its conversations."""

    name: fields.SessionName
    users: Users
    conversations: Annotated[int, doc("How many conversations it has.", ge=0)]


class ConversationReply(_ObjectReply, frozen=True, kw_only=True):
    """A conversation, with its sizes. `next_turn` is the first turn behind all others."""

    name: fields.ConversationName
    session: fields.SessionName | None
    users: Users
    topics: Annotated[int, doc("How many topics it has.", ge=0)]
    next_turn: fields.TurnNumber

    @classmethod
    def of(cls, value: Object, /, **more: Any) -> Self:
        last = value.counted.last_turn
        return super().of(value, next_turn=1 if last is None else last + 1, **more)


class TopicReply(_ObjectReply, frozen=True, kw_only=True):
    """A topic of a conversation: stretches of its turns."""

    name: fields.TopicName
    conversation: fields.ConversationName
    spans: Spans

    @classmethod
    def of(cls, value: Object, /, **more: Any) -> Self:
        return super().of(value, spans=value.memory.structure.get("spans", []), **more)


Total = Annotated[int, doc("How many there are on all pages.", ge=0)]


class SessionsReply(Reply, frozen=True, kw_only=True):
    """Sessions."""

    items: list[SessionReply]
    total: Total
    next_cursor: Cursor


class ConversationsReply(Reply, frozen=True, kw_only=True):
    """Conversations, those with the latest turn first unless `sort` names another order."""

    items: list[ConversationReply]
    total: Total
    next_cursor: Cursor


class TopicsReply(Reply, frozen=True, kw_only=True):
    """Topics of a conversation."""

    items: list[TopicReply]
    total: Total
    next_cursor: Cursor


class ExchangesReply(Reply, frozen=True, kw_only=True):
    """Exchanges of a conversation, in the order of their turns."""

    items: list[MemoryReply]
    total: Total
    next_cursor: Cursor


class ArrivedReply(Reply, frozen=True, kw_only=True):
    """A turn that came in: the memory that it is, and whether it was there already."""

    named = {"turn": "memory.turn", "id": "memory.id"}

    turn: fields.TurnNumber
    id: fields.MemoryId
    replayed: Annotated[bool, doc("The turn was there already, with the same content.")]
    topic: fields.TopicName | None


class StreamedReply(Reply, frozen=True, kw_only=True):
    """Turns that came in, in the order of the request."""

    named = {"created": "made"}

    conversation: fields.ConversationName
    session: fields.SessionName | None
    category: fields.Category | None
    items: list[ArrivedReply]
    created: Annotated[int, doc("How many of them are new.", ge=0)]
    next_turn: fields.TurnNumber
    flags: Annotated[list[FlagReply], doc("Empty when all is stored as it was sent.")]


class EndedReply(Reply, frozen=True, kw_only=True):
    """Counts of what was deleted, by kind. An undo of the request brings all of it back."""

    sessions: int
    conversations: int
    topics: int
    exchanges: int
    summaries: int
    total: int

    @classmethod
    def of(cls, value: Ending, /, **more: Any) -> Self:
        named = {"session": "sessions", "conversation": "conversations", "topic": "topics", "summary": "summaries"}
        counts = dict.fromkeys((*named.values(), "exchanges"), 0)
        for kind, number in value.counts.items():
            counts[named.get(kind, "exchanges")] += number
        return super().of(value, **counts, **more)


class SuggestionReply(Reply, frozen=True, kw_only=True):
    """A preference that a turn states. `memory` is there when it was stored, `problem` when it was not."""

    turn: int
    status: Annotated[
        Literal["created", "duplicate", "failed"],
        doc("`duplicate`: a current memory says it already; `failed`: refused for another reason."),
    ]
    memory: MemoryReply | UnsetType = UNSET
    problem: Problem | UnsetType = UNSET


class SuggestionsReply(Struct, frozen=True, kw_only=True):
    """Preferences that users state, each stored as a candidate, or the reason why it was not."""

    items: list[SuggestionReply]
    created: int
    duplicates: int
    failed: int
    flags: Annotated[list[FlagReply], doc("What was not stored as it was said; empty when all was.")]
    next_turn: Annotated[int | None, doc("Where to go on with `from`; null when all turns were read.")]

    @classmethod
    def of(cls, found: Suggestions, stored: ItemsReply) -> "SuggestionsReply":
        """Join suggestions with what became of each."""
        items = [_suggested(one.turn, item) for one, item in zip(found.items, stored.items, strict=True)]
        duplicates = sum(item.status == "duplicate" for item in items)
        return cls(
            items=items,
            created=stored.created,
            duplicates=duplicates,
            failed=stored.failed - duplicates,
            flags=stored.flags,
            next_turn=found.next_turn,
        )


def _suggested(turn: int, item: ItemReply) -> SuggestionReply:
    is_known = item.problem is not UNSET and item.problem.code == "duplicate"
    return SuggestionReply(
        turn=turn, status="duplicate" if is_known else item.status, memory=item.memory, problem=item.problem
    )


class LeftReply(Reply, frozen=True, kw_only=True):
    """A memory that was not adopted, and why."""

    id: fields.MemoryId
    why: str


class AdoptedReply(Reply, frozen=True, kw_only=True):
    """Counts of what was adopted: exchanges, and the conversations and sessions that were made for them."""

    exchanges: int
    conversations: int
    sessions: int
    left: Annotated[int, doc("Memories with a turn that stay as they are; `items` has the first 100.")]
    items: list[LeftReply]
