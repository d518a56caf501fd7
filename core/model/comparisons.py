"""Differences between two points of a space, or between two spaces, as frozen values without I/O."""

from datetime import datetime
from typing import Literal

import msgspec

from muisti.core.model.values import FieldChange, Memory, Seq

Strategy = Literal["ours", "theirs"]


class Checkpoint(msgspec.Struct, frozen=True, kw_only=True):
    """A named point of a space's history, and who named it."""

    name: str
    seq: int
    created_at: datetime
    actor: str
    note: str | None


class MemoryChange(msgspec.Struct, frozen=True, kw_only=True):
    """A change of a memory between two points; `before` and `after` are None where it was not current."""

    id: str
    change: Literal["added", "changed", "ended"]
    before: Memory | None
    after: Memory | None
    fields: tuple[FieldChange, ...]


class Diff(msgspec.Struct, frozen=True, kw_only=True):
    """A page of memories that changed between two points, ordered by id. `next_cursor` is None on the last page."""

    items: tuple[MemoryChange, ...]
    next_cursor: str | None
    since: Seq
    until: Seq


class Divergence(msgspec.Struct, frozen=True, kw_only=True):
    """A memory that differs between a space and another that is to be merged into it.

    `ours` is the memory of the space and `theirs` that of the other; None where there is none. `here` and `there` are
    the fields that each has changed since both were the same. `conflict` is true when both have changed the memory, or
    two memories have the same address.
    """

    id: str
    other: str
    conflict: bool
    ours: Memory | None
    theirs: Memory | None
    here: tuple[FieldChange, ...]
    there: tuple[FieldChange, ...]


class Comparison(msgspec.Struct, frozen=True, kw_only=True):
    """A page of memories that differ between a space, at `seq`, and another, at `other`; no cursor on the last page."""

    items: tuple[Divergence, ...]
    next_cursor: str | None
    seq: Seq
    other: Seq
