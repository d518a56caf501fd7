"""Requests and replies about forks, comparisons and merges."""

from typing import Annotated, Any, Self

from msgspec import Meta, Struct

from muisti.core.model.comparisons import Strategy
from muisti.core.model.outcomes import Written
from muisti.service.schemas import fields
from muisti.service.schemas.copying import Reply
from muisti.service.schemas.policy import FlagReply, flagged
from muisti.service.schemas.replies import FieldChangeReply, MemoryReply


class ForkBody(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A name for the copy."""

    name: fields.SpaceName


class MergeBody(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, rename={"source": "from"}):
    """Space to merge into this one, and the side that wins when both have changed a memory."""

    source: fields.SpaceName
    strategy: (
        Annotated[Strategy, Meta(description="Side that wins: `ours` is this space, `theirs` the other.")] | None
    ) = None
    drop: Annotated[bool, Meta(description="Erase the other space afterwards; needs the scope admin.")] = False


class DivergenceReply(Reply, frozen=True, kw_only=True):
    """A memory that differs between two spaces: `ours` in this space, `theirs` in the other; null where it is missing.

    `id` is its id in this space, `other` that in the other one. `here` and `there` are the changes on each side since
    both were the same.
    """

    id: fields.MemoryId
    other: fields.MemoryId
    conflict: Annotated[bool, Meta(description="Both have changed it, or want one address.")]
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

    added: int
    changed: int
    ended: int
    flags: Annotated[list[FlagReply], Meta(description="Differences from the merged state; empty for none.")]
    seq: fields.SeqText

    @classmethod
    def of(cls, value: Written, /, **more: Any) -> Self:
        return super().of(value.tally, flags=flagged(value.flags), seq=str(value.seq), **more)
