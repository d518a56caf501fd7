"""Find on the index the memories that a new memory resembles or contradicts. The check is as fresh as the index."""

from collections.abc import Collection, Mapping, Sequence
from typing import NamedTuple, cast

import msgspec
import numpy as np

from muisti.core.embedding.encoder import Encoder
from muisti.core.embedding.models import Models
from muisti.core.embedding.vectors import restored
from muisti.core.identity.caller import Caller
from muisti.core.index.cache import Indexes
from muisti.core.index.collection_statistics import Allowed, CollectionStatistics
from muisti.core.index.dense import Near, alike, cosines, overlap, query_vector, words
from muisti.core.index.lexical import best_matches, rank_lexical
from muisti.core.index.snapshot import RowNumbers, Snapshot
from muisti.core.kernels import Floats
from muisti.core.model.choices import SIMILARITY_MIN, OnConflict
from muisti.core.model.collisions import Contradiction, Duplicate, Similar
from muisti.core.model.outcomes import Likeness, LikenessKind
from muisti.core.model.values import QUERY_MAX, Memory, Seq
from muisti.core.query.filters import Filter
from muisti.core.query.query import parse
from muisti.core.store.database import Database
from muisti.core.store.sql import memories, version_rows
from muisti.core.store.sql.inserting import NewVersion
from muisti.core.store.sql.spaces import SpaceRow
from muisti.core.write.conflicts.comparing import NEVER, Candidate, Comparing
from muisti.core.write.conflicts.seeking import of_subject

CANDIDATES = 5  # current memories that are compared with a new one
OLDER = 12  # current memories that are searched for older ones
# Share of the longer content's words. No judged pair with a verdict has less than .38.
OVERLAP_MIN = 1 / 3
WORDED = 20  # current memories with the same words that are compared, where there are no vectors
_REFUSED: Mapping[LikenessKind, type[Similar]] = {"duplicate": Duplicate, "conflict": Contradiction}


class Checked(msgspec.Struct, frozen=True):
    """Memories that each new memory resembles or contradicts, best first, and how fresh the index was.

    `within` lists resemblances inside the batch: the position of the other memory, and how both relate. `at` is the
    change up to which the index was read. It is None when only equal texts are refused.

    `hidden` lists for each new memory those that its caller may not read. They refuse nothing; reviews show them.
    """

    found: tuple[tuple[Likeness, ...], ...]
    within: tuple[tuple[tuple[int, Likeness], ...], ...]
    at: Seq | None
    hidden: tuple[tuple[Likeness, ...], ...] = ()

    @property
    def similar(self) -> tuple[Likeness, ...]:
        """Memories that the only new memory resembles or contradicts."""
        return self.found[0] if len(self.found) == 1 else ()

    def apart(self, made: Sequence[Memory]) -> list["Checked"]:
        """Return what each of the new memories resembles, earlier ones of `made` as if they were stored."""
        if not self.found:
            return [self] * len(made)
        every = [(*found, *self._earlier(place, made)) for place, found in enumerate(self.found)]
        return [Checked((found,), ((),), self.at) for found in every]

    def _earlier(self, position: int, made: Sequence[Memory]) -> list[Likeness]:
        return [msgspec.structs.replace(one, id=made[other].id) for other, one in self.within[position]]

    def to_review(self, position: int, made: Sequence[Memory], on_conflict: OnConflict) -> list[Likeness]:
        """Return the memories with which a new one opens a review, including earlier ones of `made`.

        These are the memories that it may contradict. With `review`, those that it repeats or contradicts are added.
        With `keep`, there are none. Hidden memories that it repeats or contradicts are always added.
        """
        if not self.found or on_conflict == "keep":
            return []
        kinds = (*_REFUSED, "possible_conflict") if on_conflict == "review" else ("possible_conflict",)
        within = self._earlier(position, made)
        hidden = self.hidden[position] if self.hidden else ()
        found = [one for one in (*self.found[position], *within) if one.kind in kinds]
        return [*found, *(one for one in hidden if one.kind != "similar")]

    def refuse(self) -> None:
        """Raise for the first new memory that repeats or contradicts another.

        Raises:
            Duplicate: it says the same.
            Contradiction: it says the contrary.
        """
        for position, (found, within) in enumerate(zip(self.found, self.within, strict=True)):
            for other, one in [*((None, one) for one in found), *within]:
                if one.kind in _REFUSED:
                    among = [each for each in found if each.kind in _REFUSED] if other is None else [one]
                    raise _REFUSED[one.kind](among, position, other=other, checked_at=self.at)


NOT_CHECKED = Checked((), (), None)


class Checker:
    """Compare new memories with the current ones. Instances are thread-safe.

    Where the model of a space does not embed what writes store, another one judges memories of the same words.

    Memories of several passages are not compared. Neither are two memories whose fields show that they differ.
    """

    def __init__(self, database: Database, indexes: Indexes, models: Models) -> None:
        self._database = database
        self._indexes = indexes
        self._models = models

    def check(self, space: SpaceRow, made: Sequence[NewVersion], now: int, caller: Caller) -> Checked:
        """Compare each memory of `made` with the index and with the earlier ones of `made`.

        Memories that the caller may not read are compared apart, so that they displace none that it may read.
        """
        every = self._check(space, made, now)
        if caller.sees_all or not every.found:
            return every
        seen = self._check(space, made, now, caller.only(None)).found if caller.reads else tuple(() for _ in made)
        hidden = tuple(tuple(one for one in found if not caller.may_read(one.category)) for found in every.found)
        return Checked(seen, every.within, every.at, hidden)

    def _check(self, space: SpaceRow, made: Sequence[NewVersion], now: int, only: Filter | None = None) -> Checked:
        """Compare each memory of `made` with those of the index that a filter selects; None selects all."""
        encoder = self._models.inline(space.space.generation)
        if encoder is None:
            judge = self._models.judge(space.space.generation)
            if judge is not None:
                return self._check_words(space, made, now, judge, only)
            return Checked(((),) * len(made), ((),) * len(made), None)
        directions = _directions(made, encoder)
        comparing = Comparing(space, encoder)
        within = comparing.among([new.memory for new in made], directions)
        ready = self._indexes.at_hand(space)
        if ready is None:
            return Checked(tuple(() for _ in made), within, None)
        index, snapshot = ready
        if index.space.generation is None:
            return Checked(tuple(() for _ in made), within, snapshot.seq)
        allowed = index.selections(snapshot).population(only, snapshot, snapshot.population(now)).allowed
        found = tuple(
            comparing.with_each(new.memory, self._candidates(space, snapshot, new, direction, allowed))
            for new, direction in zip(made, directions, strict=True)
        )
        return Checked(found, within, snapshot.seq)

    def _check_words(
        self, space: SpaceRow, made: Sequence[NewVersion], now: int, judge: Encoder, only: Filter | None
    ) -> Checked:
        """Compare by the vectors of `judge`, with the memories that have most words in common."""
        comparing, memories_made = Comparing(space, judge), [new.memory for new in made]
        short = np.array([new.passages is not None and len(new.passages) == 1 for new in made])
        directions = judge.encode([memory.content for memory in memories_made]) * short[:, None]
        within = comparing.among(memories_made, directions)
        ready = self._indexes.at_hand(space)
        if ready is None:
            return Checked(tuple(() for _ in made), within, None)
        index, snapshot = ready
        population = index.selections(snapshot).population(only, snapshot, snapshot.population(now))
        found = tuple(
            comparing.with_each(new.memory, self._with_words(space, snapshot, new.memory, direction, judge, population))
            for new, direction in zip(made, directions, strict=True)
        )
        return Checked(found, within, snapshot.seq)

    def _with_words(
        self,
        space: SpaceRow,
        snapshot: Snapshot,
        new: Memory,
        direction: Floats,
        judge: Encoder,
        population: CollectionStatistics,
    ) -> Sequence[Candidate]:
        """Return the memories that have words of a new one, best first; of the others only claims are compared."""
        rows = by_words(snapshot, new.content, population) if direction.any() else ()
        if not len(rows):
            return ()
        versions = snapshot.rows.version.view()[rows].tolist()
        (fetched,) = self._database.read([memories.by_rows(versions)])
        current = [version_rows.memory(row, space.space.name) for row in fetched]
        cosines = (judge.encode([memory.content for memory in current]) @ direction).tolist()
        found = sorted(zip(current, cosines, strict=True), key=lambda one: -one[1])
        return [
            Candidate(memory, cosine, near=place < CANDIDATES and cosine >= SIMILARITY_MIN)
            for place, (memory, cosine) in enumerate(found)
        ]

    def among_older(
        self, space: SpaceRow, snapshot: Snapshot, stored: Sequence[tuple[Memory, bytes | None]], now: int
    ) -> tuple[tuple[Likeness, ...], ...]:
        """Return for each stored memory the older memories that it resembles or contradicts.

        Each memory comes with its vector, or None.
        """
        encoder = self._models.required(space.space.name, space.space.generation)
        directions = restored([vector for _, vector in stored], encoder.dimensions)
        allowed = snapshot.population(now).allowed
        near = [
            _with_subject(snapshot, memory.content, direction, allowed, closest(snapshot, direction, allowed, OLDER))
            if direction.any()
            else ()
            for (memory, _), direction in zip(stored, directions, strict=True)
        ]
        current = self._current(space, {one.version for each in near for one in each})
        comparing = Comparing(space, encoder)
        found: list[tuple[Likeness, ...]] = []
        for (memory, _), mine in zip(stored, near, strict=True):
            others = [Candidate(current[one.version], one.cosine, one.near) for one in mine if one.version in current]
            older = [one for one in others if (one.memory.created_at, one.memory.id) < (memory.created_at, memory.id)]
            nearest = [one for one in older if one.near][:CANDIDATES]
            found.append(comparing.with_each(memory, [*nearest, *(one for one in older if not one.near)]))
        return tuple(found)

    def _candidates(
        self, space: SpaceRow, snapshot: Snapshot, new: NewVersion, direction: Floats, allowed: Allowed
    ) -> Sequence[Candidate]:
        """Return the nearest memories that share words with a new one, best first, and those of its subject."""
        if not direction.any() or not new.passages:
            return ()
        near = closest(snapshot, direction, allowed)
        said = words(np.frombuffer(new.passages[0].terms, np.uint64))
        refused_from = space.space.policy.similarity_limit or NEVER
        kept = [
            cosine >= refused_from or overlap(snapshot.pieces, row, said) >= OVERLAP_MIN
            for row, cosine in zip(near.rows, near.cosines.tolist(), strict=True)
        ]
        near = Near(near.rows[kept], near.cosines[kept])
        found = _with_subject(snapshot, new.memory.content, direction, allowed, near)
        current = self._current(space, {one.version for one in found})
        return [Candidate(current[one.version], one.cosine, one.near) for one in found if one.version in current]

    def _current(self, space: SpaceRow, versions: Collection[int]) -> Mapping[int, Memory]:
        (fetched,) = self._database.read([memories.by_rows(sorted(versions))]) if versions else ([],)
        return {cast(int, row[0]): version_rows.memory(row, space.space.name) for row in fetched}


def closest(snapshot: Snapshot, direction: Floats, allowed: Allowed, most: int = CANDIDATES) -> Near:
    """Return the best row of each of the nearest allowed memories and its cosine, best first."""
    return alike(snapshot, direction, allowed, SIMILARITY_MIN, most)


class _Found(NamedTuple):
    version: int
    cosine: float
    near: bool


def _with_subject(
    snapshot: Snapshot, content: str, direction: Floats, allowed: Allowed, near: Near
) -> Sequence[_Found]:
    """Return the versions of the nearest memories, then those of other memories with the subject of a content."""
    column = snapshot.rows.version.view()
    nearest = zip(column[near.rows].tolist(), near.cosines.tolist(), strict=True)
    found = [_Found(version, cosine, near=True) for version, cosine in nearest]
    rows = of_subject(snapshot, content, allowed)
    if len(rows):
        known = {one.version for one in found}
        others = zip(column[rows].tolist(), cosines(snapshot, query_vector(direction), rows).tolist(), strict=True)
        found += [_Found(version, cosine, near=False) for version, cosine in others if version not in known]
    return found


def by_words(snapshot: Snapshot, content: str, population: CollectionStatistics) -> RowNumbers:
    """Return the best row of each memory of a population that matches the words of a content best."""
    wanted = parse(content[:QUERY_MAX].replace('"', " "), "any")
    matches = rank_lexical(snapshot, population, wanted, population.mask)
    return best_matches(snapshot, matches, population.mask, WORDED)


def _directions(made: Sequence[NewVersion], encoder: Encoder) -> Floats:
    """Return the vectors of new memories in the coordinates of the index. A memory of several passages has zeros."""
    digest = encoder.identity
    alone = (new.passages[0] if new.passages is not None and len(new.passages) == 1 else None for new in made)
    return restored([None if one is None else one.vectors.get(digest) for one in alone], encoder.dimensions)
