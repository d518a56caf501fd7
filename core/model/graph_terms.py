"""Words and limits of questions to the knowledge graph. Imports only `typing`, to keep the command line fast."""

from typing import Literal, get_args

# Kinds of relations between entities, or between an entity and words

RelationKind = Literal[
    "prefers",
    "likes",
    "dislikes",
    "avoids",
    "allergic_to",
    "uses",
    "owns",
    "made",
    "plans",
    "attended",
    "visited",
    "lives_in",
    "comes_from",
    "works_at",
    "is",  # an occupation, or a way to live, such as "vegan"
    "kin",
    "spouse",
    "knows",
    "located_in",
    "based_in",
    "killed",
]
RELATION_KINDS: tuple[RelationKind, ...] = get_args(RelationKind)
FUNCTIONAL: frozenset[RelationKind] = frozenset({"lives_in", "works_at", "spouse"})
"""Kinds that have one object at a time, so a later relation ends an earlier one."""


EntityKind = Literal[
    "person", "organisation", "place", "work", "product", "event", "date", "identifier", "symbol", "title", "other"
]
ENTITY_KINDS: tuple[EntityKind, ...] = get_args(EntityKind)
NodeKind = EntityKind | Literal["text"]
Tie = Literal["mentioned_with"]  # of two entities that one memory mentions
TieKind = Literal[RelationKind, Tie]
TIE_KINDS: tuple[TieKind, ...] = (*RELATION_KINDS, "mentioned_with")

MentionSource = Literal["recogniser", "endpoint", "rule", "speaker", "known", "manual"]
MENTION_SOURCES: tuple[MentionSource, ...] = get_args(MentionSource)
RelationSource = Literal["text", "manual"]
RELATION_SOURCES: tuple[RelationSource, ...] = get_args(RelationSource)
AliasSource = Literal["spelling", "acronym", "name_part", "manual"]
ProposalReason = Literal["spelling", "prefix", "name_part", "acronym"]
EntitySort = Literal["-mentions", "name"]
ENTITY_SORTS: tuple[EntitySort, ...] = get_args(EntitySort)
NeighbourSort = Literal["-association", "-weight"]
NEIGHBOUR_SORTS: tuple[NeighbourSort, ...] = get_args(NeighbourSort)

ME = "user"  # name of the speaker of a memory without an author
NAME_CHARACTERS = 200  # of a name of an entity
ALIASES_MAX = 100  # of an entity that a person has stated
ENTITIES_MAX = 1_000  # in one answer
FACTS_MAX = 1_000
DEPTH_MAX = 3
LEVEL_MAX = 2_000  # entities of a level that are followed
FREQUENT = 1_000  # memories that mention an entity, after which they are not counted further
PATH_MAX = 6  # ties of a path
COMMUNITIES_MAX = 200  # in one answer
TELLING_MAX = 10  # entities that say what a community is about
