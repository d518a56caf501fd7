"""Requests and replies about checkpoints, diffs and rollbacks."""

from datetime import datetime
from typing import Annotated, Literal

from msgspec import Meta, Struct

from muisti.core.model.outcomes import Checkpoint, Cleared, Diff, MemoryChange, RolledBack
from muisti.core.model.terms import CLEAR_PHRASE
from muisti.core.model.values import Seq
from muisti.service.schemas import fields
from muisti.service.schemas.policy import FlagReply, flagged
from muisti.service.schemas.replies import FieldChangeReply, MemoryReply

CheckpointName = Annotated[
    str,
    Meta(
        description="1 to 63 of a-z, 0-9, '.', '_', '-', the first a letter.",
        extra_json_schema={"pattern": "^[a-z][a-z0-9._-]{0,62}$"},
        examples=["before-import"],
    ),
]


class CheckpointBody(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A name for the space's current point."""

    name: CheckpointName
    note: (
        Annotated[str, Meta(description="Purpose of the checkpoint.", extra_json_schema={"maxLength": 2000})] | None
    ) = None


class RollBackBody(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Point to roll back to."""

    to: Annotated[str, Meta(description="A checkpoint, a time, or a change: its number or a Muisti-Seq.")]


class ClearBody(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Confirmation that all memories of a space may be deleted."""

    confirm: Annotated[str, Meta(description=f"The phrase `{CLEAR_PHRASE}`.", examples=[CLEAR_PHRASE])]


class ClearedReply(Struct, frozen=True, kw_only=True):
    """Result of clearing a space. A rollback to `before` undoes it."""

    ended: Annotated[int, Meta(description="Memories that were deleted.")]
    before: fields.SeqText
    seq: fields.SeqText

    @classmethod
    def of(cls, done: Cleared) -> "ClearedReply":
        return cls(ended=done.ended, before=str(done.before), seq=str(done.written.seq))


class CheckpointReply(Struct, frozen=True, kw_only=True):
    """A named point of history."""

    name: CheckpointName
    seq: fields.SeqText
    created_at: datetime
    actor: Annotated[str, Meta(description="Caller that created it, as in the audit log.")]
    note: str | None

    @classmethod
    def of(cls, one: Checkpoint, at: Seq) -> "CheckpointReply":
        """Make the reply of a checkpoint; `at` is any point of the same epoch."""
        seq = str(Seq(at.epoch, one.seq))
        return cls(name=one.name, seq=seq, created_at=one.created_at, actor=one.actor, note=one.note)


class CheckpointsReply(Struct, frozen=True, kw_only=True):
    """All checkpoints of a space, newest first."""

    items: list[CheckpointReply]
    next_cursor: None = None


class MemoryChangeReply(Struct, frozen=True, kw_only=True):
    """Difference of a memory between two points. `before` and `after` are null where it was not current."""

    id: fields.MemoryId
    change: Literal["added", "changed", "ended"]
    before: MemoryReply | None
    after: MemoryReply | None
    changes: list[FieldChangeReply]

    @classmethod
    def of(cls, one: MemoryChange) -> "MemoryChangeReply":
        before, after = (None if memory is None else MemoryReply.of(memory) for memory in (one.before, one.after))
        changes = [FieldChangeReply(field=each.field, before=each.before, after=each.after) for each in one.fields]
        return cls(id=one.id, change=one.change, before=before, after=after, changes=changes)


class DiffReply(Struct, frozen=True, kw_only=True):
    """A page of what changed between two points, in the order of ids."""

    items: list[MemoryChangeReply]
    next_cursor: str | None
    since: fields.SeqText
    until: fields.SeqText

    @classmethod
    def of(cls, diff: Diff) -> "DiffReply":
        items = [MemoryChangeReply.of(one) for one in diff.items]
        return cls(items=items, next_cursor=diff.next_cursor, since=str(diff.since), until=str(diff.until))


class RolledBackReply(Struct, frozen=True, kw_only=True):
    """Result of a rollback: the space is as it was at `to`. A rollback to `before` undoes it."""

    to: fields.SeqText
    before: fields.SeqText
    added: Annotated[int, Meta(description="Memories that came back.")]
    changed: int
    ended: int
    flags: Annotated[list[FlagReply], Meta(description="Differences from the earlier state; empty for none.")]
    seq: fields.SeqText

    @classmethod
    def of(cls, done: RolledBack) -> "RolledBackReply":
        tally = done.written.tally
        assert tally is not None
        return cls(
            to=str(done.to),
            before=str(done.before),
            added=tally.added,
            changed=tally.changed,
            ended=tally.ended,
            flags=flagged(done.written.flags),
            seq=str(done.written.seq),
        )
