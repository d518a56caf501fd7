"""Requests and replies of reviews: conflicts that wait for a decision, and candidates."""

from datetime import datetime
from typing import Annotated, Any, get_args

from msgspec import UNSET, Meta, Struct, UnsetType

from muisti.core.model.outcomes import ConflictPage, OpenConflict, Reviewed, ReviewKind
from muisti.core.model.terms import Decision
from muisti.core.model.values import Seq
from muisti.service.schemas import fields
from muisti.service.schemas.likeness import DifferenceReply, differing
from muisti.service.schemas.replies import MemoryReply
from muisti.service.settings import Settings

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


Counts = Annotated[dict[str, int], Meta(description="Memories by status.")]


class PromoteBody(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Least number of retrievals of a candidate; the default is that of the settings."""

    retrievals: Annotated[int, Meta(ge=0, description="MUISTI_PROMOTE_RETRIEVALS")] | UnsetType = UNSET

    def thresholds(self, settings: Settings) -> dict[str, Any]:
        usual = settings.promote_retrievals
        return {"retrievals": usual if self.retrievals is UNSET else self.retrievals}


class PruneBody(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Limits below which candidates are deprecated: older and retrieved less often. The settings have the defaults."""

    retrievals: Annotated[int, Meta(ge=0, description="MUISTI_PRUNE_RETRIEVALS")] | UnsetType = UNSET
    days: Annotated[float, Meta(ge=0, description="MUISTI_PRUNE_DAYS")] | UnsetType = UNSET

    def thresholds(self, settings: Settings) -> dict[str, Any]:
        return {
            "retrievals": settings.prune_retrievals if self.retrievals is UNSET else self.retrievals,
            "days": settings.prune_days if self.days is UNSET else self.days,
        }


class ReviewReply(Struct, frozen=True, kw_only=True):
    """The memories whose status changed, and how many memories there are of each before and after."""

    items: list[MemoryReply]
    before: Counts
    after: Counts
    more: Annotated[bool, Meta(description="There may be more: call again.")]
    seq: fields.SeqText

    @classmethod
    def of(cls, reviewed: Reviewed) -> "ReviewReply":
        return cls(
            items=[MemoryReply.of(memory) for memory in reviewed.written.memories],
            before=dict(reviewed.before),
            after=dict(reviewed.after),
            more=reviewed.more,
            seq=str(reviewed.written.seq),
        )
