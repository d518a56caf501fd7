"""Requests and replies about conflicts that wait for a decision."""

from datetime import datetime
from typing import Annotated, get_args

from msgspec import Meta, Struct

from muisti.core.model.conflicts import ConflictPage, OpenConflict
from muisti.core.model.outcomes import ReviewKind
from muisti.core.model.terms import Decision
from muisti.core.model.values import Seq
from muisti.service.schemas import fields
from muisti.service.schemas.likeness import DifferenceReply, differing
from muisti.service.schemas.replies import MemoryReply

ConflictId = Annotated[str, Meta(description="Number of the conflict.", examples=["12"])]
DecisionName = Annotated[
    Decision,
    Meta(
        description="`keep` both, let the new one `supersede` the existing one, or `reject` the new one: delete it.",
        extra_json_schema={"type": "string", "enum": list(get_args(Decision))},
    ),
]


class DecisionBody(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Decision on the two memories of a conflict."""

    decision: DecisionName


class ConflictReply(Struct, frozen=True, kw_only=True):
    """Two current memories: `new` was stored although it says what `existing` says, or the contrary."""

    id: ConflictId
    kind: Annotated[
        ReviewKind,
        Meta(
            description="`duplicate` says the same, `conflict` the contrary or another value, `possible_conflict` "
            "perhaps the contrary."
        ),
    ]
    similarity: Annotated[float | None, Meta(description="Cosine of both texts when they were compared.")]
    differs: Annotated[list[DifferenceReply], Meta(description="Their differences.")]
    opened_at: datetime
    actor: Annotated[str, Meta(description="Caller that stored the new one, as in the audit log.")]
    existing: MemoryReply
    new: MemoryReply

    @classmethod
    def of(cls, one: OpenConflict) -> "ConflictReply":
        return cls(
            id=str(one.id),
            kind=one.kind,
            similarity=one.similarity,
            differs=differing(one.differs),
            opened_at=one.opened_at,
            actor=one.actor,
            existing=MemoryReply.of(one.existing),
            new=MemoryReply.of(one.new),
        )


class ConflictsReply(Struct, frozen=True, kw_only=True):
    """A page of open conflicts, newest first."""

    items: list[ConflictReply]
    next_cursor: str | None

    @classmethod
    def of(cls, page: ConflictPage) -> "ConflictsReply":
        return cls(items=[ConflictReply.of(one) for one in page.items], next_cursor=page.next_cursor)


class DecidedReply(Struct, frozen=True, kw_only=True):
    """The decision, and the ids of both memories."""

    id: ConflictId
    decision: DecisionName
    existing_id: fields.MemoryId
    new_id: fields.MemoryId
    seq: fields.SeqText

    @classmethod
    def of(cls, one: OpenConflict, decision: Decision, seq: Seq) -> "DecidedReply":
        return cls(id=str(one.id), decision=decision, existing_id=one.existing.id, new_id=one.new.id, seq=str(seq))
