"""Requests and replies about checkpoints, diffs, rollbacks, forks, comparisons and merges."""

from datetime import datetime
from typing import Annotated, Literal, Self

from msgspec import Meta, Struct

from muisti.core.model.choices import CLEAR_PHRASE
from muisti.core.model.outcomes import Checkpoint, Strategy
from muisti.core.model.values import Seq
from muisti.service.schemas import fields
from muisti.service.schemas.copying import Reply
from muisti.service.schemas.fields import doc
from muisti.service.schemas.policy import FlagReply
from muisti.service.schemas.replies import FieldChangeReply, MemoryReply

CheckpointName = Annotated[
    str,
    Meta(
        description="1 to 63 of a-z, 0-9, '.', '_', '-', the first a letter.",
        extra_json_schema={"pattern": "^[a-z][a-z0-9._-]{0,62}$"},  # checked by the core
        examples=["before-import"],
    ),
]


class CheckpointBody(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A name for the space's current point."""

    name: CheckpointName
    note: Annotated[str, doc("Purpose of the checkpoint.", maxLength=2000)] | None = None


class RollBackBody(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Point to roll back to."""

    to: Annotated[str, doc("A checkpoint, a time, or a change: its number or a Muisti-Seq.")]


class ClearBody(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Confirmation that all memories of a space may be deleted."""

    confirm: Annotated[str, doc(f"The phrase `{CLEAR_PHRASE}`.", examples=[CLEAR_PHRASE])]


class ClearedReply(Reply, frozen=True, kw_only=True):
    """Result of clearing a space. A rollback to `before` undoes it."""

    within = ("written",)

    ended: Annotated[int, doc("Memories that were deleted.")]
    before: fields.SeqText
    seq: fields.SeqText


class CheckpointReply(Reply, frozen=True, kw_only=True):
    """A named point of history."""

    name: CheckpointName
    seq: fields.SeqText
    created_at: datetime
    actor: Annotated[str, doc("Caller that created it, as in the audit log.")]
    note: str | None

    @classmethod
    def at(cls, one: Checkpoint, point: Seq) -> Self:
        """Return the reply of a checkpoint; `point` is any point of the same epoch."""
        return cls.of(one, seq=str(Seq(point.epoch, one.seq)))


class CheckpointsReply(Reply, frozen=True, kw_only=True):
    """All checkpoints of a space, newest first."""

    items: list[CheckpointReply]
    next_cursor: None = None


class MemoryChangeReply(Reply, frozen=True, kw_only=True):
    """Difference of a memory between two points. `before` and `after` are null where it was not current."""

    named = {"changes": "fields"}

    id: fields.MemoryId
    change: Literal["added", "changed", "ended"]
    before: MemoryReply | None
    after: MemoryReply | None
    changes: list[FieldChangeReply]


class DiffReply(Reply, frozen=True, kw_only=True):
    """A page of what changed between two points, in the order of ids."""

    items: list[MemoryChangeReply]
    next_cursor: str | None
    since: fields.SeqText
    until: fields.SeqText


class RolledBackReply(Reply, frozen=True, kw_only=True):
    """Result of a rollback: the space is as it was at `to`. A rollback to `before` undoes it."""

    within = ("written.tally", "written")

    to: fields.SeqText
    before: fields.SeqText
    added: Annotated[int, doc("Memories that came back.")]
    changed: int
    ended: int
    flags: Annotated[list[FlagReply], doc("Differences from the earlier state; empty for none.")]
    seq: fields.SeqText


# Requests and replies about forks, comparisons and merges


class ForkBody(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A name for the copy."""

    name: fields.SpaceName


class MergeBody(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, rename={"source": "from"}):
    """Space to merge into this one, and the side that wins when both have changed a memory."""

    source: fields.SpaceName
    strategy: Annotated[Strategy, doc("Side that wins: `ours` is this space, `theirs` the other.")] | None = None
    drop: Annotated[bool, doc("Erase the other space afterwards; needs the scope admin.")] = False


class DivergenceReply(Reply, frozen=True, kw_only=True):
    """A memory that differs between two spaces: `ours` in this space, `theirs` in the other; null where it is missing.

    `id` is its id in this space, `other` that in the other one. `here` and `there` are the changes on each side since
    both were the same.
    """

    id: fields.MemoryId
    other: fields.MemoryId
    conflict: Annotated[bool, doc("Both have changed it, or want one address.")]
    ours: MemoryReply | None
    theirs: MemoryReply | None
    here: list[FieldChangeReply]
    there: list[FieldChangeReply]


class ComparisonReply(Reply, frozen=True, kw_only=True):
    """A page of what differs between two spaces, and the points of both at which that was seen."""

    items: list[DivergenceReply]
    next_cursor: str | None
    seq: fields.SeqText
    other: fields.SeqText


class MergedReply(Reply, frozen=True, kw_only=True):
    """Number of memories that the space has taken over."""

    within = ("tally",)
    named = {"ended": "tally.ended"}

    added: int
    changed: int
    ended: int
    flags: Annotated[list[FlagReply], doc("Differences from the merged state; empty for none.")]
    seq: fields.SeqText
