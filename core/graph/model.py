"""The knowledge graph of a space as callers see it: entities, what ties them, on whose word and since when.

Kinds of entities are declared here once, kinds of relations in `core.model.choices`.
"""

import re
from datetime import datetime
from typing import Annotated

from msgspec import Meta, Struct

from muisti.core.model.choices import (
    BY_MEMORY,
    FREQUENT,
    OWN_KIND,
    TELLING_MAX,
    AliasSource,
    EntityKind,
    MentionSource,
    NeighbourSort,
    NodeKind,
    ProposalReason,
    RelationSource,
)
from muisti.core.model.values import MemoryId, SeqText

EntityId = Annotated[str, Meta(description="Id of an entity; forks, exports and imports keep it.")]
Pending = Annotated[int, Meta(description="Versions of memories that are stored and not read yet.", ge=0)]
StatedKind = Annotated[
    str,
    Meta(
        description="A kind that texts are read for, or a caller's own.",
        examples=["works_at"],
        extra_json_schema={"pattern": f"^{OWN_KIND}$"},
    ),
]
TieKind = Annotated[str, Meta(description=f"The kind of a relation, or {BY_MEMORY}.", examples=["works_at"])]
Confidence = Annotated[float, Meta(description="How sure the reader of the text is, 0 to 1.", ge=0, le=1)]


_KIND = re.compile(OWN_KIND)


def is_relation_kind(text: str) -> bool:
    """Return whether a text may be the kind of a relation.

    >>> [is_relation_kind(text) for text in ("works_at", "reports_to", "Reports to", "mentioned_with")]
    [True, True, False, False]
    """
    return text != BY_MEMORY and _KIND.fullmatch(text) is not None


class Mention(Struct, frozen=True):
    """A name in a text, from character `start` up to `stop`, with a confidence of 0 to 1."""

    start: int
    stop: int
    kind: EntityKind
    confidence: float
    source: MentionSource


class Alias(Struct, frozen=True, kw_only=True):
    """Another name of an entity: found by a rule, or stated by a memory."""

    name: str
    id: EntityId
    source: AliasSource
    memory: MemoryId | None


class Entity(Struct, frozen=True, kw_only=True):
    """Somebody or something that memories name. Its name is the most frequent spelling, unless a memory states it."""

    id: EntityId
    name: str
    kind: EntityKind
    mentions: Annotated[int, Meta(description="Memories that mention it.", ge=0)]
    confidence: Confidence
    first_at: datetime | None
    last_at: datetime | None
    aliases: tuple[Alias, ...]
    memory: Annotated[MemoryId, Meta(description="The memory that states what it is.")] | None


class Entities(Struct, frozen=True, kw_only=True):
    """Entities that match; `total` counts them before the limit."""

    items: tuple[Entity, ...]
    total: int
    pending: Pending
    seq: SeqText


class End(Struct, frozen=True, kw_only=True):
    """One end of a relation: an entity."""

    id: EntityId
    name: str
    kind: EntityKind


class Relation(Struct, frozen=True, kw_only=True):
    """A relation that a memory states: its ends, its evidence, and how long it holds.

    `evidence` is the part of the memory from `start` to `stop`. `closed_by` is the memory of a later relation that
    ended it.
    """

    subject: End
    kind: StatedKind
    object: End | None
    literal: str | None
    negative: bool
    confidence: Confidence
    source: RelationSource
    memory: MemoryId
    version: int
    evidence: str
    start: int
    stop: int
    valid_from: datetime
    valid_to: datetime | None
    closed_by: MemoryId | None
    author: str | None


class Relations(Struct, frozen=True, kw_only=True):
    """Relations that match, those of the latest versions first. With `more` there are others."""

    items: tuple[Relation, ...]
    more: bool
    pending: Pending
    seq: SeqText


class Mentioned(Struct, frozen=True, kw_only=True):
    """A memory that mentions an entity, with the spelling there. Offsets are -1 for its author.

    `around` is the part of its content around the mention, or its beginning.
    """

    memory: MemoryId
    version: int
    at: datetime
    start: int
    stop: int
    text: str
    confidence: Confidence
    source: MentionSource
    around: str
    author: str | None


class Profile(Struct, frozen=True, kw_only=True):
    """An entity, its facts in the order of time, and the latest memories that mention it."""

    entity: Entity
    facts: tuple[Relation, ...]
    mentioned: tuple[Mentioned, ...]
    pending: Pending
    seq: SeqText


class Neighbour(Struct, frozen=True, kw_only=True):
    """An entity tied to another, `depth` ties away. `via` is the entity before it on the way."""

    entity: End
    depth: int
    kinds: tuple[TieKind, ...]
    weight: Annotated[int, Meta(description="Memories that state the tie.")]  # of its most frequent spelling
    via: EntityId
    mentions: Annotated[int, Meta(description=f"Memories that mention the entity, at most {FREQUENT:,}.")]
    association: Annotated[
        float,
        Meta(ge=0, le=1, description="How much more often than by chance both ends meet: normalised PMI."),
    ]  # damped where few memories state the tie


class Neighbours(Struct, frozen=True, kw_only=True):
    """Neighbours of an entity, the nearest first. With `capped`, more entities were near than are followed."""

    entity: End
    items: tuple[Neighbour, ...]
    total: int
    capped: bool
    sort: Annotated[
        NeighbourSort,
        Meta(description="Order of those as near: by `weight` times `association`, or by `weight`."),
    ]
    pending: Pending
    seq: SeqText


class Step(Struct, frozen=True, kw_only=True):
    """A tie of a path, and some memories that state it."""

    source: End
    target: End
    kinds: tuple[TieKind, ...]
    memories: tuple[MemoryId, ...]


class Path(Struct, frozen=True, kw_only=True):
    """A shortest path between two entities. With `capped`, more entities were near than are followed."""

    found: bool
    steps: tuple[Step, ...]
    capped: bool
    pending: Pending
    seq: SeqText


class Proposal(Struct, frozen=True, kw_only=True):
    """Two entities that may be one. Merging them or keeping them apart decides it."""

    first: End
    second: End
    reason: ProposalReason
    first_mentions: int
    second_mentions: int


class Proposals(Struct, frozen=True, kw_only=True):
    """Pairs of entities that look alike, those that are mentioned most first."""

    items: tuple[Proposal, ...]
    total: int
    pending: Pending
    seq: SeqText


class GraphStatus(Struct, frozen=True, kw_only=True):
    """State of a graph: how much is known, and how much is read."""

    enabled: Annotated[bool, Meta(description="Whether the setting and the policy of the space have it on.")]
    entities: int
    mentions: int
    relations: int
    read: Annotated[int, Meta(description="Versions that were read.")]
    pending: Pending
    recogniser: Annotated[str, Meta(description="Name of what read them.")]
    current: Annotated[bool, Meta(description="Whether that is what reads now; else `again` reads everything again.")]
    fallbacks: Annotated[int, Meta(description="Versions that the shipped recogniser read, as an endpoint failed.")]
    degraded: Annotated[bool, Meta(description="Whether there are such versions; building the graph reads them again.")]
    seq: SeqText


class Community(Struct, frozen=True, kw_only=True):
    """Entities that memories mention together more often than by chance."""

    entities: Annotated[
        tuple[End, ...],
        Meta(description=f"Those with the most ties inside, best first, at most {TELLING_MAX}."),
    ]
    size: Annotated[int, Meta(description="Names that belong to it.")]
    memories: Annotated[int, Meta(description="Memories that mention two of the names or more.")]


class Communities(Struct, frozen=True, kw_only=True):
    """Communities of three names and more, those with the most memories first."""

    items: tuple[Community, ...]
    total: int
    too_large: Annotated[bool, Meta(description="Whether the graph has too many mentions to look for any.")]
    pending: Pending
    seq: SeqText


class Extension(Struct, frozen=True, kw_only=True):
    """Outcome of reading: versions read, what was found in them, and the versions that are left.

    `fallbacks` of those read were read by the shipped recogniser, because the chosen one gave no answer. `dropped`
    counts names that it reported and that are not in their text.
    """

    read: int = 0
    mentions: int = 0
    relations: int = 0
    pending: int = 0
    fallbacks: int = 0
    dropped: int = 0

    def then(self, more: "Extension") -> "Extension":
        """Return the sum of two outcomes, with what is left after the second."""
        return Extension(
            read=self.read + more.read,
            mentions=self.mentions + more.mentions,
            relations=self.relations + more.relations,
            pending=more.pending,
            fallbacks=self.fallbacks + more.fallbacks,
            dropped=self.dropped + more.dropped,
        )


class Unread(Struct, frozen=True):
    """A space whose graph lacks versions: its last change, and the number of changes since all was read."""

    space: str
    seq: int
    behind: int


class EntityChange(Struct, frozen=True, kw_only=True):
    """A statement on an entity: names that are also its own, and names that are not. None leaves a field as it is."""

    kind: EntityKind | None = None
    aliases: tuple[str, ...] | None = None
    apart: tuple[str, ...] | None = None
    category: str | None = None


class NewRelation(Struct, frozen=True, kw_only=True):
    """A relation that a person states. One of `object`, a name, and `literal` is given.

    Without `content`, the memory gets a short sentence.
    """

    subject: str
    kind: StatedKind
    object: str | None = None
    literal: str | None = None
    negative: bool = False
    content: str | None = None
    valid_from: datetime | None = None
    valid_to: datetime | None = None
    category: str | None = None


class RelationChange(Struct, frozen=True, kw_only=True):
    """Changes of a relation that a person has stated. None leaves a field as it is."""

    subject: str | None = None
    kind: StatedKind | None = None
    object: str | None = None
    literal: str | None = None
    negative: bool | None = None
    content: str | None = None
    valid_from: datetime | None = None
    valid_to: datetime | None = None


class Node(Struct, frozen=True, kw_only=True):
    """A node of an exported or drawn graph: an entity, or with the kind `text` words that are an object."""

    id: str
    name: str
    kind: NodeKind
    mentions: int = 0
    confidence: float = 1.0
    aliases: tuple[str, ...] = ()


class Edge(Struct, frozen=True, kw_only=True):
    """An edge of an exported or drawn graph: a relation of `memory`, or a tie of two entities mentioned together.

    One of `target`, an id, and `literal`, words of the memory, is given. `weight` counts memories.
    """

    source: str
    kind: TieKind
    target: str | None = None
    literal: str | None = None
    weight: int = 1
    negative: bool = False
    confidence: float = 1.0
    memory: str | None = None
    valid_from: datetime | None = None
    valid_to: datetime | None = None
