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
