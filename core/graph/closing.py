"""Relations as versions state them, and which of them later ones have ended."""

from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple, cast

from muisti.core.model.terms import FUNCTIONAL, RelationKind, RelationSource
from muisti.core.store.database import Row


class Stated(NamedTuple):
    """A relation as a version states it. Times are in microseconds since 1970."""

    row: int
    number: int
    subject: int
    kind: RelationKind
    object: int | None
    polarity: int
    confidence: float
    source: RelationSource
    start: int
    stop: int
    literal: str | None
    evidence: str
    memory: bytes
    version: int
    valid_from: int
    valid_to: int | None
    author: str | None


def stated_of(row: Row) -> Stated:
    """Read a row of `graph.RELATION`."""
    return Stated(*cast(tuple[Any, ...], row))


def closed(stated: Iterable[Stated], heads: Mapping[int, int]) -> dict[tuple[int, int], Stated]:
    """Return what has ended relations, by their version and number.

    A subject has one object of a functional kind at a time. So a relation is ended by the first later one of the same
    subject and kind that has another object. A relation that is denied ends none, and of two that begin at the same
    time neither ends the other. `heads` has the head of the group of each entity.
    """
    found: dict[tuple[int, int], Stated] = {}
    lines: dict[tuple[int, str], list[Stated]] = {}
    for one in stated:
        if one.kind in FUNCTIONAL and one.polarity > 0:
            lines.setdefault((heads[one.subject], one.kind), []).append(one)
    for line in lines.values():
        line.sort(key=lambda one: (one.valid_from, one.row, one.number), reverse=True)
        later: list[Stated] = []
        for one in line:
            thing = _object(one, heads)
            ends = [other for other in later if other.valid_from > one.valid_from and _object(other, heads) != thing]
            if ends:
                found[one.row, one.number] = ends[-1]
            later.append(one)
    return found


def _object(one: Stated, heads: Mapping[int, int]) -> int | str:
    return (one.literal or "").casefold() if one.object is None else heads[one.object]
