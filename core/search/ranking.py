"""Ranking of a query on a snapshot: filter, rank, fuse, weigh by age and other factors. Data flows one way."""

from collections.abc import Sequence
from time import perf_counter

import msgspec
import numpy as np
from msgspec.structs import replace

from muisti.core.index.allowed import Allowed
from muisti.core.index.collection import CollectionStatistics
from muisti.core.index.columns import Numbers
from muisti.core.index.context import Around
from muisti.core.index.lexical import any_with_every, containing
from muisti.core.index.snapshot import RowNumbers, Snapshot, best_places, in_order
from muisti.core.index.space_index import SpaceIndex
from muisti.core.kernels import Doubles, Longs, Mask
from muisti.core.model.hits import Mode, Recency
from muisti.core.query.query import Query, Wanted, parse
from muisti.core.search.candidates import Candidates, by_blend, by_rankings, listed
from muisti.core.search.factors import (
    Signalled,
    ages_in_days,
    decayed,
    feedback_factor,
    importance_factor,
    recency_factor,
    refreshed_in_days,
    signalled,
    tagged,
    trust_factor,
)
from muisti.core.search.lifted import Defined, Lifted, defined, lift, lifted, preferred, quoting
from muisti.core.search.query_vectors import QueryVectors, without
from muisti.core.search.rankings import BY_MODE, Asked, Graph, Ranking
from muisti.core.search.refined import GROUP_POOL, Extra, Refined, neighbours, pool_of, refined
from muisti.core.text.when.factor import time_factor
from muisti.core.text.when.words import time_spans

# Rankings beside those of the mode: what they propose, and the factor that they are in a score


def proposed(index: SpaceIndex, asked: Asked, extra: Extra | None, most: int) -> RowNumbers | None:
    """Return rows that only options propose: by their tags or by the graph. None for none."""
    if extra is None:
        return None
    rows = tagged(index, asked.snapshot, asked.allowed.mask, extra.options, asked.wanted)
    if asked.walked is None:
        return rows
    best = Graph(asked).best(most)
    return best if rows is None else np.union1d(rows, best)


def by_graph(asked: Asked, rows: RowNumbers, most: int) -> Ranking | None:
    """Return the ranking by the graph, for candidate rows; None where it takes no part."""
    if asked.walked is None:
        return None
    ranker = Graph(asked)
    return Ranking(ranker.best(most), ranker.scores(rows))


def factor(weight: float, scores: Doubles) -> Doubles:
    """Return the factor of a ranking in the score of each row."""
    return 1.0 + weight * scores


POOL = 50  # memories that each ranking proposes, or as many as the limit if that is more
OLDEST_FIRST = Recency(weight=1.0)  # the decay that `recent` shows as score


class Ranked(msgspec.Struct, frozen=True, kw_only=True):
    """The hits, best first: the place of each among the candidates, its score, and the factors of the score.

        score = fused * time * recency * importance * trust * feedback, at most 1

    A factor that is not used is None. `refreshed` has the days that retrievals take off the age. `filtering` is the
    time of filtering in seconds. `graph` and `signals` are further factors, or `signals` are a composite in place of
    `fused`. `refined` and `around` are None or empty unless options ask for them. `symbol` is None unless the query
    names one, and `quoted` unless it quotes something that some hits have and others lack.

    `every` has the score of each candidate, and `ordered` the places of the best row of each memory, best first. These
    are at most `limit` places unless options are given.
    """

    asked: Asked
    found: Candidates
    every: Doubles
    ordered: RowNumbers
    places: RowNumbers
    score: Doubles
    recency: Doubles | None
    refreshed: Doubles | None
    importance: Doubles
    trust: Doubles | None
    feedback: Doubles | None
    graph: Doubles | None = None
    filtering: float
    signals: Signalled | None = None
    refined: Refined | None = None
    around: Sequence[Around] = ()
    symbol: Lifted | None = None
    quoted: Lifted | None = None

    @property
    def rows(self) -> RowNumbers:
        """The best row of each hit."""
        return self.found.rows[self.places]


def rank(
    index: SpaceIndex,
    snapshot: Snapshot,
    query: Query,
    wanted: Wanted,
    mode: Mode,
    vectors: QueryVectors | None,
    now: int,
    extra: Extra | None = None,
    beside: RowNumbers | None = None,
) -> Ranked:
    """Return the best memories of a snapshot; `vectors` are the query's, None in modes without; `now` in µs.

    The rows `beside` are candidates too, whether a ranking proposes them or not.
    """
    began = perf_counter()
    population = index.selections(snapshot).population(query.own, snapshot, snapshot.population(now))
    if not BY_MODE[mode]:
        wanted = wanted.demanding()
    allowed = _allowed(index, snapshot, population, query, wanted, now)
    if extra is not None and extra.like is not None:
        allowed = without(snapshot, allowed, extra.like)
    quoted = quoting(snapshot, wanted, allowed)
    if quoted is not None and quoted.memories(snapshot.columns.version) >= _room(query):  # nothing to fill up
        allowed, quoted = quoted, None
    filtering = perf_counter() - began
    asked = Asked(snapshot, population, wanted, vectors, allowed, None if extra is None else extra.walked)
    pool = pool_of(None if extra is None else extra.options, query.limit, POOL)
    having = None if quoted is None else np.flatnonzero(quoted.mask)
    ranked = _once(index, asked, query, mode, pool, now, filtering, extra, beside, having)
    while _too_few(ranked, query, mode, pool):
        pool *= 4
        ranked = _once(index, asked, query, mode, pool, now, filtering, extra, beside, having)
    return ranked


def _room(query: Query) -> int:
    """Return how many memories with the quoted parts leave no room for others."""
    grouped = query.options is not None and query.options.group_by is not None
    return GROUP_POOL if grouped else max(query.limit, POOL)


def _too_few(ranked: Ranked, query: Query, mode: Mode, pool: int) -> bool:
    """Return whether there may be more groups than were found, beyond the memories that the rankings proposed."""
    groups = None if ranked.refined is None else ranked.refined.groups
    if groups is None or not BY_MODE[mode] or len(groups.values) == len(groups.every):
        return False
    return len(ranked.places) < query.limit and pool < min(GROUP_POOL, ranked.found.total)


def _once(
    index: SpaceIndex,
    asked: Asked,
    query: Query,
    mode: Mode,
    pool: int,
    now: int,
    filtering: float,
    extra: Extra | None,
    beside: RowNumbers | None,
    quoted: RowNumbers | None,
) -> Ranked:
    """Rank with `pool` memories of each ranking, and the rows `beside` and `quoted`."""
    symbol = None
    if not BY_MODE[mode]:
        found = listed(asked)
    else:
        symbol = defined(index, asked.snapshot, asked.wanted.text, asked.allowed.mask)
        more = proposed(index, asked, extra, pool)
        for rows in (None if symbol is None else symbol.first, beside, quoted):
            if rows is not None:
                more = rows if more is None else np.union1d(more, rows)
        if mode == "hybrid" and query.fusion == "absolute":
            found = by_blend(index, asked, query, pool, more)
        else:
            found = by_rankings(asked, query, BY_MODE[mode], pool, more)
        if graph := by_graph(asked, found.rows, pool):
            found = replace(found, rankings={**found.rankings, "graph": graph})
    trust = None
    if query.trust_weight and mode != "recent":
        trust = trust_factor(query.trust_weight, _trust(index, asked.snapshot)[found.rows])
    return _weighed(index, asked, query, mode, found, trust, symbol, now, filtering, extra, quoted)


def has_every_word(snapshot: Snapshot, wanted: Wanted, found: Candidates) -> bool:
    """Return whether one proposed memory has every word of the query, in any indexed field."""
    matches = found.matches
    if matches is None or matches.unknown or not wanted.terms:
        return False
    by_idf = sorted(zip(matches.idf.tolist(), wanted.terms, strict=True), reverse=True)
    return any_with_every(snapshot, [term for _, term in by_idf], found.rows)  # few rows have the first, the rarest


def _trust(index: SpaceIndex, snapshot: Snapshot) -> Longs:
    column = index.column(snapshot, "trust")
    assert isinstance(column, Numbers)
    return column.view(snapshot.size)


def _allowed(
    index: SpaceIndex, snapshot: Snapshot, population: CollectionStatistics, query: Query, wanted: Wanted, now: int
) -> Allowed:
    """Return the rows that are visible and that the query's filter, required words and phrases select."""
    allowed = population.allowed
    if query.filter is not None:
        allowed = index.selections(snapshot).allowed(query.filter, snapshot, population, now)
    if not wanted.required and not wanted.phrases:
        return allowed
    mask = containing(snapshot, wanted.required, wanted.phrases, allowed.mask)
    return Allowed(mask, int(np.count_nonzero(mask)))


def visible(index: SpaceIndex, snapshot: Snapshot, query: Query, now: int) -> Mask:
    """Return a flag for each row: whether it is visible and the query's filter selects it, whatever the words."""
    return _allowed(index, snapshot, snapshot.population(now), query, parse("", "any"), now).mask


def _weighed(
    index: SpaceIndex,
    asked: Asked,
    query: Query,
    mode: Mode,
    found: Candidates,
    trust: Doubles | None,
    symbol: Defined | None,
    now: int,
    filtering: float,
    extra: Extra | None,
    quoted: RowNumbers | None,
) -> Ranked:
    """Apply age, importance, trust, feedback and definitions, keep the best row of each memory, cut to the limit."""
    refreshed = None
    snapshot = asked.snapshot
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
    signals = None if extra is None or not extra.options.weighs else _signalled(index, asked, extra, found, now)
    graph = found.rankings.get("graph")
    beside = None if graph is None or extra is None else factor(extra.options.rankings["graph"], graph.scores)
    score = (found.fused if signals is None or signals.composite is None else signals.composite) * importance
    for part in (recency, trust, feedback, beside):
        if part is not None:
            score *= part
    if signals is not None:
        score = signals.weigh(score)
    defining = None if symbol is None else lifted(index, snapshot, symbol, found.rows, score)
    score = lift(defining, score)
    if spans := time_spans(asked.wanted.text, now) if BY_MODE[mode] else ():
        found, score = replace(found, spans=spans), score * time_factor(spans, at)
    preferring = None if quoted is None else preferred(found.rows, quoted, score)
    score = lift(preferring, score)
    ordered = _ordered(asked, query, mode, found, score, whole=extra is not None)
    places = ordered
    chosen = None
    if extra is not None:
        eligible = _eligible(asked, found) if extra.options.group_by else places
        chosen = refined(index, snapshot, extra.options, found.rows, score, places, eligible, query.limit, POOL)
        places = chosen.places
    return Ranked(
        asked=asked,
        found=found,
        every=score,
        ordered=ordered,
        places=places,
        score=np.minimum(score[places], 1.0),
        recency=recency,
        refreshed=refreshed,
        importance=importance,
        trust=trust,
        feedback=feedback,
        graph=beside,
        filtering=filtering,
        signals=signals,
        refined=chosen,
        around=() if extra is None else neighbours(index, snapshot, asked.population.mask, extra, found.rows[places]),
        symbol=defining,
        quoted=preferring,
    )


def _ordered(asked: Asked, query: Query, mode: Mode, found: Candidates, score: Doubles, *, whole: bool) -> RowNumbers:
    """Return the places of the best row of each memory in order.

    There are at most `limit` places, unless the `whole` order is asked for.
    """
    snapshot, at = asked.snapshot, asked.snapshot.columns.at[found.rows]
    most = len(found.rows) if whole else query.limit
    if mode in ("metadata", "recent"):
        places = in_order(snapshot, found.rows, score)
        newest = np.zeros_like(score) if mode == "recent" else -score
        return places[np.lexsort((-at[places], newest[places]))][:most]
    return best_places(snapshot, found.rows, score, most)


def _signalled(index: SpaceIndex, asked: Asked, extra: Extra, found: Candidates, now: int) -> Signalled:
    """Return the signals of the candidates, with the decay by age of a composite."""
    ages = ages_in_days(asked.snapshot.columns.at[found.rows], now)
    decay = decayed(extra.recency, ages, np.ones(len(ages), np.int8))
    return signalled(index, asked.snapshot, extra.options, asked.wanted, found.rows, found.fused, decay)


def _refreshed(
    index: SpaceIndex, snapshot: Snapshot, query: Query, rows: RowNumbers, at: Longs, now: int
) -> Doubles | None:
    """Return the days that retrievals take off the age of each row; None where age costs nothing."""
    if query.recency is None:
        return None
    if query.as_of is not None:  # retrievals may be later than that point
        return np.zeros(len(rows))
    return refreshed_in_days(at, index.refreshes.last(snapshot, rows), now)


def _feedback(index: SpaceIndex, snapshot: Snapshot, query: Query, mode: Mode, rows: RowNumbers) -> Doubles | None:
    """Return the factor of feedback on each row's memory; None when it is 1 everywhere."""
    if mode == "recent" or query.as_of is not None:  # feedback may be later than that point
        return None
    told = index.feedback_counts.of(snapshot, rows)
    return None if told is None else feedback_factor(*told)


def _eligible(asked: Asked, found: Candidates) -> RowNumbers:
    """Return the rows of the memories that `total` counts."""
    if not found.rankings:
        return found.rows
    mask = asked.allowed.mask
    return np.flatnonzero(mask if found.needed is None else mask & (found.needed.scores > 0))
