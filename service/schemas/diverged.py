"""Memories that prevent a merge, in the form for refusals."""

from collections.abc import Sequence
from typing import Annotated

from msgspec import Meta

from muisti.core.model.comparisons import Divergence
from muisti.service.schemas import fields
from muisti.service.schemas.copying import Reply

BEGINNING = 200  # characters


class DivergedReply(Reply, frozen=True, kw_only=True):
    """A memory that both spaces have changed: its id in the space and in the other, and what it says in each."""

    id: fields.MemoryId
    other: fields.MemoryId
    ours: Annotated[str | None, Meta(description="The start of its content; null where it was deleted.")]
    theirs: str | None


def diverged(found: Sequence[Divergence]) -> list[DivergedReply]:
    """Return the memories in the form for a refusal."""
    return [
        DivergedReply(
            id=one.id,
            other=one.other,
            ours=None if one.ours is None else one.ours.content[:BEGINNING],
            theirs=None if one.theirs is None else one.theirs.content[:BEGINNING],
        )
        for one in found
    ]
