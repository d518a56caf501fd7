"""The knowledge graph of a space as callers see it: entities, what ties them, on whose word and since when.

Kinds of entities are declared here once, kinds of relations in `core.model.relations`.
"""

from datetime import datetime

from msgspec import Struct

from muisti.core.model.graph_terms import (
    AliasSource,
    EntityKind,
    MentionSource,
    NeighbourSort,
    NodeKind,
    ProposalReason,
    RelationSource,
    TieKind,
)
from muisti.core.model.relations import RelationKind
from muisti.core.model.values import Seq


class Mention(Struct, frozen=True):
    """A name in a text, from character `start` up to `stop`, with a confidence of 0 to 1."""

    start: int
    stop: int
    kind: EntityKind
    confidence: float
    source: MentionSource


class Alias(Struct, frozen=True, kw_only=True):
    """Another name of an entity. `memory` is the id of the memory that states it, None for one found by a rule."""

    name: str
    id: str
    source: AliasSource
    memory: str | None = None


class Entity(Struct, frozen=True, kw_only=True):
    """An entity that current memories mention.

    `id` is made from its name, so that forks, exports and imports keep it. `name` is its most frequent spelling,
    unless a memory of the kind `entity` states it; `memory` is then the id of that. `mentions` counts memories.
    """

    id: str
    name: str
    kind: EntityKind
    mentions: int
    confidence: float
    first_at: datetime | None = None
    last_at: datetime | None = None
    aliases: tuple[Alias, ...] = ()
    memory: str | None = None


class Entities(Struct, frozen=True, kw_only=True):
    """Entities that match. `total` counts their names, merged or not; `pending` memories are not read yet."""

    items: tuple[Entity, ...]
    total: int
    pending: int
    seq: Seq


class End(Struct, frozen=True, kw_only=True):
    """One end of a relation or a tie: an entity with its name."""

    id: str
    name: str
    kind: EntityKind


class Relation(Struct, frozen=True, kw_only=True):
    """A relation that a current version of a memory states.

    `object` is None where the object is the text `literal`. `evidence` is cut from the content of the memory,
    characters `start` to `stop`. `closed_by` is the memory of a later relation that ended it.
    """

    subject: End
    kind: RelationKind
    object: End | None
    literal: str | None
    negative: bool
    confidence: float
    source: RelationSource
    memory: str
    version: int
    evidence: str
    start: int
    stop: int
    valid_from: datetime
    valid_to: datetime | None = None
    closed_by: str | None = None
    author: str | None = None


class Relations(Struct, frozen=True, kw_only=True):
    """Relations that match, those of the latest versions first. `more`: there are others."""

    items: tuple[Relation, ...]
    more: bool
    pending: int
    seq: Seq


class Mentioned(Struct, frozen=True, kw_only=True):
    """A memory that mentions an entity, with the spelling there. Offsets are -1 for its author."""

    memory: str
    version: int
    at: datetime
    start: int
    stop: int
    text: str
    confidence: float
    source: MentionSource


class Profile(Struct, frozen=True, kw_only=True):
    """An entity with its facts, the oldest first, and the memories that mention it, the newest first."""

    entity: Entity
    facts: tuple[Relation, ...]
    mentioned: tuple[Mentioned, ...]
    pending: int
    seq: Seq


class Neighbour(Struct, frozen=True, kw_only=True):
    """An entity tied to another, `depth` ties away. `via` is the id of the entity before it on the way.

    `weight` counts the memories that state the tie, of the name that most of them use where it has several.
    `mentions` counts all memories that mention the entity, at most `FREQUENT`. `association` is the normalised
    pointwise mutual information of both ends of the tie, damped where few memories state it: 0 is chance, 1 the most.
    """

    entity: End
    depth: int
    kinds: tuple[TieKind, ...]
    weight: int
    via: str
    mentions: int
    association: float


class Neighbours(Struct, frozen=True, kw_only=True):
    """Neighbours of an entity, the nearest first, then as `sort` says: by weight times association, or by weight.

    With `capped` a level had more entities than are followed.
    """

    entity: End
    items: tuple[Neighbour, ...]
    total: int
    capped: bool
    sort: NeighbourSort
    pending: int
    seq: Seq


class Step(Struct, frozen=True, kw_only=True):
    """A tie of a path. `memories` are ids of some memories that state it."""

    source: End
    target: End
    kinds: tuple[TieKind, ...]
    memories: tuple[str, ...]


class Path(Struct, frozen=True, kw_only=True):
    """A shortest path between two entities; no steps when none was found, or both are one entity.

    With `capped` a level had more entities than are followed, so a path may have been missed.
    """

    steps: tuple[Step, ...]
    found: bool
    capped: bool
    pending: int
    seq: Seq


class Proposal(Struct, frozen=True, kw_only=True):
    """Two entities that may be one. Somebody decides."""

    first: End
    second: End
    reason: ProposalReason
    first_mentions: int
    second_mentions: int


class Proposals(Struct, frozen=True, kw_only=True):
    """Pairs of entities that look alike, those that are mentioned most first."""

    items: tuple[Proposal, ...]
    total: int
    pending: int
    seq: Seq


class GraphStatus(Struct, frozen=True, kw_only=True):
    """State of the graph of a space. `recogniser` names what has read it.

    `fallbacks` counts versions that the shipped recogniser has read because the chosen one gave no answer; the graph is
    `degraded` then.
    """

    enabled: bool
    entities: int
    mentions: int
    relations: int
    read: int
    pending: int
    recogniser: str
    current: bool  # whether this recogniser is the one that reads now
    fallbacks: int = 0
    degraded: bool = False
    revision: int
    seq: Seq


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
    kind: RelationKind
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
    kind: RelationKind | None = None
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
