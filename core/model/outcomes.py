"""What a write did, would do, or met. Plain, frozen, without I/O, as `core.model.values`."""

from collections.abc import Mapping
from typing import Literal

import msgspec

from muisti.core.model.values import Memory, Seq

LikenessKind = Literal["duplicate", "conflict", "possible_conflict", "similar", "address"]
ReviewKind = Literal["duplicate", "conflict", "possible_conflict"]  # of pairs that wait for a decision
DifferenceKind = Literal["negation", "opposite", "number", "date", "name"]
FlagCode = Literal["redacted", "suspected", "trust_lowered", "echo"]


class Difference(msgspec.Struct, frozen=True):
    """Where two memories that are otherwise alike part: the words of each, None where one has nothing of the kind."""

    kind: DifferenceKind
    existing: str | None
    new: str | None


class Likeness(msgspec.Struct, frozen=True, kw_only=True):
    """A current memory that is like a new one. `content` is its beginning.

    A `duplicate` says the same, a `conflict` the contrary, a `possible_conflict` perhaps the contrary, a `similar` one
    nearly the same; an `address` is only the same category and key. `similarity` is the cosine of both texts, None
    where they were not compared.
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


class Planned(msgspec.Struct, frozen=True):
    """A change that a write would make: to which memory, and the version that it would make or end."""

    kind: str
    memory_id: str
    version: int


class Shift(msgspec.Struct, frozen=True):
    """A probe that would rank what it expects otherwise; ranks count from 1, None: not among the first 100."""

    id: str
    query: str
    before: int | None
    after: int | None


class Plan(msgspec.Struct, frozen=True):
    """What a dry run has found: the number of changes that the write would make, and the first of them.

    `probes` are those that would rank otherwise; None when that takes too long to tell, or is not for the caller.
    """

    changes: int
    items: tuple[Planned, ...]
    probes: tuple[Shift, ...] | None = ()


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
