"""The working memory of a conversation: what it keeps, and what it holds within a number of tokens."""

from collections.abc import Mapping
from datetime import datetime
from typing import Literal

import msgspec

from muisti.core.model.values import Seq

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
