"""Sizes of databases and of their units, and a plan of moves that evens them out."""

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from typing import NamedTuple, cast

from muisti.core.model.buckets import BUCKETS, bucket_of, unit_of
from muisti.core.placement.directory import Map
from muisti.core.store.database import Database, Statement

MOST_MOVES = 100  # of a plan
TOLERANCE = 0.1  # of the mean share, within which a database stays as it is
_SIZES = Statement("SELECT name, memories, bytes FROM spaces WHERE name NOT LIKE '~%'")


class Size(NamedTuple):
    """Spaces, memories, and the bytes of texts."""

    spaces: int = 0
    memories: int = 0
    bytes: int = 0

    def plus(self, other: "Size") -> "Size":
        return Size(*(one + more for one, more in zip(self, other, strict=True)))


class Proposed(NamedTuple):
    """A move that a plan proposes: a unit, the ids of both databases, and the bytes that move."""

    unit: str
    source: int
    target: int
    bytes: int


def sizes_of(database: Database, known: Map) -> dict[str, Size]:
    """Return the sizes of the units of a database, from counters: no memory is read."""
    found: defaultdict[str, Size] = defaultdict(Size)
    for name, memories, size in cast(list[tuple[str, int, int]], database.read([_SIZES])[0]):
        unit = name if name in known.exceptions else unit_of(bucket_of(name))
        found[unit] = found[unit].plus(Size(1, memories, size))
    return dict(found)


def plan(known: Map, sizes: Mapping[int, Mapping[str, Size]], most: int = MOST_MOVES) -> list[Proposed]:
    """Propose moves of buckets, from the fullest database to the emptiest, until all are near their share.

    A database that is drained keeps nothing. The share of one is by its `most_bytes`; buckets that hold nothing count
    as one byte, so that new spaces spread too.
    """
    weights = {
        id_: {unit: max(1, size.bytes) for unit, size in sizes.get(id_, {}).items()} | _empty(known, id_, sizes)
        for id_ in known.targets
    }
    room = {id_: 0 if one.draining else one.most_bytes for id_, one in known.targets.items()}
    total, capacity = sum(sum(each.values()) for each in weights.values()), sum(room.values()) or 1
    share = {id_: total * most_bytes / capacity for id_, most_bytes in room.items()}
    held = Counter({id_: sum(each.values()) for id_, each in weights.items()})
    moves: list[Proposed] = []
    while len(moves) < most:
        source = max(held, key=lambda id_: held[id_] - share[id_])
        target = min(room, key=lambda id_: (held[id_] - share[id_]) if room[id_] else float("inf"))
        excess, lacks = held[source] - share[source], share[target] - held[target]
        units = weights[source]
        if source == target or not units or excess <= TOLERANCE * share[source]:
            break
        wanted = excess if not room[source] else min(excess, lacks)
        unit = min(units, key=lambda one: (abs(units[one] - wanted), one))
        if room[source] and units[unit] >= 2 * wanted:  # it would be the other way round
            break
        weight = units.pop(unit)
        weights[target][unit] = weight
        held[source] -= weight
        held[target] += weight
        moves.append(Proposed(unit, source, target, weight))
    return moves


def _empty(known: Map, id_: int, sizes: Mapping[int, Mapping[str, Size]]) -> dict[str, int]:
    """Return the buckets of a database that hold no space."""
    held = sizes.get(id_, {})
    return {
        unit: 1 for bucket in range(BUCKETS) if known.buckets[bucket] == id_ and (unit := unit_of(bucket)) not in held
    }


def misplaced(known: Map, names: Mapping[int, Sequence[str]]) -> list[tuple[str, int, int]]:
    """Return (space, where it is, where the map has it) of spaces that are not where they belong."""
    return [(name, id_, known.of(name)) for id_, held in names.items() for name in held if known.of(name) != id_]
