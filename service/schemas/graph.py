"""Replies about the knowledge graph of a space; requests are in `graph_requests`."""

from datetime import datetime
from typing import Annotated

from msgspec import Meta, Struct

from muisti.core.model.graph import (
    Alias,
    End,
    Entities,
    Entity,
    Extension,
    GraphStatus,
    Mentioned,
    Neighbour,
    Neighbours,
    Path,
    Profile,
    Proposal,
    Proposals,
    Relation,
    Relations,
    Step,
)
from muisti.core.model.graph_terms import (
    ENTITY_KINDS,
    FREQUENT,
    MENTION_SOURCES,
    NAME_CHARACTERS,
    NEIGHBOUR_SORTS,
    RELATION_SOURCES,
    TIE_KINDS,
)
from muisti.core.model.relations import RELATION_KINDS
from muisti.service.schemas import fields
from muisti.service.schemas.copying import copied

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


class AliasReply(Struct, frozen=True, kw_only=True):
    """Another name of an entity: found by a rule, or stated by a memory."""

    name: str
    id: EntityId
    source: Annotated[str, Meta(extra_json_schema={"enum": ["spelling", "acronym", "name_part", "manual"]})]
    memory: fields.MemoryId | None

    @classmethod
    def of(cls, one: Alias) -> "AliasReply":
        return copied(cls, one)


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
        return copied(cls, one, aliases=[AliasReply.of(alias) for alias in one.aliases])


class EntitiesReply(Struct, frozen=True, kw_only=True):
    """Entities that match; `total` counts them before the limit."""

    items: list[EntityReply]
    total: int
    pending: Pending
    seq: fields.SeqText

    @classmethod
    def of(cls, found: Entities) -> "EntitiesReply":
        return copied(cls, found, items=[EntityReply.of(one) for one in found.items], seq=str(found.seq))


class EndReply(Struct, frozen=True, kw_only=True):
    """One end of a relation: an entity."""

    id: EntityId
    name: str
    kind: EntityKindText

    @classmethod
    def of(cls, end: End) -> "EndReply":
        return copied(cls, end)


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
        end = None if one.object is None else EndReply.of(one.object)
        return copied(cls, one, subject=EndReply.of(one.subject), object=end)


class RelationsReply(Struct, frozen=True, kw_only=True):
    """Relations that match, those of the latest versions first. With `more` there are others."""

    items: list[RelationReply]
    more: bool
    pending: Pending
    seq: fields.SeqText

    @classmethod
    def of(cls, found: Relations) -> "RelationsReply":
        return copied(cls, found, items=[RelationReply.of(one) for one in found.items], seq=str(found.seq))


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
        return copied(cls, one)


class ProfileReply(Struct, frozen=True, kw_only=True):
    """An entity, its facts in the order of time, and the latest memories that mention it."""

    entity: EntityReply
    facts: list[RelationReply]
    mentioned: list[MentionedReply]
    pending: Pending
    seq: fields.SeqText

    @classmethod
    def of(cls, found: Profile) -> "ProfileReply":
        return copied(
            cls,
            found,
            entity=EntityReply.of(found.entity),
            facts=[RelationReply.of(one) for one in found.facts],
            mentioned=[MentionedReply.of(one) for one in found.mentioned],
            seq=str(found.seq),
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
        return copied(cls, one, entity=EndReply.of(one.entity), kinds=list(one.kinds))


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
        return copied(cls, found, entity=EndReply.of(found.entity), items=items, seq=str(found.seq))


class StepReply(Struct, frozen=True, kw_only=True):
    """A tie of a path, and some memories that state it."""

    source: EndReply
    target: EndReply
    kinds: list[TieKindText]
    memories: list[fields.MemoryId]

    @classmethod
    def of(cls, one: Step) -> "StepReply":
        ends = {"source": EndReply.of(one.source), "target": EndReply.of(one.target)}
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
        return copied(cls, found, steps=[StepReply.of(one) for one in found.steps], seq=str(found.seq))


class ProposalReply(Struct, frozen=True, kw_only=True):
    """Two entities that may be one. Merging them or keeping them apart decides it."""

    first: EndReply
    second: EndReply
    reason: Annotated[str, Meta(extra_json_schema={"enum": ["spelling", "prefix", "name_part", "acronym"]})]
    first_mentions: int
    second_mentions: int

    @classmethod
    def of(cls, one: Proposal) -> "ProposalReply":
        return copied(cls, one, first=EndReply.of(one.first), second=EndReply.of(one.second))


class ProposalsReply(Struct, frozen=True, kw_only=True):
    """Pairs of entities that look alike, those that are mentioned most first."""

    items: list[ProposalReply]
    total: int
    pending: Pending
    seq: fields.SeqText

    @classmethod
    def of(cls, found: Proposals) -> "ProposalsReply":
        return copied(cls, found, items=[ProposalReply.of(one) for one in found.items], seq=str(found.seq))


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
        return copied(cls, found, seq=str(found.seq))


class ExtensionReply(Struct, frozen=True, kw_only=True):
    """Outcome of a dry run: mentions and relations that the next versions would add."""

    read: int
    mentions: int
    relations: int
    pending: Pending

    @classmethod
    def of(cls, found: Extension) -> "ExtensionReply":
        return copied(cls, found)


class GraphDroppedReply(Struct, frozen=True, kw_only=True):
    """Outcome of dropping what was read. What people have said stays, as all memories do."""

    entities: Annotated[int, Meta(description="Entities that were dropped.")]
