"""Requests and replies about the knowledge graph of a space."""

from datetime import datetime
from typing import Annotated, Any, TypeVar, cast

from msgspec import Meta, Struct

from muisti.core.model.graph import (
    Alias,
    Entities,
    Entity,
    EntityChange,
    Extension,
    GraphStatus,
    Mentioned,
    Neighbour,
    Neighbours,
    NewRelation,
    Path,
    Profile,
    Proposal,
    Proposals,
    Relation,
    RelationChange,
    Relations,
    Step,
)
from muisti.core.model.graph_terms import (
    ALIASES_MAX,
    ENTITY_KINDS,
    FREQUENT,
    MENTION_SOURCES,
    NAME_CHARACTERS,
    NEIGHBOUR_SORTS,
    RELATION_SOURCES,
    TIE_KINDS,
    EntityKind,
    TieKind,
)
from muisti.core.model.relations import RELATION_KINDS, RelationKind
from muisti.core.model.values import Seq
from muisti.service.schemas import fields

EntityName = Annotated[
    str,
    Meta(
        description="A name as memories use it, or the id of an entity.",
        extra_json_schema={"minLength": 1, "maxLength": NAME_CHARACTERS},
        examples=["Ann Berg"],
    ),
]
EntityKindText = Annotated[str, Meta(extra_json_schema={"enum": list(ENTITY_KINDS)})]
RelationKindText = Annotated[str, Meta(extra_json_schema={"enum": list(RELATION_KINDS)})]
TieKindText = Annotated[str, Meta(extra_json_schema={"enum": list(TIE_KINDS)})]
EntityId = Annotated[str, Meta(description="Id of an entity; forks, exports and imports keep it.")]
Pending = Annotated[int, Meta(description="Versions of memories that are stored and not read yet.", ge=0)]
Confidence = Annotated[float, Meta(description="How sure the reader of the text is, 0 to 1.", ge=0, le=1)]
Names = Annotated[
    list[str], Meta(description="Other names.", extra_json_schema={"maxItems": ALIASES_MAX}, examples=[["A. Berg"]])
]
Words = Annotated[
    str,
    Meta(
        description="Words that are the object.", extra_json_schema={"minLength": 1, "maxLength": 2_000},
        examples=["dark roast"],
    ),
]  # fmt: skip
T = TypeVar("T")


def _made(kind: type[T], value: object, **more: Any) -> T:
    """Return a reply whose fields are those of a value; `more` has those that differ."""
    names = (name for name in cast(Any, kind).__struct_fields__ if name not in more)
    return kind(**{name: getattr(value, name) for name in names}, **more)


def _seq(seq: Seq) -> str:
    return str(seq)


class EntityBody(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A statement on an entity. A field that is left out stays as it is; a list replaces the one before."""

    kind: EntityKindText | None = None
    aliases: Annotated[Names, Meta(description="Names that are this entity's, too.")] | None = None
    apart: Annotated[Names, Meta(description="Names that are not this entity's.")] | None = None
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
    negative: Annotated[bool, Meta(description="Whether it is said not to be so.")] = False
    content: fields.Content | None = None
    valid_from: fields.ValidFrom | None = None
    valid_to: fields.ValidTo | None = None
    category: fields.Category | None = None

    def new(self) -> NewRelation:
        """Return the relation that the core takes."""
        return _made(NewRelation, self)


class RelationPatch(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Changes of a relation that somebody has stated. A field that is left out stays as it is."""

    subject: EntityName | None = None
    kind: RelationKindText | None = None
    object: EntityName | None = None
    literal: Words | None = None
    negative: Annotated[bool, Meta(description="Whether it is said not to be so.")] | None = None
    content: fields.Content | None = None
    valid_from: fields.ValidFrom | None = None
    valid_to: fields.ValidTo | None = None

    def change(self) -> RelationChange:
        """Return the change that the core takes."""
        return _made(RelationChange, self)


class BuildGraphBody(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Which versions to read."""

    again: Annotated[bool, Meta(description="Read all versions again, as after a change of the recogniser.")] = False


class AliasReply(Struct, frozen=True, kw_only=True):
    """Another name of an entity: found by a rule, or stated by a memory."""

    name: str
    id: EntityId
    source: Annotated[str, Meta(extra_json_schema={"enum": ["acronym", "name_part", "manual"]})]
    memory: fields.MemoryId | None

    @classmethod
    def of(cls, one: Alias) -> "AliasReply":
        return _made(cls, one)


class EntityReply(Struct, frozen=True, kw_only=True):
    """Somebody or something that memories name. Its name is the most frequent spelling, unless a memory states it."""

    id: EntityId
    name: str
    kind: EntityKindText
    mentions: Annotated[int, Meta(description="Memories that mention it.", ge=0)]
    confidence: Confidence
    first_at: datetime | None
    last_at: datetime | None
    aliases: list[AliasReply]
    memory: Annotated[fields.MemoryId, Meta(description="The memory that states what it is.")] | None

    @classmethod
    def of(cls, one: Entity) -> "EntityReply":
        return _made(cls, one, aliases=[AliasReply.of(alias) for alias in one.aliases])


class EntitiesReply(Struct, frozen=True, kw_only=True):
    """Entities that match; `total` counts them before the limit."""

    items: list[EntityReply]
    total: int
    pending: Pending
    seq: fields.SeqText

    @classmethod
    def of(cls, found: Entities) -> "EntitiesReply":
        return _made(cls, found, items=[EntityReply.of(one) for one in found.items], seq=_seq(found.seq))


class EndReply(Struct, frozen=True, kw_only=True):
    """One end of a relation: an entity."""

    id: EntityId
    name: str
    kind: EntityKindText


class RelationReply(Struct, frozen=True, kw_only=True):
    """A relation that a memory states: its ends, its evidence, and how long it holds.

    `evidence` is the part of the memory from `start` to `stop`. `closed_by` is the memory of a later relation that
    ended it.
    """

    subject: EndReply
    kind: RelationKindText
    object: EndReply | None
    literal: str | None
    negative: bool
    confidence: Confidence
    source: Annotated[str, Meta(extra_json_schema={"enum": list(RELATION_SOURCES)})]
    memory: fields.MemoryId
    version: int
    evidence: str
    start: int
    stop: int
    valid_from: datetime
    valid_to: datetime | None
    closed_by: fields.MemoryId | None
    author: str | None

    @classmethod
    def of(cls, one: Relation) -> "RelationReply":
        end = None if one.object is None else _made(EndReply, one.object)
        return _made(cls, one, subject=_made(EndReply, one.subject), object=end)


class RelationsReply(Struct, frozen=True, kw_only=True):
    """Relations that match, those of the latest versions first. With `more` there are others."""

    items: list[RelationReply]
    more: bool
    pending: Pending
    seq: fields.SeqText

    @classmethod
    def of(cls, found: Relations) -> "RelationsReply":
        return _made(cls, found, items=[RelationReply.of(one) for one in found.items], seq=_seq(found.seq))


class MentionedReply(Struct, frozen=True, kw_only=True):
    """A memory that mentions an entity, with the spelling there. Offsets are -1 for its author."""

    memory: fields.MemoryId
    version: int
    at: datetime
    start: int
    stop: int
    text: str
    confidence: Confidence
    source: Annotated[str, Meta(extra_json_schema={"enum": list(MENTION_SOURCES)})]

    @classmethod
    def of(cls, one: Mentioned) -> "MentionedReply":
        return _made(cls, one)


class ProfileReply(Struct, frozen=True, kw_only=True):
    """An entity, its facts in the order of time, and the latest memories that mention it."""

    entity: EntityReply
    facts: list[RelationReply]
    mentioned: list[MentionedReply]
    pending: Pending
    seq: fields.SeqText

    @classmethod
    def of(cls, found: Profile) -> "ProfileReply":
        return _made(
            cls,
            found,
            entity=EntityReply.of(found.entity),
            facts=[RelationReply.of(one) for one in found.facts],
            mentioned=[MentionedReply.of(one) for one in found.mentioned],
            seq=_seq(found.seq),
        )


class NeighbourReply(Struct, frozen=True, kw_only=True):
    """An entity tied to another, `depth` ties away. `via` is the entity before it on the way."""

    entity: EndReply
    depth: int
    kinds: list[TieKindText]
    weight: Annotated[int, Meta(description="Memories that state the tie.")]
    via: EntityId
    mentions: Annotated[int, Meta(description=f"Memories that mention the entity, at most {FREQUENT:,}.")]
    association: Annotated[
        float,
        Meta(ge=0, le=1, description="How much more often than by chance both ends meet: normalised PMI."),
    ]

    @classmethod
    def of(cls, one: Neighbour) -> "NeighbourReply":
        return _made(cls, one, entity=_made(EndReply, one.entity), kinds=list(one.kinds))


class NeighboursReply(Struct, frozen=True, kw_only=True):
    """Neighbours of an entity, the nearest first. With `capped`, more entities were near than are followed."""

    entity: EndReply
    items: list[NeighbourReply]
    total: int
    capped: bool
    sort: Annotated[
        str,
        Meta(
            description="Order of those as near: by `weight` times `association`, or by `weight`.",
            extra_json_schema={"enum": [*NEIGHBOUR_SORTS]},
        ),
    ]
    pending: Pending
    seq: fields.SeqText

    @classmethod
    def of(cls, found: Neighbours) -> "NeighboursReply":
        items = [NeighbourReply.of(one) for one in found.items]
        return _made(cls, found, entity=_made(EndReply, found.entity), items=items, seq=_seq(found.seq))


class StepReply(Struct, frozen=True, kw_only=True):
    """A tie of a path, and some memories that state it."""

    source: EndReply
    target: EndReply
    kinds: list[TieKindText]
    memories: list[fields.MemoryId]

    @classmethod
    def of(cls, one: Step) -> "StepReply":
        ends = {"source": _made(EndReply, one.source), "target": _made(EndReply, one.target)}
        return cls(**ends, kinds=list(one.kinds), memories=list(one.memories))


class PathReply(Struct, frozen=True, kw_only=True):
    """A shortest path between two entities. With `capped`, more entities were near than are followed."""

    found: bool
    steps: list[StepReply]
    capped: bool
    pending: Pending
    seq: fields.SeqText

    @classmethod
    def of(cls, found: Path) -> "PathReply":
        return _made(cls, found, steps=[StepReply.of(one) for one in found.steps], seq=_seq(found.seq))


class ProposalReply(Struct, frozen=True, kw_only=True):
    """Two entities that may be one. Merging them or keeping them apart decides it."""

    first: EndReply
    second: EndReply
    reason: Annotated[str, Meta(extra_json_schema={"enum": ["spelling", "prefix", "name_part", "acronym"]})]
    first_mentions: int
    second_mentions: int

    @classmethod
    def of(cls, one: Proposal) -> "ProposalReply":
        return _made(cls, one, first=_made(EndReply, one.first), second=_made(EndReply, one.second))


class ProposalsReply(Struct, frozen=True, kw_only=True):
    """Pairs of entities that look alike, those that are mentioned most first."""

    items: list[ProposalReply]
    total: int
    pending: Pending
    seq: fields.SeqText

    @classmethod
    def of(cls, found: Proposals) -> "ProposalsReply":
        return _made(cls, found, items=[ProposalReply.of(one) for one in found.items], seq=_seq(found.seq))


class GraphReply(Struct, frozen=True, kw_only=True):
    """State of a graph: how much is known, and how much is read."""

    enabled: Annotated[bool, Meta(description="Whether the setting and the policy of the space have it on.")]
    entities: int
    mentions: int
    relations: int
    read: Annotated[int, Meta(description="Versions that were read.")]
    pending: Pending
    recogniser: Annotated[str, Meta(description="Name of what read them.")]
    current: Annotated[bool, Meta(description="Whether that is what reads now; else `again` reads all anew.")]
    fallbacks: Annotated[int, Meta(description="Versions that the shipped recogniser read, as an endpoint failed.")]
    degraded: Annotated[bool, Meta(description="Whether there are such versions; building the graph reads them again.")]
    seq: fields.SeqText

    @classmethod
    def of(cls, found: GraphStatus) -> "GraphReply":
        return _made(cls, found, seq=_seq(found.seq))


class ExtensionReply(Struct, frozen=True, kw_only=True):
    """Outcome of a dry run: mentions and relations that the next versions would add."""

    read: int
    mentions: int
    relations: int
    pending: Pending

    @classmethod
    def of(cls, found: Extension) -> "ExtensionReply":
        return _made(cls, found)


class GraphDroppedReply(Struct, frozen=True, kw_only=True):
    """Outcome of dropping what was read. What people have said stays, as all memories do."""

    entities: Annotated[int, Meta(description="Entities that were dropped.")]


def tie_kinds(kinds: str | None) -> tuple[TieKind, ...]:
    """Return the kinds of ties that a parameter names with commas; all for None. The core checks them."""
    return TIE_KINDS if kinds is None else cast(tuple[TieKind, ...], tuple(_listed(kinds)))


def relation_kinds(kinds: str | None) -> tuple[RelationKind, ...]:
    """Return the kinds of relations that a parameter names with commas; all for None. The core checks them."""
    return RELATION_KINDS if kinds is None else cast(tuple[RelationKind, ...], tuple(_listed(kinds)))


def _listed(kinds: str) -> list[str]:
    return [one.strip() for one in kinds.split(",")]
