"""Kinds of relations between entities, or between an entity and words."""

from typing import Literal, get_args

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
