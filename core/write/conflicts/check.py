"""Find on the index the memories that a new memory resembles or contradicts. The check is as fresh as the index."""

from collections.abc import Mapping, Sequence
from typing import cast

import msgspec
import numpy as np

from muisti.core.embedding.encoder import Encoder
from muisti.core.embedding.models import Models
from muisti.core.embedding.vectors import restored
from muisti.core.identity.caller import Caller
from muisti.core.index.cache import Indexes
from muisti.core.index.collection import Allowed, CollectionStatistics
from muisti.core.index.dense import alike, overlap, words
from muisti.core.index.lexical import best_matches, rank_lexical
from muisti.core.index.snapshot import RowNumbers, Snapshot
from muisti.core.kernels import Floats
from muisti.core.model.collisions import Contradiction, Duplicate, Similar
from muisti.core.model.outcomes import Difference, Likeness, LikenessKind
from muisti.core.model.terms import SIMILARITY_MIN, OnConflict
from muisti.core.model.values import QUERY_MAX, Memory, Seq
from muisti.core.query.filters import Filter
from muisti.core.query.query import parse
from muisti.core.store.database import Database
from muisti.core.store.sql import memories, version_rows
from muisti.core.store.sql.inserting import NewVersion
from muisti.core.store.sql.spaces import SpaceRow
from muisti.core.text.sentences import MAX_TOKENS
from muisti.core.text.terms import fold
from muisti.core.write.conflicts.judgement import Verdict, judge, of_two_authors

# Describe an existing memory to the caller whose new memory resembles it

SHOWN = 300  # characters of a content


def likeness(
    memory: Memory, kind: LikenessKind, similarity: float | None = None, differs: tuple[Difference, ...] = ()
) -> Likeness:
    """Return the description. `similarity` is the cosine of both texts, or None when they were not compared."""
    content = memory.content
    return Likeness(
        id=memory.id,
        kind=kind,
        similarity=similarity,
        differs=differs,
        content=content if len(content) <= SHOWN else f"{content[: SHOWN - 1]}…",
        category=memory.category,
        key=memory.key,
    )


CANDIDATES = 5  # current memories that are compared with a new one
OLDER = 12  # current memories that are searched for older ones
# Share of the longer content's words. No judged pair with a verdict has less than .38.
OVERLAP_MIN = 1 / 3
WORDED = 20  # current memories with the same words that are compared, where there are no vectors
NEVER = 2.0  # higher than any cosine

_REFUSED: Mapping[LikenessKind, type[Similar]] = {"duplicate": Duplicate, "conflict": Contradiction}
_RANKS: tuple[LikenessKind, ...] = ("duplicate", "conflict", "possible_conflict", "similar")


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

    def to_review(self, position: int, made: Sequence[Memory], on_conflict: OnConflict) -> list[Likeness]:
        """Return the memories with which a new one opens a review, including earlier ones of `made`.

        These are the memories that it may contradict. With `review`, those that it repeats or contradicts are added.
        With `keep`, there are none. Hidden memories that it repeats or contradicts are always added.
        """
        if not self.found or on_conflict == "keep":
            return []
        kinds = (*_REFUSED, "possible_conflict") if on_conflict == "review" else ("possible_conflict",)
        within = [msgspec.structs.replace(one, id=made[other].id) for other, one in self.within[position]]
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
        comparing = _Comparing(space, encoder)
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
        comparing, memories_made = _Comparing(space, judge), [new.memory for new in made]
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
    ) -> Sequence[tuple[Memory, float]]:
        """Return the nearest of the memories that have words of a new one, best first."""
        rows = by_words(snapshot, new.content, population) if direction.any() else ()
        if not len(rows):
            return ()
        versions = snapshot.rows.version.view()[rows].tolist()
        (fetched,) = self._database.read([memories.by_rows(versions)])
        current = [version_rows.memory(row, space.space.name) for row in fetched]
        cosines = (judge.encode([memory.content for memory in current]) @ direction).tolist()
        near = [(memory, cosine) for memory, cosine in zip(current, cosines, strict=True) if cosine >= SIMILARITY_MIN]
        return sorted(near, key=lambda one: -one[1])[:CANDIDATES]

    def among_older(
        self, space: SpaceRow, snapshot: Snapshot, stored: Sequence[tuple[Memory, bytes | None]], now: int
    ) -> tuple[tuple[Likeness, ...], ...]:
        """Return for each stored memory the older memories that it resembles or contradicts.

        Each memory comes with its vector, or None.
        """
        encoder = self._models.required(space.space.name, space.space.generation)
        directions = restored([vector for _, vector in stored], encoder.dimensions)
        near = [
            closest(snapshot, direction, snapshot.population(now).allowed, OLDER)
            if direction.any()
            else (np.empty(0, np.int64), ())
            for direction in directions
        ]
        versions = sorted({version for rows, _ in near for version in snapshot.rows.version.view()[rows].tolist()})
        (fetched,) = self._database.read([memories.by_rows(versions)]) if versions else ([],)
        current = {cast(int, row[0]): version_rows.memory(row, space.space.name) for row in fetched}
        comparing = _Comparing(space, encoder)
        found: list[tuple[Likeness, ...]] = []
        for (memory, _), (rows, cosines) in zip(stored, near, strict=True):
            mine = zip(snapshot.rows.version.view()[rows].tolist(), cosines, strict=True)
            others = [(current[version], cosine) for version, cosine in mine if version in current]
            older = [one for one in others if (one[0].created_at, one[0].id) < (memory.created_at, memory.id)]
            found.append(comparing.with_each(memory, older[:CANDIDATES]))
        return tuple(found)

    def _candidates(
        self, space: SpaceRow, snapshot: Snapshot, new: NewVersion, direction: Floats, allowed: Allowed
    ) -> Sequence[tuple[Memory, float]]:
        """Return the nearest memories that share words with a new one, best first."""
        if not direction.any() or not new.passages:
            return ()
        rows, cosines = closest(snapshot, direction, allowed)
        said = words(np.frombuffer(new.passages[0].terms, np.uint64))
        refused_from = space.space.policy.similarity_limit or NEVER
        near = [
            (version, cosine)
            for row, version, cosine in zip(rows, snapshot.rows.version.view()[rows].tolist(), cosines, strict=True)
            if cosine >= refused_from or overlap(snapshot.pieces, row, said) >= OVERLAP_MIN
        ]
        if not near:
            return ()
        (fetched,) = self._database.read([memories.by_rows([version for version, _ in near])])
        current = {cast(int, row[0]): version_rows.memory(row, space.space.name) for row in fetched}
        return [(current[version], cosine) for version, cosine in near if version in current]


class _Comparing(msgspec.Struct, frozen=True):
    """Comparison of memories in one space."""

    space: SpaceRow
    encoder: Encoder

    def with_each(self, new: Memory, candidates: Sequence[tuple[Memory, float]]) -> tuple[Likeness, ...]:
        """Return the candidates that a new memory resembles or contradicts.

        Each candidate comes with the cosine of its embedded text.
        """
        found = (self._compared(old, new, cosine) for old, cosine in candidates)
        return tuple(sorted((one for one in found if one is not None), key=lambda one: _RANKS.index(one.kind)))

    def among(self, made: Sequence[Memory], directions: Floats) -> tuple[tuple[tuple[int, Likeness], ...], ...]:
        """Return for each memory of a batch the earlier ones that it resembles or contradicts."""
        if len(made) == 1:
            return ((),)
        near = np.tril(directions @ directions.T, -1) >= SIMILARITY_MIN
        found: list[tuple[tuple[int, Likeness], ...]] = []
        for place, new in enumerate(made):
            pairs = (
                (other, self._compared(made[other], new, float(directions[other] @ directions[place])))
                for other in np.flatnonzero(near[place]).tolist()
            )
            found.append(tuple((other, one) for other, one in pairs if one is not None))
        return tuple(found)

    def _compared(self, old: Memory, new: Memory, cosine: float) -> Likeness | None:
        if _apart(old, new) or max(old.tokens, new.tokens) > MAX_TOKENS:
            return None
        if not (self._is_bare(old) and self._is_bare(new)):
            first, second = self.encoder.encode([old.content, new.content])
            cosine = float(first @ second)
        verdict = judge(old.content, new.content, cosine, self.encoder.encode)
        if verdict is not None and _differ(old.author and fold(old.author), new.author and fold(new.author)):
            verdict = of_two_authors(verdict, old.content, new.content)
        if cosine >= (self.space.space.policy.similarity_limit or NEVER):
            differs = () if verdict is None else verdict.differs
            verdict = Verdict("conflict" if differs else "duplicate", differs)
        if verdict is None:
            return None
        if verdict.kind == "possible_conflict" and cosine < (self.space.space.policy.review_limit or SIMILARITY_MIN):
            verdict = Verdict("similar", verdict.differs)
        return likeness(old, verdict.kind, min(round(cosine, 4), 1.0), verdict.differs)

    def _is_bare(self, memory: Memory) -> bool:
        """Return whether only the content was embedded."""
        return not any(
            getattr(memory, field) for field in self.space.space.settings.embedded_fields if field != "content"
        )


def closest(
    snapshot: Snapshot, direction: Floats, allowed: Allowed, most: int = CANDIDATES
) -> tuple[RowNumbers, Sequence[float]]:
    """Return the best row of each of the nearest allowed memories and its cosine, best first."""
    near = alike(snapshot, direction, allowed, SIMILARITY_MIN, most)
    return near.rows, near.cosines.tolist()


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


def _apart(one: Memory, other: Memory) -> bool:
    """Return whether the fields of two memories show that they are about different things, whatever their texts say."""
    return (
        one.kind != other.kind
        or _differ((one.category, one.key) if one.key else None, (other.category, other.key) if other.key else None)
        or _differ(one.event_at and one.event_at.date(), other.event_at and other.event_at.date())
        or _ends_before(one, other)
        or _ends_before(other, one)
        or ("session" in one.metadata and "session" in other.metadata)
        or (one.conversation is not None and other.conversation is not None)
        or one.document is not None
        or other.document is not None
    )


def _ends_before(one: Memory, other: Memory) -> bool:
    """Return whether one memory stops being valid before the other becomes valid."""
    return one.valid_to is not None and other.valid_from is not None and one.valid_to <= other.valid_from


def _differ(one: object, other: object) -> bool:
    """Return whether both values are given and differ."""
    return one is not None and other is not None and one != other
