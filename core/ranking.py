"""From a query and a snapshot to scored memories: filter, rank, fuse, weigh. Nothing flows back."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from time import perf_counter

import numpy as np
import numpy.typing as npt

from core.blend import Blend, blended_scores, with_neighbours
from core.decay import ages_in_days, bounded, decayed, importance_factor
from core.evidence import Signals, known_share, strength
from core.filter_mask import mask
from core.filters import fields_of
from core.fuse import ALPHA, fuse
from core.index.dense import cosines, nearest, rotated
from core.index.lexical import Matches, best_matches, containing, rank_lexical, saying_the_same
from core.index.pool import in_order, one_a_memory
from core.index.snapshot import Allowed, RowNumbers, Snapshot
from core.index.space_index import SpaceIndex
from core.kernels import Floats
from core.kernels.pool import count_memories
from core.query import Query, Wanted
from core.speakers import NAMED
from core.values import Mode, Recency
from core.when.factor import time_factor
from core.when.words import TimeSpan, time_spans

POOL = 50  # memories that each ranking puts forward
OLDEST_FIRST = Recency(weight=1.0)  # the decay that `recent` shows as score

Scores = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True, kw_only=True)
class Ranked:
    """The best row of each hit, best first, with every factor of its score. Arrays have one value a hit.

    `lexical` and `cosine` are None when that ranking took no part. `total` counts the memories that could have been
    hits, `filtering` is in seconds.
    """

    rows: RowNumbers
    score: Scores
    fused: Scores
    recency: Scores
    importance: Scores
    ages: Scores
    ranks: Mapping[str, Mapping[int, int]]
    lexical: Scores | None
    cosine: Scores | None
    blend: Blend | None
    time: Scores
    spans: Sequence[TimeSpan]
    matches: Matches | None
    total: int
    strength: float
    filtering: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Candidates:
    """Rows put forward, with what is known of each before age and importance."""

    rows: RowNumbers
    fused: Scores
    ranks: Mapping[str, RowNumbers]
    lexical: Scores | None = None
    cosine: Scores | None = None
    blend: Blend | None = None
    spans: Sequence[TimeSpan] = ()
    matches: Matches | None = None
    total: int
    strength: float


def rank(
    index: SpaceIndex, snapshot: Snapshot, query: Query, wanted: Wanted, mode: Mode, vector: Floats | None, now: int
) -> Ranked:
    """The best memories of a snapshot. `vector` is the query's, None in modes without; `now` in microseconds."""
    began = perf_counter()
    allowed = _allowed(index, snapshot, query, wanted, now)
    filtering = perf_counter() - began
    if mode in ("metadata", "recent"):
        found = _listed(snapshot, wanted, allowed, now)
    else:
        found = _searched(snapshot, query, wanted, mode, vector, allowed, now)
    return _weighed(snapshot, query, mode, found, now, filtering)


def _allowed(index: SpaceIndex, snapshot: Snapshot, query: Query, wanted: Wanted, now: int) -> Allowed:
    """Rows that the caller may see and asks for."""
    reads_status = query.filter is not None and "status" in fields_of(query.filter)
    population = snapshot.population(now)
    if query.filter is None and not wanted.required and not wanted.phrases:
        return Allowed(population.mask, population.rows)
    allowed = snapshot.alive(now) if reads_status else population.mask
    if query.filter is not None:
        allowed = allowed & mask(query.filter, lambda field: index.column(snapshot, field), snapshot.size)
    allowed = containing(snapshot, wanted.required, wanted.phrases, allowed)
    return Allowed(allowed, int(np.count_nonzero(allowed)))


def _searched(
    snapshot: Snapshot, query: Query, wanted: Wanted, mode: Mode, vector: Floats | None, allowed: Allowed, now: int
) -> Candidates:
    """The union of both rankings' best, each row with both scores."""
    pool = max(POOL, query.limit)
    visible = snapshot.population(now).mask
    ranks: dict[str, RowNumbers] = {}
    matches = None
    if mode != "semantic":
        matches = rank_lexical(snapshot, snapshot.population(now), wanted.terms, allowed.mask)
        matches.certain(saying_the_same(snapshot, wanted.text, matches, allowed.mask))
        ranks["lexical"] = best_matches(snapshot, matches, allowed.mask, pool)
    direction = None if vector is None else rotated(vector)
    if direction is not None:
        ranks["dense"] = nearest(snapshot, direction, allowed, pool).rows
    rows = np.unique(np.concatenate(list(ranks.values())))
    blended = matches is not None and direction is not None and query.fusion == "absolute"
    if blended:
        rows = with_neighbours(snapshot, visible, rows, ranks["lexical"], allowed.mask)
    lexical = None if matches is None else matches.scores[rows].astype(np.float64)
    cosine = None if direction is None else cosines(snapshot, direction, rows)
    blend = None
    if blended and matches is not None and lexical is not None and cosine is not None:
        alpha = ALPHA["absolute"] if query.alpha is None else query.alpha
        blend = blended_scores(snapshot, visible, wanted, matches, alpha, rows, lexical, cosine)
    total = _total(snapshot, allowed, now, matches if direction is None else None)
    fused = blend.fused if blend is not None else _fused(snapshot, query, rows, ranks, lexical, cosine)
    found = strength(
        Signals(
            memories=snapshot.rows.version.view()[rows],
            lexical=lexical if blend is None else blend.words,
            pairs=None if blend is None else blend.order,
            cosine=cosine,
            persons=None if blend is None else blend.speaker / NAMED,
            known=1.0 if matches is None else known_share(matches.mass, matches.unknown, snapshot.population(now).rows),
        )
    )
    return Candidates(
        rows=rows,
        fused=fused,
        ranks=ranks,
        lexical=lexical,
        cosine=cosine,
        blend=blend,
        spans=time_spans(wanted.text, now),
        matches=matches,
        total=total,
        strength=found,
    )


def _fused(
    snapshot: Snapshot,
    query: Query,
    rows: RowNumbers,
    ranks: Mapping[str, RowNumbers],
    lexical: Scores | None,
    cosine: Scores | None,
) -> Scores:
    if lexical is None or cosine is None:
        alone = cosine if lexical is None else lexical
        assert alone is not None
        return np.maximum(alone, 0.0)
    alpha = ALPHA[query.fusion] if query.alpha is None else query.alpha
    places = [_places(snapshot, rows, ranks[name]) for name in ("lexical", "dense")]
    return fuse(query.fusion, alpha, lexical, cosine, *places)


def _places(snapshot: Snapshot, rows: RowNumbers, ranking: RowNumbers) -> RowNumbers:
    """The rank, from 1, that each row's memory has in a ranking; 0 for none."""
    versions = snapshot.rows.version.view()
    place = {version: rank for rank, version in enumerate(versions[ranking].tolist(), start=1)}
    return np.array([place.get(version, 0) for version in versions[rows].tolist()], np.int64)


def _listed(snapshot: Snapshot, wanted: Wanted, allowed: Allowed, now: int) -> Candidates:
    """Every allowed memory that has a word of the query, if there is one, by its first fitting row."""
    chosen = allowed.mask
    if wanted.terms:
        chosen = chosen & (rank_lexical(snapshot, snapshot.population(now), wanted.terms, chosen).scores > 0)
    rows = np.flatnonzero(chosen)
    rows = rows[one_a_memory(snapshot, rows)]
    return Candidates(rows=rows, fused=np.ones(len(rows)), ranks={}, total=len(rows), strength=float(len(rows) > 0))


def _weighed(snapshot: Snapshot, query: Query, mode: Mode, found: Candidates, now: int, filtering: float) -> Ranked:
    """Apply age and importance, keep the best row of each memory, cut to the limit."""
    columns = snapshot.rows
    at, importance = columns.at.view()[found.rows], columns.importance.view()[found.rows]
    ages = ages_in_days(at, now)
    if mode == "recent":
        recency = decayed(query.recency or OLDEST_FIRST, ages, np.ones_like(importance))
        weight = np.ones_like(recency)
    else:
        recency = _recency(query.recency, ages, importance)
        weight = importance_factor(importance)
    time = time_factor(found.spans, at)
    score = found.fused * time * recency * weight
    order = in_order(snapshot, found.rows, score)
    if mode in ("metadata", "recent"):
        newest = np.zeros_like(score) if mode == "recent" else -score
        order = order[np.lexsort((-at[order], newest[order]))]
    order = order[one_a_memory(snapshot, found.rows[order])][: query.limit]
    return Ranked(
        rows=found.rows[order],
        score=score[order],
        fused=found.fused[order],
        recency=recency[order],
        importance=weight[order],
        ages=ages[order],
        ranks={name: _rank_by_version(snapshot, ranking) for name, ranking in found.ranks.items()},
        lexical=None if found.lexical is None else found.lexical[order],
        cosine=None if found.cosine is None else found.cosine[order],
        blend=None if found.blend is None else found.blend.of(order),
        time=time[order],
        spans=found.spans,
        matches=found.matches,
        total=found.total,
        strength=found.strength,
        filtering=filtering,
    )


def _recency(recency: Recency | None, ages: Scores, importance: npt.NDArray[np.int8]) -> Scores:
    if recency is None:
        return np.ones_like(ages)
    return bounded(recency.weight, decayed(recency, ages, importance))


def _rank_by_version(snapshot: Snapshot, ranking: RowNumbers) -> dict[int, int]:
    versions = snapshot.rows.version.view()[ranking].tolist()
    return {version: rank for rank, version in enumerate(versions, start=1)}


def _total(snapshot: Snapshot, allowed: Allowed, now: int, matches: Matches | None) -> int:
    """How many memories could have been hits: those allowed, or among them those that match."""
    population = snapshot.population(now)
    if matches is None and allowed.mask is population.mask:
        return population.memories
    chosen = allowed.mask if matches is None else allowed.mask & (matches.scores > 0)
    return count_memories(snapshot.rows.version.view(snapshot.size), chosen)
