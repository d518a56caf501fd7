"""Personalised PageRank over memories and the entities that they mention: how near each memory is to a question.

A walk goes from an entity to any memory that mentions it. From a memory it goes to one of its entities, the rarer the
more likely. It starts again with the probability `RESTART` at the entities that the question names, the rarer the
more often. So memories of the named entities come first, those with rare names before others.
"""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from muisti.core.graph.incidence import Ids, Incidence, Incidences, places
from muisti.core.graph.naming import named
from muisti.core.graph.reading import GraphReader
from muisti.core.graph.selecting import lacks
from muisti.core.identity.caller import Caller
from muisti.core.model.errors import Conflict
from muisti.core.query.points import AsOf

RESTART = 0.3
STEPS = 15

Shares = npt.NDArray[np.float64]


class Walked(NamedTuple):
    """The visits of versions, of which the most visited has 1. `versions` ascend; others have no visits."""

    versions: Ids
    visits: Shares

    def of(self, versions: Ids) -> Shares:
        """Return the visits of some versions."""
        at = places(self.versions, versions)
        return np.where(at < 0, 0.0, self.visits[at]) if len(self.versions) else np.zeros(len(versions))


class Walk(NamedTuple):
    """The walk of one question: None when it names no entity, and in words what is missing."""

    walked: Walked | None
    degraded: tuple[str, ...] = ()


class Walks:
    """Walks from questions. Thread-safe."""

    def __init__(self, reader: GraphReader, incidences: Incidences) -> None:
        self._reader, self._incidences = reader, incidences

    def ask(self, space: str, question: str, caller: Caller, now: int, as_of: AsOf | None) -> Walk:
        """Return how near the memories that a caller sees are to the entities that a question names.

        Raises:
            NotFound: there is no such space.
            EpochGone, PastRetention, PointAhead: it cannot be shown as it was then.
        """
        try:
            opened = self._reader.open(space, caller, now, as_of)
        except Conflict as off:
            return Walk(None, (f"{off}: ranked without it",))
        groups = named(self._reader, opened, question)
        if not groups:
            return Walk(None, lacks(opened.pending))
        incidence = self._incidences.of(opened)
        if incidence is None:
            return Walk(None, ("the graph of this space is too large to rank by it: ranked without it",))
        seeds = np.array(sorted({one for group in groups for one in group.members}), np.int64)
        return Walk(walk(incidence, seeds), lacks(opened.pending))


def rarity(incidence: Incidence) -> Shares:
    """Return the inverse document frequency of each entity."""
    counts = np.bincount(incidence.entity, minlength=len(incidence.entities))
    return np.log1p((incidence.total - counts + 0.5) / (counts + 0.5))


def walk(incidence: Incidence, seeds: Ids, restart: float = RESTART) -> Walked | None:
    """Return the visits of versions of a walk from entities; None when no version mentions one of them."""
    at = places(incidence.entities, seeds)
    at = at[at >= 0]
    if not len(at):
        return None
    m, e = len(incidence.versions), len(incidence.entities)
    rare = rarity(incidence)
    counts = np.bincount(incidence.entity, minlength=e)
    weight = rare[incidence.entity]
    sums = np.bincount(incidence.version, weight, minlength=m)
    onward = weight / sums[incidence.version]
    start = np.zeros(e)
    start[at] = rare[at] / rare[at].sum()
    visited, visits = start, np.zeros(m)
    for _ in range(STEPS):
        visits = np.bincount(incidence.version, (visited / counts)[incidence.entity], minlength=m)
        back = np.bincount(incidence.entity, visits[incidence.version] * onward, minlength=e)
        visited = restart * start + (1 - restart) * back
    return Walked(incidence.versions, visits / visits.max())
