"""Replies of a dry run."""

from typing import Annotated, Any, Literal

from msgspec import Meta

from muisti.service.schemas import fields
from muisti.service.schemas.copying import Reply, Same


class PlannedReply(Same, frozen=True, kw_only=True):
    """A change that the request would make, and the version that it would make or end."""

    kind: str
    memory_id: fields.MemoryId
    version: int


class ShiftReply(Same, frozen=True, kw_only=True):
    """A probe whose expected memory would get another rank."""

    id: fields.MemoryId
    query: str
    before: Annotated[int | None, Meta(description="Its rank now; null: not among the first 100.")]
    after: Annotated[int | None, Meta(description="The rank that it would have.")]


class DryRunReply(Reply, frozen=True, kw_only=True):
    """Changes and answer of the request, without storing anything. A new memory would have another id."""

    dry_run: Literal[True] = True
    status: Annotated[int, Meta(description="The status that it would answer.")]
    changes: Annotated[int, Meta(description="How many changes it would make; `items` are the first 1,000.")]
    items: list[PlannedReply]
    probes: Annotated[
        list[ShiftReply] | None,
        Meta(description="Probes that would rank otherwise; null when checking takes too long."),
    ]
    answer: Annotated[Any, Meta(description="The body that it would answer, null for none.")]
