"""Ranking of a query on a snapshot: filter, rank, fuse, weigh by age and other factors. Data flows one way."""

from collections.abc import Sequence

import msgspec
import numpy as np
from msgspec.structs import replace

from muisti.core.index.collection_statistics import Allowed, CollectionStatistics
from muisti.core.index.columns import Numbers
from muisti.core.index.lexical import Around, containing
from muisti.core.index.snapshot import RowNumbers, Snapshot, best_places, in_order
from muisti.core.index.space_index import SpaceIndex
from muisti.core.kernels import Doubles, Longs, Mask
from muisti.core.model.hits import Mode, Recency
from muisti.core.query.applies import FIRST
from muisti.core.query.query import Query, Wanted, parse
from muisti.core.search.answering import gains
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
from muisti.core.search.rankers import BY_MODE, Asked, Extra, Graph, Ranking
from muisti.core.search.refined import GROUP_POOL, POOL, Refined, neighbours, pool_of, refined
from muisti.core.text.when.time_spans import of_events, time_factor, time_spans
from muisti.core.text.when.zones import zone_named

OLDEST_FIRST = Recency(weight=1.0)  # the decay that `recent` shows as score


class Ranked(msgspec.Struct, frozen=True, kw_only=True):
    """The hits, best first: the place of each among the candidates, its score, and the factors of the score.

        score = fused * time * recency * importance * trust * feedback * answer, at most 1

    A factor that is not used is None. `refreshed` has the days that retrievals take off the age. `graph` and `signals`
    are further factors, or `signals` are a composite in place of `fused`. `refined` and `around` are None or empty
    unless options ask for them. `symbol` is None unless the query names one, and `quoted` unless it quotes something
    that some hits have and others lack. `facts` are the candidates that state a fact which answers.

    `every` has the score of each candidate, and `ordered` the places of the best row of each memory, best first. Unless
    options are given, these are at most `limit` places, or `FIRST` if that is more.
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
    signals: Signalled | None = None
    refined: Refined | None = None
    around: Sequence[Around] = ()
    symbol: Lifted | None = None
    quoted: Lifted | None = None
    answer: Doubles | None = None
    facts: Lifted | None = None

    @property
    def rows(self) -> RowNumbers:
        """The best row of each hit."""
        return self.found.rows[self.places]


def seen(index: SpaceIndex, snapshot: Snapshot, query: Query, now: int) -> CollectionStatistics:
    """Return the statistics of the rows that the caller sees."""
    return index.selections(snapshot).population(query.own, snapshot, snapshot.population(now))


def filtered(
    index: SpaceIndex,
    snapshot: Snapshot,
    query: Query,
    wanted: Wanted,
    mode: Mode,
    now: int,
    vectors: QueryVectors | None,
    extra: Extra | None,
) -> Asked:
    """Return the query with the rows that it may rank: visible ones that its filter, words and phrases select."""
    population = seen(index, snapshot, query, now)
    if not BY_MODE[mode]:
        wanted = wanted.demanding()
    allowed = _allowed(index, snapshot, population, query, wanted, now)
    if extra is not None and extra.like is not None:
        allowed = without(snapshot, allowed, extra.like)
    quoted = quoting(snapshot, wanted, allowed)
    grouped = query.options is not None and query.options.group_by is not None
    room = GROUP_POOL if grouped else max(query.limit, POOL)
    if quoted is not None and quoted.memories(snapshot.columns.version) >= room:  # nothing to fill up
        allowed, quoted = quoted, None
    having = None if quoted is None else np.flatnonzero(quoted.mask)
    return Asked(index, snapshot, query, wanted, mode, now, vectors, extra, population, allowed, having)


def rank(asked: Asked, beside: RowNumbers | None = None) -> Ranked:
    """Return the best memories; the rows `beside` are candidates too, whether a ranking proposes them or not."""
    pool = pool_of(None if asked.extra is None else asked.extra.options, asked.query.limit)
    ranked = _once(asked, pool, beside)
    while _too_few(ranked, pool):
        pool *= 4
        ranked = _once(asked, pool, beside)
    return ranked


def _stating(asked: Asked) -> RowNumbers | None:
    """Return the allowed rows of memories that state a fact which answers; None where no fact is asked for."""
    if asked.extra is None or not asked.extra.facts.lines or not BY_MODE[asked.mode]:
        return None
    return np.flatnonzero(np.isin(asked.snapshot.columns.version, [*asked.extra.facts.lines]) & asked.allowed.mask)


def _too_few(ranked: Ranked, pool: int) -> bool:
    """Return whether there may be more groups than were found, beyond the memories that the rankings proposed."""
    groups = None if ranked.refined is None else ranked.refined.groups
    if groups is None or not BY_MODE[ranked.asked.mode] or len(groups.values) == len(groups.every):
        return False
    return len(ranked.places) < ranked.asked.query.limit and pool < min(GROUP_POOL, ranked.found.total)


def _once(asked: Asked, pool: int, beside: RowNumbers | None) -> Ranked:
    """Rank with `pool` memories of each ranking."""
    if not BY_MODE[asked.mode]:
        return _weighed(asked, listed(asked), None)
    symbol = defined(asked.index, asked.snapshot, asked.wanted.text, asked.allowed.mask)
    tags = None if asked.extra is None else tagged(asked, asked.extra.options)
    graph = None if asked.walked is None else Graph(asked)
    best = None if graph is None else graph.best(pool)
    proposed = (tags, best, _stating(asked), None if symbol is None else symbol.first, beside, asked.quoted)
    also = [rows for rows in proposed if rows is not None]
    more = np.unique(np.concatenate(also)) if also else None
    if asked.mode == "hybrid" and asked.query.fusion == "absolute":
        found = by_blend(asked, pool, more)
    else:
        found = by_rankings(asked, BY_MODE[asked.mode], pool, more)
    if graph is not None and best is not None:
        found = replace(found, rankings={**found.rankings, "graph": Ranking(best, graph.scores(found.rows))})
    return _weighed(asked, found, symbol)


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


def visible(asked: Asked) -> Mask:
    """Return a flag for each row: whether it is visible and the query's filter selects it, whatever the words."""
    population = asked.snapshot.population(asked.now)
    return _allowed(asked.index, asked.snapshot, population, asked.query, parse("", "any"), asked.now).mask


def _weighed(asked: Asked, found: Candidates, symbol: Defined | None) -> Ranked:
    """Apply age, importance, trust, feedback and definitions, keep the best row of each memory, cut to the limit."""
    snapshot, query, extra, rows = asked.snapshot, asked.query, asked.extra, found.rows
    at, levels = snapshot.columns.at[rows], snapshot.columns.importance[rows]
    refreshed = recency = trust = None
    if asked.mode == "recent":
        recency = decayed(query.recency or OLDEST_FIRST, ages_in_days(at, asked.now), np.ones_like(levels))
        importance = np.ones_like(recency)
    else:
        if query.recency is not None:
            refreshed = _refreshed(asked, rows, at)
            recency = recency_factor(query.recency, ages_in_days(at, asked.now) - refreshed, levels)
        if query.trust_weight:
            trust = trust_factor(query.trust_weight, _trust(asked)[rows])
        importance = importance_factor(levels)
    feedback = _feedback(asked, rows)
    signals = None if extra is None or not extra.options.weighs else signalled(asked, extra, rows, found.fused)
    graph = found.rankings.get("graph")
    beside = None if graph is None or extra is None else 1.0 + extra.options.rankings["graph"] * graph.scores
    score = (found.fused if signals is None or signals.composite is None else signals.composite) * importance
    text = asked.wanted.text if BY_MODE[asked.mode] else ""
    answer = gains(snapshot, asked.population, text, rows)
    for part in (recency, trust, feedback, beside, answer):
        if part is not None:
            score *= part
    if signals is not None:
        score = signals.weigh(score)
    defining = None if symbol is None else lifted(asked.index, snapshot, symbol, rows, score)
    score = lift(defining, score)
    if spans := of_events(text, time_spans(text, asked.now, zone_named(query.time_zone))):
        found, score = replace(found, spans=spans), score * time_factor(spans, at)
    quoted = None if asked.quoted is None else preferred(rows, asked.quoted, score)
    score = lift(quoted, score)
    facts = None if (stating := _stating(asked)) is None else preferred(rows, stating, score)
    score = lift(facts, score)
    ordered = _ordered(asked, found, score)
    places = ordered if extra is not None else ordered[: query.limit]
    chosen = None
    if extra is not None:
        eligible = _eligible(asked, found) if extra.options.group_by else places
        chosen = refined(asked, extra, rows, score, places, eligible)
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
        signals=signals,
        refined=chosen,
        around=() if extra is None else neighbours(asked, extra, rows[places]),
        symbol=defining,
        quoted=quoted,
        answer=answer,
        facts=facts,
    )


def _ordered(asked: Asked, found: Candidates, score: Doubles) -> RowNumbers:
    """Return the places of the best row of each memory in order: all with options, else the first ones."""
    snapshot, rows = asked.snapshot, found.rows
    most = max(asked.query.limit, FIRST) if asked.extra is None else len(rows)
    if BY_MODE[asked.mode]:
        return best_places(snapshot, rows, score, most)
    places, at = in_order(snapshot, rows, score), snapshot.columns.at[rows]
    newest = np.zeros_like(score) if asked.mode == "recent" else -score
    return places[np.lexsort((-at[places], newest[places]))][:most]


def _refreshed(asked: Asked, rows: RowNumbers, at: Longs) -> Doubles:
    """Return the days that retrievals take off the age of each row."""
    if asked.query.as_of is not None:  # retrievals may be later than that point
        return np.zeros(len(rows))
    return refreshed_in_days(at, asked.index.refreshes.last(asked.snapshot, rows), asked.now)


def _feedback(asked: Asked, rows: RowNumbers) -> Doubles | None:
    """Return the factor of feedback on each row's memory; None when it is 1 everywhere."""
    if asked.mode == "recent" or asked.query.as_of is not None:  # feedback may be later than that point
        return None
    told = asked.index.feedback_counts.of(asked.snapshot, rows)
    return None if told is None else feedback_factor(*told)


def _trust(asked: Asked) -> Longs:
    column = asked.index.column(asked.snapshot, "trust")
    assert isinstance(column, Numbers)
    return column.view(asked.snapshot.size)


def _eligible(asked: Asked, found: Candidates) -> RowNumbers:
    """Return the rows of the memories that `total` counts."""
    if not found.rankings:
        return found.rows
    mask = asked.allowed.mask
    return np.flatnonzero(mask if found.needed is None else mask & (found.needed.scores > 0))
