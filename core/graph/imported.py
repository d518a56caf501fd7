"""Reads the metadata of sentences of imported graphs: which entity, or which relation, a memory is about.

The importers of graphs write `entity` and `entity_type`, or `relation` with `from`, `to` and `type`. A name counts
where the text has it, so that every row has its evidence.
"""

from collections.abc import Mapping, Sequence
from typing import cast

from msgspec.structs import replace

from muisti.core.facts.fact import Fact
from muisti.core.model.graph import Mention
from muisti.core.model.graph_terms import EntityKind
from muisti.core.model.relations import RELATION_KINDS, RelationKind
from muisti.core.model.values import Json

CONFIDENCE = 0.9  # set by hand: other systems let a language model read
_KINDS: Mapping[str, EntityKind] = {
    "person": "person", "per": "person", "people": "person",
    "org": "organisation", "organization": "organisation", "organisation": "organisation", "company": "organisation",
    "gpe": "place", "loc": "place", "location": "place", "place": "place", "fac": "place",
    "work_of_art": "work", "product": "product", "technology": "product", "event": "event", "date": "date",
}  # fmt: skip
# Kinds of other systems by ours, and whether subject and object change places.
_RELATIONS: Mapping[str, tuple[RelationKind, bool]] = {
    **{kind: (kind, False) for kind in RELATION_KINDS},
    "created": ("made", False), "built": ("made", False), "developed": ("made", False), "wrote": ("made", False),
    "created_by": ("made", True), "built_by": ("made", True), "developed_by": ("made", True),
    "written_by": ("made", True),
    "works_for": ("works_at", False), "employed_by": ("works_at", False), "employs": ("works_at", True),
    "resides_in": ("lives_in", False), "born_in": ("comes_from", False), "married_to": ("spouse", False),
    "friend_of": ("knows", False), "used_by": ("uses", True), "owned_by": ("owns", True),
    "headquartered_in": ("based_in", False),
}  # fmt: skip


def with_imported(
    text: str, mentions: Sequence[Mention], metadata: Mapping[str, Json]
) -> tuple[list[Mention], list[Fact]]:
    """Return the mentions of a sentence with the names that its metadata give, and the relation that they state.

    Names from the metadata replace mentions that they overlap. The kind is that of the recogniser when none is given.
    """
    names, relation = _named(text, metadata)
    if not names:
        return [*mentions], []
    known = [_of_kind(one, mentions) for one in names]
    others = [one for one in mentions if all(one.stop <= name.start or name.stop <= one.start for name in names)]
    if "entity" in metadata:  # what follows the name is its kind, in words of the other system
        others = [one for one in others if text[one.start : one.stop] != metadata.get("entity_type")]
    facts = [] if relation is None else [_fact(text, *relation)]
    return [*known, *others], facts


def _named(text: str, metadata: Mapping[str, Json]) -> tuple[list[Mention], tuple[int, RelationKind, int] | None]:
    """Return the names that a sentence is about, and (subject, kind, object) of its relation, by their places."""
    name, stated = metadata.get("entity"), metadata.get("relation")
    if isinstance(name, str):
        return _found(text, name, 0, _KINDS.get(str(metadata.get("entity_type")).casefold(), "other")), None
    if not isinstance(stated, dict):
        return [], None
    said = cast(Mapping[str, Json], stated)
    first = _found(text, str(said.get("from")), 0, "other")
    names = [*first, *_found(text, str(said.get("to")), first[0].stop if first else 0, "other")]
    kind, turned = _RELATIONS.get("_".join(str(said.get("type")).casefold().split()), (None, False))
    if kind is None or len(names) < 2:
        return names, None
    return names, (1, kind, 0) if turned else (0, kind, 1)


def _found(text: str, name: str, after: int, kind: EntityKind) -> list[Mention]:
    start = text.find(name, after) if name else -1
    return [] if start < 0 else [Mention(start, start + len(name), kind, CONFIDENCE, "known")]


def _of_kind(name: Mention, mentions: Sequence[Mention]) -> Mention:
    same = [one.kind for one in mentions if (one.start, one.stop) == (name.start, name.stop)]
    return replace(name, kind=same[0]) if same and name.kind == "other" else name


def _fact(text: str, subject: int, kind: RelationKind, target: int) -> Fact:
    return Fact(subject, kind, target, None, True, CONFIDENCE, 0, len(text))
