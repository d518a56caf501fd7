"""Requests and replies about reviews of candidates."""

from typing import Annotated, Any

from msgspec import UNSET, Meta, Struct, UnsetType

from muisti.core.model.outcomes import Reviewed
from muisti.service.schemas import fields
from muisti.service.schemas.replies import MemoryReply
from muisti.service.settings import Settings

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
