"""From a query and a snapshot to scored memories: filter, rank, fuse, weigh. Nothing flows back."""

from collections.abc import Mapping, Sequence
from time import perf_counter

import msgspec
import numpy as np
from msgspec.structs import replace

from core.blend import Blend, blended
from core.columns import Numbers
from core.decay import (
    ages_in_days,
    decayed,
    feedback_factor,
    importance_factor,
    recency_factor,
    refreshed_in_days,
    trust_factor,
)
from core.evidence import Signals, known_share, strength
from core.filter_mask import mask
from core.filters import fields_of
from core.fuse import ALPHA, fuse
from core.hits import Mode, Recency
from core.index.allowed import Allowed
from core.index.context import with_neighbours
from core.index.dense import Aim, cosines, nearest
from core.index.lexical import Matches, any_with_every, best_matches, containing, mark_same_text, rank_lexical
from core.index.pool import best_places, in_order, one_a_memory
from core.index.population import Population
from core.index.snapshot import RowNumbers, Snapshot
from core.index.space_index import SpaceIndex
from core.kernels import Doubles, Longs
from core.kernels.pool import count_memories
from core.query import Query, Wanted
from core.speakers import NAMED
from core.when.factor import time_factor
from core.when.words import TimeSpan, time_spans

POOL = 50  # memories that each ranking puts forward
BESIDE = 2  # steps in a dialogue from a row with words of the query to a row that may answer it
OLDEST_FIRST = Recency(weight=1.0)  # the decay that `recent` shows as score


class Candidates(msgspec.Struct, frozen=True, kw_only=True):
    """Rows put forward, with what is known of each before age and importance; arrays have one value a row.

    `lexical` and `cosine` are None when that ranking took no part. `ranks` has the best row of each memory by ranking,
    best first. `total` counts the memories that could have been hits.
    """

    rows: RowNumbers
    fused: Doubles
    ranks: Mapping[str, RowNumbers]
    lexical: Doubles | None = None
    cosine: Doubles | None = None
    blend: Blend | None = None
    spans: Sequence[TimeSpan] = ()
    matches: Matches | None = None
    total: int
    strength: float


class Ranked(msgspec.Struct, frozen=True, kw_only=True):
    """The hits, best first: the place of each among the candidates, its score, and the factors in that.

    score = fused * time * recency * importance * trust * feedback, at most 1. Those that do nothing are None;
    `refreshed` are the days that retrievals take off the age. `filtering` is in seconds.
    """

    found: Candidates
    places: RowNumbers
    score: Doubles
    recency: Doubles | None
    refreshed: Doubles | None
    importance: Doubles
    trust: Doubles | None
    feedback: Doubles | None
    filtering: float

    @property
    def rows(self) -> RowNumbers:
        """The best row of each hit."""
        return self.found.rows[self.places]


def rank(
    index: SpaceIndex, snapshot: Snapshot, query: Query, wanted: Wanted, mode: Mode, aim: Aim | None, now: int
) -> Ranked:
    """The best memories of a snapshot. `aim` is the query's vector, None in modes without; `now` in microseconds."""
    began = perf_counter()
    population = snapshot.population(now)
    allowed = _allowed(index, snapshot, population, query, wanted, now)
    filtering = perf_counter() - began
    if mode in ("metadata", "recent"):
        found = _listed(snapshot, population, wanted, allowed)
    elif mode == "hybrid" and query.fusion == "absolute" and aim is not None:
        found = _blended(snapshot, population, query, wanted, aim, allowed)
    else:
        found = _searched(snapshot, population, query, wanted, mode, aim, allowed)
    trust = None
    if query.trust_weight and mode != "recent":
        trust = trust_factor(query.trust_weight, _trust(index, snapshot)[found.rows])
    return _weighed(index, snapshot, query, wanted, mode, found, trust, now, filtering)


def has_every_word(snapshot: Snapshot, wanted: Wanted, found: Candidates) -> bool:
    """Whether one memory put forward has every word of the query, in its text or in another field that is indexed."""
    if found.matches is None or found.matches.unknown or not wanted.terms:
        return False
    return any_with_every(snapshot, wanted.terms, found.rows)


def _trust(index: SpaceIndex, snapshot: Snapshot) -> Longs:
    column = index.column(snapshot, "trust")
    assert isinstance(column, Numbers)
    return column.view(snapshot.size)


def _allowed(
    index: SpaceIndex, snapshot: Snapshot, population: Population, query: Query, wanted: Wanted, now: int
) -> Allowed:
    """Rows that the caller may see and asks for."""
    if query.filter is None and not wanted.required and not wanted.phrases:
        return population.allowed
    reads_status = query.filter is not None and "status" in fields_of(query.filter)
    allowed = snapshot.alive(now) if reads_status else population.mask
    if query.filter is not None:
        allowed = allowed & mask(query.filter, lambda field: index.column(snapshot, field), snapshot.size)
    allowed = containing(snapshot, wanted.required, wanted.phrases, allowed)
    return Allowed(allowed, int(np.count_nonzero(allowed)))


def _blended(
    snapshot: Snapshot, population: Population, query: Query, wanted: Wanted, aim: Aim, allowed: Allowed
) -> Candidates:
    """The union of both rankings' best and of what stands around them, by the default score."""
    pool = max(POOL, query.limit)
    matches = rank_lexical(snapshot, population, wanted, allowed.mask)
    mark_same_text(snapshot, wanted, matches, allowed.mask)
    by_words = best_matches(snapshot, matches, allowed.mask, pool)
    by_meaning = nearest(snapshot, aim, allowed, pool).rows
    rows = np.concatenate([by_words, by_meaning])
    rows = with_neighbours(snapshot, population.mask, rows, by_words, allowed.mask, BESIDE)
    alpha = ALPHA["absolute"] if query.alpha is None else query.alpha
    blend = blended(snapshot, population, wanted, matches, aim, alpha, rows)
    found = Signals(
        memories=snapshot.columns.version[rows],
        covered=blend.covered,
        lexical=blend.words,
        pairs=blend.order,
        cosine=blend.cosine,
        persons=blend.speaker / NAMED,
        known=known_share(matches.mass, matches.unknown, population.rows),
        there=matches.there,
    )
    return Candidates(
        rows=rows,
        fused=blend.fused,
        ranks={"lexical": by_words, "dense": by_meaning},
        lexical=blend.lexical,
        cosine=blend.cosine,
        blend=blend,
        matches=matches,
        total=_total(snapshot, population, allowed, None),
        strength=strength(found),
    )


def _searched(
    snapshot: Snapshot,
    population: Population,
    query: Query,
    wanted: Wanted,
    mode: Mode,
    aim: Aim | None,
    allowed: Allowed,
) -> Candidates:
    """The best of one ranking, or of both in another fusion than the default."""
    pool = max(POOL, query.limit)
    ranks: dict[str, RowNumbers] = {}
    matches = None
    if mode != "semantic":
        matches = rank_lexical(snapshot, population, wanted, allowed.mask)
        mark_same_text(snapshot, wanted, matches, allowed.mask)
        ranks["lexical"] = best_matches(snapshot, matches, allowed.mask, pool)
    if aim is not None:
        ranks["dense"] = nearest(snapshot, aim, allowed, pool).rows
    rows = np.unique(np.concatenate(list(ranks.values())))
    lexical = None if matches is None else matches.scores[rows].astype(np.float64)
    cosine = None if aim is None else cosines(snapshot, aim, rows)
    signals = Signals(memories=snapshot.columns.version[rows], covered=lexical, lexical=lexical, cosine=cosine)
    if matches is not None:
        known = known_share(matches.mass, matches.unknown, population.rows)
        signals = replace(signals, known=known, there=matches.there)
    return Candidates(
        rows=rows,
        fused=_fused(snapshot, query, rows, ranks, lexical, cosine),
        ranks=ranks,
        lexical=lexical,
        cosine=cosine,
        matches=matches,
        total=_total(snapshot, population, allowed, matches if aim is None else None),
        strength=strength(signals),
    )


def _fused(
    snapshot: Snapshot,
    query: Query,
    rows: RowNumbers,
    ranks: Mapping[str, RowNumbers],
    lexical: Doubles | None,
    cosine: Doubles | None,
) -> Doubles:
    if lexical is None or cosine is None:
        alone = cosine if lexical is None else lexical
        assert alone is not None
        return np.maximum(alone, 0.0)
    alpha = ALPHA[query.fusion] if query.alpha is None else query.alpha
    places = [_places(snapshot, rows, ranks[name]) for name in ("lexical", "dense")]
    return fuse(query.fusion, alpha, lexical, cosine, *places)


def _places(snapshot: Snapshot, rows: RowNumbers, ranking: RowNumbers) -> RowNumbers:
    """The rank, from 1, that each row's memory has in a ranking; 0 for none."""
    versions = snapshot.columns.version
    place = {version: rank for rank, version in enumerate(versions[ranking].tolist(), start=1)}
    return np.array([place.get(version, 0) for version in versions[rows].tolist()], np.int64)


def _listed(snapshot: Snapshot, population: Population, wanted: Wanted, allowed: Allowed) -> Candidates:
    """Every allowed memory that has a word of the query, if there is one, by its first fitting row."""
    chosen = allowed.mask
    if wanted.terms:
        chosen = chosen & (rank_lexical(snapshot, population, wanted, chosen).scores > 0)
    rows = np.flatnonzero(chosen)
    rows = rows[one_a_memory(snapshot, rows)]
    return Candidates(rows=rows, fused=np.ones(len(rows)), ranks={}, total=len(rows), strength=float(len(rows) > 0))


def _weighed(
    index: SpaceIndex,
    snapshot: Snapshot,
    query: Query,
    wanted: Wanted,
    mode: Mode,
    found: Candidates,
    trust: Doubles | None,
    now: int,
    filtering: float,
) -> Ranked:
    """Apply age, importance, trust and feedback, keep the best row of each memory, cut to the limit."""
    refreshed = None
    at, levels = snapshot.columns.at[found.rows], snapshot.columns.importance[found.rows]
    if mode == "recent":
        recency = decayed(query.recency or OLDEST_FIRST, ages_in_days(at, now), np.ones_like(levels))
        importance = np.ones_like(recency)
    else:
        refreshed = _refreshed(index, snapshot, query, found.rows, at, now)
        recency = None
        if query.recency is not None and refreshed is not None:
            recency = recency_factor(query.recency, ages_in_days(at, now) - refreshed, levels)
        importance = importance_factor(levels)
    feedback = _feedback(index, snapshot, query, mode, found.rows)
    score = found.fused * importance
    if recency is not None:
        score *= recency
    if trust is not None:
        score *= trust
    if feedback is not None:
        score *= feedback
    if mode in ("metadata", "recent"):
        places = in_order(snapshot, found.rows, score)
        newest = np.zeros_like(score) if mode == "recent" else -score
        places = places[np.lexsort((-at[places], newest[places]))][: query.limit]
    else:
        if spans := time_spans(wanted.text, now):
            found, score = replace(found, spans=spans), score * time_factor(spans, at)
        places = best_places(snapshot, found.rows, score, query.limit)
    return Ranked(
        found=found,
        places=places,
        score=np.minimum(score[places], 1.0),
        recency=recency,
        refreshed=refreshed,
        importance=importance,
        trust=trust,
        feedback=feedback,
        filtering=filtering,
    )


def _refreshed(
    index: SpaceIndex, snapshot: Snapshot, query: Query, rows: RowNumbers, at: Longs, now: int
) -> Doubles | None:
    """The days that retrievals take off the age of each row; None where age costs nothing."""
    if query.recency is None:
        return None
    if query.as_of is not None:  # who asked later is no matter of that day
        return np.zeros(len(rows))
    return refreshed_in_days(at, index.refreshes.last(snapshot, rows), now)


def _feedback(index: SpaceIndex, snapshot: Snapshot, query: Query, mode: Mode, rows: RowNumbers) -> Doubles | None:
    """The factor of what callers said of each row's memory; None when it is 1 everywhere."""
    if mode == "recent" or query.as_of is not None:  # who said so later is no matter of that day
        return None
    told = index.opinions.of(snapshot, rows)
    return None if told is None else feedback_factor(*told)


def _total(snapshot: Snapshot, population: Population, allowed: Allowed, matches: Matches | None) -> int:
    """How many memories could have been hits: those allowed, or among them those that match."""
    if matches is None and allowed is population.allowed:
        return population.memories
    chosen = allowed.mask if matches is None else allowed.mask & (matches.scores > 0)
    return count_memories(snapshot.columns.version, chosen)
