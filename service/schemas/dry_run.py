"""What a dry run answers."""

from typing import Annotated, Any, Literal

from msgspec import Meta, Struct

from core.values import Plan
from service.schemas import fields


class PlannedReply(Struct, frozen=True, kw_only=True):
    """A change that the request would make, and the version that it would make or end."""

    kind: str
    memory_id: fields.MemoryId
    version: int


class DryRunReply(Struct, frozen=True, kw_only=True):
    """What the request would do and answer; nothing is stored. A new memory would have another id."""

    dry_run: Literal[True] = True
    status: Annotated[int, Meta(description="The status that it would answer.")]
    changes: Annotated[int, Meta(description="How many changes it would make; `items` are the first 1,000.")]
    items: list[PlannedReply]
    answer: Annotated[Any, Meta(description="The body that it would answer, null for none.")]

    @classmethod
    def of(cls, plan: Plan, status: int, answer: object) -> "DryRunReply":
        items = [PlannedReply(kind=one.kind, memory_id=one.memory_id, version=one.version) for one in plan.items]
        return cls(status=status, changes=plan.changes, items=items, answer=answer)
