"""Memories that are like a new one, in the form for replies and problems."""

from collections.abc import Iterable
from typing import Annotated

from msgspec import Meta

from muisti.core.model.outcomes import Difference, DifferenceKind, Likeness, LikenessKind
from muisti.service.schemas import fields
from muisti.service.schemas.copying import Same


class DifferenceReply(Same, frozen=True, kw_only=True):
    """A difference between two similar memories; null for a side that has nothing of this kind."""

    kind: DifferenceKind
    existing: str | None
    new: str | None


class LikenessReply(Same, frozen=True, kw_only=True):
    """A current memory that conflicts with a new one, or is like it."""

    id: fields.MemoryId
    kind: Annotated[
        LikenessKind,
        Meta(
            description="`duplicate` says the same, `conflict` the contrary or another value, "
            "`possible_conflict` perhaps the contrary, which opens a review, `similar` nearly "
            "the same; `address` has the same category and key."
        ),
    ]
    similarity: Annotated[float | None, Meta(description="Cosine of both texts; null where they were not compared.")]
    differs: Annotated[list[DifferenceReply], Meta(description="Their differences; empty for a duplicate.")]
    content: Annotated[str, Meta(description="Its first 300 characters.")]
    category: fields.Category | None
    key: fields.Key | None


def alike(found: Iterable[Likeness]) -> list[LikenessReply]:
    return LikenessReply.each(found)


def differing(parts: Iterable[Difference]) -> list[DifferenceReply]:
    return DifferenceReply.each(parts)
