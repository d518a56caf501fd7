"""Memories that conflict with a new one, are like it, or prevent a merge."""

from collections.abc import Iterable, Sequence
from typing import Annotated, cast

from muisti.core.model.outcomes import Difference, DifferenceKind, Divergence, Likeness, LikenessKind
from muisti.service.schemas import fields
from muisti.service.schemas.copying import Reply, Same
from muisti.service.schemas.fields import doc


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
        doc(
            "`duplicate` says the same, `conflict` the contrary or another value, "
            "`possible_conflict` perhaps the contrary, which opens a review, `similar` nearly "
            "the same; `address` has the same category and key."
        ),
    ]
    similarity: Annotated[float | None, doc("Cosine of both texts; null where they were not compared.")]
    differs: Annotated[list[DifferenceReply], doc("Their differences; empty for a duplicate.")]
    content: Annotated[str, doc("Its first 300 characters.")]
    category: fields.Category | None
    key: fields.Key | None


def alike(found: Iterable[Likeness]) -> list[LikenessReply]:
    return cast(list[LikenessReply], list(found))


def differing(parts: Iterable[Difference]) -> list[DifferenceReply]:
    return DifferenceReply.each(parts)


# Memories that prevent a merge, in the form for refusals

BEGINNING = 200  # characters


class DivergedReply(Reply, frozen=True, kw_only=True):
    """A memory that both spaces have changed: its id in the space and in the other, and what it says in each."""

    id: fields.MemoryId
    other: fields.MemoryId
    ours: Annotated[str | None, doc("The start of its content; null where it was deleted.")]
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
