"""Requests and replies about the knowledge graph of a space, beside `core.graph.model`, which is sent as it is."""

from typing import Annotated, cast

from msgspec import Meta, Struct

from muisti.core.graph.model import EntityChange, NewRelation, Pending, RelationChange
from muisti.core.model.choices import (
    ALIASES_MAX,
    ENTITY_KINDS,
    NAME_CHARACTERS,
    OWN_KIND,
    RELATION_KINDS,
    EntityKind,
)
from muisti.service.schemas import fields
from muisti.service.schemas.copying import Reply, copied
from muisti.service.schemas.fields import doc

EntityName = Annotated[
    str,
    doc(
        "A name as memories use it, or the id of an entity.",
        minLength=1,
        maxLength=NAME_CHARACTERS,
        examples=["Ann Berg"],
    ),
]
EntityKindText = Annotated[str, Meta(extra_json_schema={"enum": list(ENTITY_KINDS)})]
RelationKindText = Annotated[
    str,
    Meta(
        description=f"One of {', '.join(RELATION_KINDS)}, or a kind of your own.",
        examples=["reports_to"],
        extra_json_schema={"pattern": f"^{OWN_KIND}$"},
    ),
]
Names = Annotated[list[str], doc("Other names.", maxItems=ALIASES_MAX, examples=[["A. Berg"]])]
Words = Annotated[
    str,
    doc("Words that are the object.", minLength=1, maxLength=2_000, examples=["dark roast"])
]  # fmt: skip


class EntityBody(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A statement on an entity. A field that is left out stays as it is; a list replaces the one before."""

    kind: EntityKindText | None = None
    aliases: Annotated[Names, doc("Names that are this entity's, too.")] | None = None
    apart: Annotated[Names, doc("Names that are not this entity's.")] | None = None
    category: fields.Category | None = None

    def change(self) -> EntityChange:
        """Return the change that the core takes."""
        return EntityChange(
            kind=cast(EntityKind | None, self.kind),
            aliases=None if self.aliases is None else tuple(self.aliases),
            apart=None if self.apart is None else tuple(self.apart),
            category=self.category,
        )


class NamesBody(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Names that are merged with an entity, or kept apart from it."""

    others: Names
    category: fields.Category | None = None


class RelationBody(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A relation that somebody states. Give `object`, a name, or `literal`, words."""

    subject: EntityName
    kind: RelationKindText
    object: EntityName | None = None
    literal: Words | None = None
    negative: Annotated[bool, doc("Whether it is said not to be so.")] = False
    content: fields.Content | None = None
    valid_from: fields.ValidFrom | None = None
    valid_to: fields.ValidTo | None = None
    category: fields.Category | None = None

    def new(self) -> NewRelation:
        """Return the relation that the core takes."""
        return copied(NewRelation, self)


class RelationPatch(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Changes of a relation that somebody has stated. A field that is left out stays as it is."""

    subject: EntityName | None = None
    kind: RelationKindText | None = None
    object: EntityName | None = None
    literal: Words | None = None
    negative: Annotated[bool, doc("Whether it is said not to be so.")] | None = None
    content: fields.Content | None = None
    valid_from: fields.ValidFrom | None = None
    valid_to: fields.ValidTo | None = None

    def change(self) -> RelationChange:
        """Return the change that the core takes."""
        return copied(RelationChange, self)


class BuildGraphBody(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Which versions to read."""

    again: Annotated[bool, doc("Read all versions again, as after a change of the recogniser.")] = False


class ExtensionReply(Reply, frozen=True, kw_only=True):
    """Outcome of a dry run: mentions and relations that the next versions would add."""

    read: int
    mentions: int
    relations: int
    pending: Pending


class GraphDroppedReply(Reply, frozen=True, kw_only=True):
    """Outcome of dropping what was read. What people have said stays, as all memories do."""

    entities: Annotated[int, doc("Entities that were dropped.")]


def listed_kinds(kinds: str | None) -> list[str] | None:
    """Return the kinds of relations or ties that a parameter names with commas; None for all. The core checks them."""
    return None if kinds is None else [one.strip() for one in kinds.split(",")]
