"""Conflicts that were stored and wait for somebody to decide."""

from datetime import datetime

from msgspec import Struct

from muisti.core.model.outcomes import Difference, ReviewKind
from muisti.core.model.values import Memory, Seq


class OpenConflict(Struct, frozen=True, kw_only=True):
    """Two current memories of which the later one says the same as the other, or the contrary.

    `similarity` is the cosine of both texts when they were compared; `differs` is where they part.
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
