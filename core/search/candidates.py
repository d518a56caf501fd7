"""Candidates of a search: the rows that rankings propose, with one score each that fuses those of the rankings."""

from collections.abc import Mapping, Sequence

import msgspec
import numpy as np
from msgspec.structs import replace

from muisti.core.index.context import with_neighbours
from muisti.core.index.lexical import Matches, rank_lexical
from muisti.core.index.pool import one_a_memory
from muisti.core.index.snapshot import RowNumbers, Snapshot
from muisti.core.index.space_index import SpaceIndex
from muisti.core.kernels import Doubles, Mask
from muisti.core.kernels.pool import count_memories
from muisti.core.query.evidence import Signals, known_share, strength
from muisti.core.query.query import Query
from muisti.core.search.blend import Blend, blended
from muisti.core.search.code import alpha_for
from muisti.core.search.fuse import Shares, absolute, alpha_of, reciprocal_rank, scaled, summed, weights_of
from muisti.core.search.rankings import RANKERS, Asked, Dense, Lexical, Name, Ranker, Ranking
from muisti.core.text.speakers import NAMED
from muisti.core.text.when.words import TimeSpan

BESIDE = 2  # steps in a dialogue from a row with words of the query to a row that may answer it


class Candidates(msgspec.Struct, frozen=True, kw_only=True):
    """Proposed rows, with their scores before age and importance; arrays have one value for each row.

    `rankings` has the rankings that took part, by name. `total` counts the memories that could have been hits: those
    allowed that have a word of `needed`, None where words are not needed. `shares` add up to `fused`; they are None for
    a single ranking, and where `blend` has the parts.
    """

    rows: RowNumbers
    fused: Doubles
    rankings: Mapping[Name, Ranking]
    blend: Blend | None = None
    shares: Shares | None = None
    spans: Sequence[TimeSpan] = ()
    matches: Matches | None = None
    needed: Matches | None = None
    total: int
    strength: float

    def score(self, name: Name, place: int) -> float | None:
        """Return the score that a ranking gives the row at a place; None when it took no part."""
        ranking = self.rankings.get(name)
        return None if ranking is None else float(ranking.scores[place])


def listed(asked: Asked) -> Candidates:
    """Return every allowed memory, by its first row; if the query has words, by the first row with one of them."""
    snapshot, chosen = asked.snapshot, asked.allowed.mask
    if asked.wanted.terms:
        chosen = chosen & (rank_lexical(snapshot, asked.population, asked.wanted, chosen).scores > 0)
    rows = np.flatnonzero(chosen)
    rows = rows[one_a_memory(snapshot, rows)]
    return Candidates(rows=rows, fused=np.ones(len(rows)), rankings={}, total=len(rows), strength=float(len(rows) > 0))


def by_blend(index: SpaceIndex, asked: Asked, query: Query, pool: int, more: RowNumbers | None) -> Candidates:
    """Return the best rows of both rankings, and neighbours of the lexical ones in a dialogue, with the default score.

    That score is fitted to these two rankings and computed in one loop over arrays, so they are named here. Rows that
    only a composite adds (`more`) say nothing about the evidence.
    """
    assert asked.vector is not None
    snapshot, population, wanted, allowed = asked.snapshot, asked.population, asked.wanted, asked.allowed
    lexical = Lexical(asked)
    matches = lexical.matches
    by_words = lexical.best(pool)
    by_meaning = Dense(asked).best(pool)
    rows = np.concatenate([by_words, by_meaning])
    rows = with_neighbours(snapshot, population.mask, rows, by_words, allowed.mask, BESIDE)
    rows, own = _joined(rows, more)
    blend = blended(snapshot, population, wanted, matches, asked.vector, alpha_for(index, snapshot, query, rows), rows)
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
        rankings={"lexical": Ranking(by_words, blend.lexical), "dense": Ranking(by_meaning, blend.cosine)},
        blend=blend,
        matches=matches,
        total=_total(asked, None),
        strength=strength(_only(found, own)),
    )


def by_rankings(asked: Asked, query: Query, names: Sequence[Name], pool: int, more: RowNumbers | None) -> Candidates:
    """Return the best of one ranking, or of several in another fusion than the default."""
    rankers: Mapping[Name, Ranker] = {name: RANKERS[name](asked) for name in names}
    best: Mapping[Name, RowNumbers] = {name: ranker.best(pool) for name, ranker in rankers.items()}
    rows, own = _joined(np.unique(np.concatenate(list(best.values()))), more)
    rankings: Mapping[Name, Ranking] = {
        name: Ranking(best[name], ranker.scores(rows)) for name, ranker in rankers.items()
    }
    compared = [ranker.matches for ranker in rankers.values() if ranker.matches is not None]
    matches = compared[0] if compared else None
    needed = matches if len(compared) == len(rankers) else None
    shares = _shares(asked.snapshot, query, rows, rankings) if len(rankings) > 1 else None
    return Candidates(
        rows=rows,
        fused=absolute(rankings[names[0]].scores) if shares is None else summed(shares),
        rankings=rankings,
        shares=shares,
        matches=matches,
        needed=needed,
        total=_total(asked, needed),
        strength=strength(_only(_signals(asked, rows, rankings, matches), own)),
    )


def _joined(rows: RowNumbers, more: RowNumbers | None) -> tuple[RowNumbers, Mask | None]:
    """Return rows and `more`, ascending, with a flag for the former; None when there are no more."""
    if more is None or not len(more):
        return rows, None
    every = np.union1d(rows, more)
    return every, np.isin(every, rows)


def _only(signals: Signals, own: Mask | None) -> Signals:
    """Return the signals of the flagged rows; all for None."""
    if own is None:
        return signals
    values = {name: getattr(signals, name) for name in signals.__struct_fields__}
    return replace(signals, **{name: value[own] for name, value in values.items() if isinstance(value, np.ndarray)})


def _signals(asked: Asked, rows: RowNumbers, rankings: Mapping[Name, Ranking], matches: Matches | None) -> Signals:
    """Return the evidence in the scores of the rankings that took part."""
    scores = {name: ranking.scores for name, ranking in rankings.items()}
    lexical, cosine = scores.get("lexical"), scores.get("dense")
    signals = Signals(memories=asked.snapshot.columns.version[rows], covered=lexical, lexical=lexical, cosine=cosine)
    if matches is None:
        return signals
    known = known_share(matches.mass, matches.unknown, asked.population.rows)
    return replace(signals, known=known, there=matches.there)


def _shares(snapshot: Snapshot, query: Query, rows: RowNumbers, rankings: Mapping[Name, Ranking]) -> Shares:
    """Return the share of each ranking in the fused score of each row."""
    weights = weights_of(alpha_of(query.fusion, query.alpha))
    if query.fusion == "rrf":
        return reciprocal_rank(
            weights, {name: _places(snapshot, rows, ranking.best) for name, ranking in rankings.items()}
        )
    return scaled(query.fusion, weights, {name: ranking.scores for name, ranking in rankings.items()})


def _places(snapshot: Snapshot, rows: RowNumbers, ranking: RowNumbers) -> RowNumbers:
    """Return the rank, from 1, of each row's memory in a ranking; 0 for none."""
    versions = snapshot.columns.version
    place = {version: rank for rank, version in enumerate(versions[ranking].tolist(), start=1)}
    return np.array([place.get(version, 0) for version in versions[rows].tolist()], np.int64)


def _total(asked: Asked, matches: Matches | None) -> int:
    """Return how many memories could have been hits: those allowed, or among them those that match."""
    versions = asked.snapshot.columns.version
    if matches is None:
        return asked.allowed.memories(versions)
    return count_memories(versions, asked.allowed.mask & (matches.scores > 0))
