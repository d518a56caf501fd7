"""Conflicts that are stored and wait for a decision."""

from datetime import datetime

from msgspec import Struct

from muisti.core.model.outcomes import Difference, ReviewKind
from muisti.core.model.values import Memory, Seq


class OpenConflict(Struct, frozen=True, kw_only=True):
    """Two current memories, the later of which repeats or contradicts the other.

    `similarity` is the cosine of both texts when they were compared; `differs` has the words in which they differ.
    """

    id: int
    kind: ReviewKind
    similarity: float | None
    opened_at: datetime
    actor: str
    existing: Memory
    new: Memory
    differs: tuple[Difference, ...]


class ConflictPage(Struct, frozen=True, kw_only=True):
    """A page of open conflicts, newest first. `next_cursor` is None on the last."""

    items: tuple[OpenConflict, ...]
    next_cursor: str | None
    seq: Seq
