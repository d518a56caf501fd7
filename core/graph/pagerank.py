"""Personalised PageRank over memories and the entities that they mention: how near each memory is to a question.

A walk goes from an entity to any memory that mentions it. From a memory it goes to one of its entities, the rarer the
more likely. It starts again with the probability `RESTART` at the entities that the question names, the rarer the
more often. So memories of the named entities come first, those with rare names before others.
"""

import re
from collections import OrderedDict
from collections.abc import Callable
from typing import NamedTuple, cast

import numpy as np
import numpy.typing as npt

from muisti.core.graph.entities.name_keys import folded, lookups, norm
from muisti.core.graph.merging import Group
from muisti.core.graph.reading import GraphReader, Opened
from muisti.core.graph.sql import graph, graph_rows
from muisti.core.identity.caller import Caller
from muisti.core.model.errors import Conflict, NotFound
from muisti.core.query.filter_fields import ENTITY, VERSION_ROW
from muisti.core.query.filters import And, Filter, Leaf, Not, Or, fields_of
from muisti.core.query.points import AsOf
from muisti.core.store.database import Database
from muisti.core.support.waiting import Lock
from muisti.core.text.terms import query_terms

PAGE = 20_000  # versions that one statement reads
MOST = 2_000_000  # mentions of a space for which there are arrays
REMEMBERED = 4_000_000  # mentions of all arrays in memory, of 12 bytes each

Ids = npt.NDArray[np.int64]
Places = npt.NDArray[np.int32]


class Incidence(NamedTuple):
    """A bipartite graph. `versions` (m,) and `entities` (e,) ascend; edge n joins places `version[n]`, `entity[n]`.

    `total` counts the versions that are seen, also those that mention nothing.
    """

    versions: Ids
    entities: Ids
    version: Places
    entity: Places
    total: int

    @property
    def size(self) -> int:
        return len(self.version)


class Incidences:
    """The arrays of spaces, the last used ones in memory. Thread-safe."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._known: OrderedDict[tuple[object, ...], Incidence] = OrderedDict()
        self._lock = Lock()

    def of(self, opened: Opened) -> Incidence | None:
        """Return the arrays of what a caller sees of a space; None when it has more than `MOST` mentions."""
        space, shown = opened.space, opened.shown
        (state,) = self._database.read([graph_rows.state(space)])
        key = (space.id, space.seq, state[0][2], shown.category)
        with self._lock:
            known = self._known.get(key)
            if known is not None:
                self._known.move_to_end(key)
        return self._note(key, self._read(opened)) if known is None else known

    def _note(self, key: tuple[object, ...], made: Incidence | None) -> Incidence | None:
        if made is None:
            return None
        with self._lock:
            for old in [old for old in self._known if (old[0], old[3]) == (key[0], key[3])]:
                del self._known[old]
            self._known[key] = made
            while sum(one.size for one in self._known.values()) > REMEMBERED and len(self._known) > 1:
                self._known.popitem(last=False)
        return made

    def _read(self, opened: Opened) -> Incidence | None:
        pages: list[npt.NDArray[np.int64]] = []
        after, total, size = 0, 0, 0
        while True:
            (rows,) = self._database.read([graph.incidence(opened.space, opened.shown, after, PAGE)])
            if not rows:
                break
            page = np.array([(row[0], row[1] or 0) for row in rows], np.int64)  # ids of entities begin at 1
            after, seen = int(page[-1, 0]), len(np.unique(page[:, 0]))
            pages.append(page[page[:, 1] > 0])
            total, size = total + seen, size + len(pages[-1])
            if size > MOST:
                return None
            if seen < PAGE:
                break
        return _of(np.concatenate(pages) if pages else np.empty((0, 2), np.int64), total)


def of_pairs(pairs: list[tuple[int, int]], total: int) -> Incidence:
    """Return the arrays of pairs of version and entity."""
    return _of(np.array(pairs, np.int64).reshape(-1, 2), total)


def _of(pairs: npt.NDArray[np.int64], total: int) -> Incidence:
    pairs = np.unique(pairs, axis=0)
    versions, version = np.unique(pairs[:, 0], return_inverse=True)
    entities, entity = np.unique(pairs[:, 1], return_inverse=True)
    return Incidence(versions, entities, version.astype(np.int32), entity.astype(np.int32), total)


def places(sorted_ids: Ids, wanted: Ids) -> Ids:
    """Return the place of each wanted id among ids that ascend; -1 for one that is not there."""
    at = np.searchsorted(sorted_ids, wanted)
    at[at == len(sorted_ids)] = 0
    return np.where(sorted_ids[at] == wanted, at, -1) if len(sorted_ids) else np.full(len(wanted), -1, np.int64)


class Meant(NamedTuple):
    """A filter that names no entity, and in words what is missing."""

    filter: Filter | None
    degraded: tuple[str, ...] = ()


def names_entities(filter: Filter | None) -> bool:
    """Return whether a filter names an entity, so that the graph must be read for it."""
    return filter is not None and ENTITY in fields_of(filter)


def lacks(pending: int) -> tuple[str, ...]:
    """Return in words that versions are not read yet."""
    if not pending:
        return ()
    return (f"{pending:,} versions of memories are not in the graph yet; it reads them in the background",)


class EntityFilters:
    """Reads the entities of filters. Thread-safe."""

    def __init__(self, reader: GraphReader) -> None:
        self._reader = reader

    def meant(self, space: str, filter: Filter | None, caller: Caller, as_of: AsOf | None, now: int) -> Meant:
        """Return the filter with rows of versions in place of entities; an unknown entity has none.

        Raises:
            NotFound: there is no such space.
            Conflict: the graph of the space is off.
            EpochGone, PastRetention, PointAhead: it cannot be shown as it was then.
        """
        if filter is None or not names_entities(filter):
            return Meant(filter)
        opened = self._reader.open(space, caller, now, as_of, _names(filter))
        return Meant(_resolved(filter, lambda leaf: self._versions(opened, leaf)), lacks(opened.pending))

    def _versions(self, opened: Opened, leaf: Leaf) -> Leaf:
        members: set[int] = set()
        for name in leaf.operands:
            try:
                members.update(self._reader.find(opened, str(name)).members)
            except NotFound:
                continue
        (rows,) = self._reader.database.read([graph.versions_of(members)])
        return Leaf(VERSION_ROW, "in", tuple(cast(int, row[0]) for row in rows))


def _names(filter: Filter) -> list[str]:
    match filter:
        case Leaf(field):
            return [str(name) for name in filter.operands] if field == ENTITY else []
        case Not(part):
            return _names(part)
        case And(parts) | Or(parts):
            return [name for part in parts for name in _names(part)]


def _resolved(filter: Filter, ask: Callable[[Leaf], Leaf]) -> Filter:
    match filter:
        case Leaf(field):
            return ask(filter) if field == ENTITY else filter
        case Not(part):
            return Not(_resolved(part, ask))
        case And(parts):
            return And(tuple(_resolved(part, ask) for part in parts))
        case Or(parts):
            return Or(tuple(_resolved(part, ask) for part in parts))


WORDS = 100  # of a question that are looked at
LONGEST = 5  # words of a name in a question
_ASKING = "who whose whom what when where why which how did does was were has have can could"
ASKING = frozenset(_ASKING.split(" "))  # words of questions, that are no names
_WORD = re.compile(r"\S+")


def candidates(text: str) -> list[tuple[int, int, str]]:
    """Return what may be a name in a text, as (first word, word after, norm): the longest first, then in order.

    A name begins and ends with no small letter, and with no stop word or word of questions.

    >>> candidates("Where does Ann Lee's dog sleep?")
    [(2, 4, 'Ann Lee'), (2, 3, 'Ann'), (3, 4, 'Lee')]
    """
    words = [(one.start(), one.end()) for one in _WORD.finditer(text)][:WORDS]
    found: list[tuple[int, int, str]] = []
    for first, (start, _) in enumerate(words):
        for after in range(first + 1, min(first + LONGEST, len(words)) + 1):
            name = text[start : words[after - 1][1]].lstrip("\"'“‘([")
            if _may_be(name):
                found.append((first, after, norm(name)))
    return sorted(found, key=lambda one: (one[0] - one[1], one[0]))


def _may_be(name: str) -> bool:
    words = name.split()
    ends = (words[0], words[-1]) if words else ()
    return bool(ends) and all(not end[0].islower() and folded(end) not in ASKING and query_terms(end) for end in ends)


def named(reader: GraphReader, opened: Opened, text: str) -> list[Group]:
    """Return the entities that a text names, in the order of the text; of overlapping names the longest."""
    spoken = candidates(text)
    if not spoken:
        return []
    asked = [key for *_, name in spoken for key in lookups(name)]
    (rows,) = reader.database.read([graph.called(opened.space.space.name, asked, [], opened.shown)])
    opened.groups.learn(rows, brief=False)
    groups = opened.groups.of(cast(int, row[0]) for row in rows)
    opened.groups.sketch({one for group in groups.values() for one in group.members})
    taken: dict[int, Group] = {}
    covered: set[int] = set()
    for first, after, name in spoken:
        group = next((groups[one] for one in opened.groups.called(name) if one in groups), None)
        if group is None or not covered.isdisjoint(range(first, after)):
            continue
        if any(opened.groups.sketched(one) for one in group.members):
            taken[first] = group
            covered.update(range(first, after))
    return [*{taken[first].head: taken[first] for first in sorted(taken)}.values()]


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
