"""Communities by label propagation: each name takes the label that has the most weight among its ties.

Names are tied when memories mention both more often than by chance. A tie weighs the number of those memories times the
pointwise mutual information. Every second round a random half of the names keep their labels, so that labels do not
swap for ever. The draw has a fixed seed: equal graphs have equal communities.
"""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from muisti.core.graph.kept import Kept
from muisti.core.graph.model import Communities, Community
from muisti.core.graph.pagerank import Ids, Incidence, Incidences
from muisti.core.graph.reading import Opened
from muisti.core.model.choices import TELLING_MAX

ROUNDS = 10
LEAST = 3  # names of a community
TOGETHER = 20  # names of a memory that are tied to each other

Weights = npt.NDArray[np.float64]


class Ties(NamedTuple):
    """Ties of places of entities, each in both directions: `source` and `target` with a weight above 0."""

    source: Ids
    target: Ids
    weight: Weights


def ties(incidence: Incidence) -> Ties:
    """Return the ties of names that versions mention together more often than by chance."""
    count = len(incidence.entities)
    order = np.lexsort((incidence.entity, incidence.version))
    version, entity = incidence.version[order], incidence.entity[order].astype(np.int64)
    keys: list[Ids] = []
    for step in range(1, min(TOGETHER, len(version))):
        same = version[step:] == version[:-step]
        if not same.any():
            break
        keys.append(entity[:-step][same] * count + entity[step:][same])
    pairs, together = np.unique(np.concatenate(keys) if keys else np.empty(0, np.int64), return_counts=True)
    one, other = pairs // max(count, 1), pairs % max(count, 1)
    alone = np.bincount(entity, minlength=count)
    weight: Weights = together * np.log(together * incidence.total / (alone[one] * alone[other])).astype(np.float64)
    kept = weight > 0
    one, other, weight = one[kept], other[kept], weight[kept]
    return Ties(np.concatenate([one, other]), np.concatenate([other, one]), np.concatenate([weight, weight]))


def labelled(count: int, tied: Ties, seed: int = 0) -> Ids:
    """Return a label for each of `count` names; names of a community have the same."""
    labels = np.arange(count, dtype=np.int64)
    draw = np.random.default_rng(seed)
    for number in range(ROUNDS if len(tied.source) else 0):
        best = _heaviest(count, tied, labels)
        if np.array_equal(best, labels):
            break
        labels = np.where(draw.random(count) < 0.5, best, labels) if number % 2 else best
    return labels


def _heaviest(count: int, tied: Ties, labels: Ids) -> Ids:
    """Return for each name the label with the most weight among its ties, of equals the smallest; its own without."""
    keys, at = np.unique(tied.target * count + labels[tied.source], return_inverse=True)
    weight = np.bincount(at, tied.weight)
    names, given = keys // count, keys % count
    order = np.lexsort((given, -weight, names))
    first = order[np.unique(names[order], return_index=True)[1]]
    best = labels.copy()
    best[names[first]] = given[first]
    return best


class CommunityFinder:
    """Finds the communities of spaces. Thread-safe."""

    def __init__(self, incidences: Incidences, kept: Kept) -> None:
        self._incidences, self._kept = incidences, kept

    def find(self, opened: Opened, limit: int) -> Communities:
        """Return the communities that a caller sees."""
        incidence = self._incidences.of(opened)
        found: list[tuple[Ids, int]] = []
        if incidence is not None:
            found = self._kept.of(opened.space, opened.shown, "communities", lambda: _members(incidence))
        shown = (
            []
            if incidence is None
            else [
                _Shown(incidence.entities[members].tolist()[: 2 * TELLING_MAX], len(members), memories)
                for members, memories in found[:limit]
            ]
        )
        return Communities(
            items=tuple(_told(opened, shown)),
            total=len(found),
            too_large=incidence is None,
            pending=opened.pending,
            seq=str(opened.space.seq),
        )


class _Shown(NamedTuple):
    """A community to be shown: ids of its names, the most telling first, its size, and its memories."""

    names: list[int]
    size: int
    memories: int


def _members(incidence: Incidence) -> list[tuple[Ids, int]]:
    """Return the places of each community, its most telling name first, and its memories. The largest come first."""
    count, tied = len(incidence.entities), ties(incidence)
    labels = labelled(count, tied)
    inside = labels[tied.source] == labels[tied.target]
    strength = np.bincount(tied.target[inside], tied.weight[inside], minlength=count)
    mentioned = np.unique(np.stack([incidence.version, labels[incidence.entity]]), axis=1, return_counts=True)
    memories = np.bincount(mentioned[0][1][mentioned[1] > 1], minlength=count)
    order = np.lexsort((np.arange(count), -strength, labels))
    starts = np.unique(labels[order], return_index=True)[1]
    groups = [group for group in np.split(order, starts[1:]) if len(group) >= LEAST] if count else []
    told = [(group, int(memories[labels[group[0]]])) for group in groups]
    return sorted(told, key=lambda one: (-one[1], -len(one[0]), int(one[0][0])))


def _told(opened: Opened, shown: list[_Shown]) -> list[Community]:
    """Return communities with the entities of their most telling names, each entity once."""
    groups = opened.groups.of({name for one in shown for name in one.names})
    heads = [list(dict.fromkeys(groups[name].head for name in one.names))[:TELLING_MAX] for one in shown]
    ends = opened.groups.ends({head for some in heads for head in some})
    return [
        Community(entities=tuple(ends[head] for head in some), size=one.size, memories=one.memories)
        for one, some in zip(shown, heads, strict=True)
    ]
