"""Sessions, conversations, topics and turns as callers state and see them, and the working memory of a conversation."""

from collections.abc import Mapping
from datetime import datetime
from typing import Literal, get_args

import msgspec

from muisti.core.model.choices import SourceClass
from muisti.core.model.outcomes import Flag, Plan, Written
from muisti.core.model.places import Level
from muisti.core.model.values import Json, Memory, Seq

# The working memory of a conversation: what it keeps, and what it holds within a number of tokens

BUDGET = 4_096  # tokens
BUDGET_MAX = 1_000_000
PRIORITY_MAX = 10
KEPT_MAX = 200  # entries of a conversation
TEXT_MAX = 20_000  # characters of a text of the caller's

Source = Literal["memory", "text", "reserved", "turn"]
Reason = Literal["budget", "gone"]


class Entry(msgspec.Struct, frozen=True, kw_only=True):
    """Something that a caller keeps: a memory by its id, a text, or nothing but reserved tokens.

    What is `pinned` is never evicted. Of the rest, what has the lowest `priority` (0 to 10) goes first.
    """

    key: str
    memory_id: str | None = None
    content: str | None = None
    tokens: int | None = None
    pinned: bool = True
    priority: int = 5
    made_at: datetime | None = None
    expires_at: datetime | None = None

    @property
    def source(self) -> Source:
        return "memory" if self.memory_id is not None else "text" if self.content is not None else "reserved"


class Held(msgspec.Struct, frozen=True, kw_only=True):
    """Part of the working memory, or something that it has evicted for a `reason`.

    `tokens` are those of its text with a line break. `value` is the sum of the `parts`: importance, recency, coherence
    with the latest turns. `importance` has the parts
    of the first, and `acts` says what a turn does. `key` is None for a turn.
    """

    source: Source
    tokens: int
    key: str | None = None
    memory_id: str | None = None
    turn: int | None = None
    text: str = ""
    pinned: bool = False
    priority: int | None = None
    value: float | None = None
    parts: Mapping[str, float] = msgspec.field(default_factory=dict[str, float])
    acts: tuple[str, ...] = ()
    importance: Mapping[str, float] = msgspec.field(default_factory=dict[str, float])
    expires_at: datetime | None = None
    reason: Reason | None = None


class Working(msgspec.Struct, frozen=True, kw_only=True):
    """The working memory of a conversation: `text` and reserved tokens never take more than the budget."""

    token_budget: int
    encoding: str
    text: str
    tokens: int
    reserved: int
    held: tuple[Held, ...]
    evicted: tuple[Held, ...]
    seq: Seq


State = Literal["open", "closed"]
ConversationSort = Literal["-last_at", "last_at", "-created_at", "created_at", "name", "-name"]
CONVERSATION_SORTS: tuple[ConversationSort, ...] = get_args(ConversationSort)

DEFAULT_SESSION = "default"  # of conversations that are made without one
EXCHANGES_MAX = 1_000  # in one request
USERS_MAX = 50  # of a session or conversation


class Turn(msgspec.Struct, frozen=True, kw_only=True):
    """A turn that a caller streams in: an exchange of two messages, or what one speaker says.

    `turn` None takes the next one of the conversation. `author` speaks first. `reply` is the other message, None for a
    turn alone, and `replier` is who says it.
    """

    content: str
    turn: int | None = None
    at: datetime | None = None
    author: str | None = None
    reply: str | None = None
    replier: str | None = None
    metadata: Mapping[str, Json] = msgspec.field(default_factory=dict[str, Json])
    tags: tuple[str, ...] = ()
    source: str | None = None
    source_class: SourceClass = "unknown"


class Arrived(msgspec.Struct, frozen=True):
    """A turn of a request as it is stored. `replayed`: it was there already, with the same content.

    `topic` is the name of the topic that it belongs to, None while that is not decided.
    """

    memory: Memory
    replayed: bool
    topic: str | None = None


class Streamed(msgspec.Struct, frozen=True, kw_only=True):
    """Outcome of a request that streams turns in. `made` counts new exchanges, `next_turn` is the next number.

    `plan` is that of a dry run, None otherwise.
    """

    conversation: str
    session: str | None
    category: str | None
    items: tuple[Arrived, ...]
    next_turn: int
    seq: Seq
    plan: Plan | None = None
    flags: tuple[Flag, ...] = ()
    commit: float = 0.0

    @property
    def made(self) -> int:
        return sum(not one.replayed for one in self.items)


class Counted(msgspec.Struct, frozen=True, kw_only=True):
    """Sizes of an object: exchanges, topics, conversations, tokens of the exchanges, and the times of its turns."""

    turns: int = 0
    topics: int = 0
    conversations: int = 0
    tokens: int = 0
    first_at: datetime | None = None
    last_at: datetime | None = None
    last_turn: int | None = None


class Object(msgspec.Struct, frozen=True, kw_only=True):
    """A session, conversation or topic, with its sizes. `memory` is the version that holds it."""

    level: Level
    name: str
    memory: Memory
    counted: Counted

    @property
    def state(self) -> State:
        return "closed" if self.memory.structure.get("state") == "closed" else "open"

    @property
    def users(self) -> tuple[str, ...]:
        users = self.memory.structure.get("users")
        return tuple(map(str, users)) if isinstance(users, list) else ()


class Kept(msgspec.Struct, frozen=True, kw_only=True):
    """An object as a write has made or changed it, and the write."""

    found: Object
    written: Written


class ObjectPage(msgspec.Struct, frozen=True, kw_only=True):
    """A page of sessions, conversations or topics; `total` counts all that meet the filters."""

    items: tuple[Object, ...]
    total: int
    next_cursor: str | None
    seq: Seq


class ExchangePage(msgspec.Struct, frozen=True, kw_only=True):
    """A page of the exchanges of a conversation, in the order of their turns; `total` counts all of them."""

    items: tuple[Memory, ...]
    total: int
    next_cursor: str | None
    seq: Seq


class Change(msgspec.Struct, frozen=True, kw_only=True):
    """Changes to an object; what is None stays. `session` moves a conversation, `spans` set the turns of a topic."""

    title: str | None = None
    users: tuple[str, ...] | None = None
    metadata: Mapping[str, Json] | None = None
    tags: tuple[str, ...] | None = None
    session: str | None = None
    state: State | None = None
    spans: tuple[tuple[int, int], ...] | None = None


class NewObject(msgspec.Struct, frozen=True, kw_only=True):
    """A session, conversation or topic as a caller states it. A missing name or title is made by the service."""

    name: str | None = None
    title: str | None = None
    users: tuple[str, ...] = ()
    session: str | None = None
    metadata: Mapping[str, Json] = msgspec.field(default_factory=dict[str, Json])
    category: str | None = None
    tags: tuple[str, ...] = ()
    at: datetime | None = None
    spans: tuple[tuple[int, int], ...] = ()  # of a topic: first and last turn of each stretch
