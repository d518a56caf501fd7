"""Replies about communities of the knowledge graph."""

from typing import Annotated

from msgspec import Meta, Struct

from muisti.core.model.communities import TELLING_MAX, Communities, Community
from muisti.service.schemas import fields
from muisti.service.schemas.graph import EndReply, Pending


class CommunityReply(Struct, frozen=True, kw_only=True):
    """Entities that memories mention together more often than by chance."""

    entities: Annotated[
        list[EndReply],
        Meta(description=f"Those with the most ties inside, best first, at most {TELLING_MAX}."),
    ]
    size: Annotated[int, Meta(description="Names that belong to it.")]
    memories: Annotated[int, Meta(description="Memories that mention two of the names or more.")]

    @classmethod
    def of(cls, one: Community) -> "CommunityReply":
        return cls(entities=[EndReply.of(end) for end in one.entities], size=one.size, memories=one.memories)


class CommunitiesReply(Struct, frozen=True, kw_only=True):
    """Communities of three names and more, those with the most memories first."""

    items: list[CommunityReply]
    total: int
    too_large: Annotated[bool, Meta(description="Whether the graph has too many mentions to look for any.")]
    pending: Pending
    seq: fields.SeqText

    @classmethod
    def of(cls, found: Communities) -> "CommunitiesReply":
        return cls(
            items=[CommunityReply.of(one) for one in found.items],
            total=found.total,
            too_large=found.too_large,
            pending=found.pending,
            seq=str(found.seq),
        )
