"""Candidates of a search: the rows that rankings propose, with one score each that fuses those of the rankings."""

from collections import Counter
from collections.abc import Mapping, Sequence

import msgspec
import numpy as np
from msgspec.structs import replace

from muisti.core.index.columns import MISSING_CODE, Keywords
from muisti.core.index.lexical import Matches, naming, rank_lexical, with_neighbours
from muisti.core.index.snapshot import RowNumbers, Snapshot, one_a_memory
from muisti.core.kernels import Doubles, Mask
from muisti.core.kernels.pool import count_memories
from muisti.core.parsing.code.apart import is_code
from muisti.core.parsing.code.grammars import language_of
from muisti.core.query.applies import STATEMENT, subjects
from muisti.core.query.evidence import Nearest, Signals, known_share, strength
from muisti.core.query.filters import fields_of
from muisti.core.search.default_score import Blend, blended, of_words
from muisti.core.search.fusion import Shares, absolute, alpha_of, reciprocal_rank, scaled, summed, weights_of
from muisti.core.search.query_vectors import Cosines, QueryVectors, cosines, nearest, nearest_by_own
from muisti.core.search.rankers import RANKERS, Asked, Lexical, Name, Ranker, Ranking
from muisti.core.text.speakers import NAMED
from muisti.core.text.terms import tokenize
from muisti.core.text.when.time_spans import TimeSpan

# The weight of meaning: more for code, which shares fewer words with questions, and with a second model

ALPHA = 5 / 9  # weight of the cosine; of prose it is 3 / 7
WITH_SECOND = 0.55  # weight of the cosine of two models, unless most rows are turns of dialogues
MOSTLY = 0.9  # share of code in what was found, from which a search is one for code
_CHOOSING = frozenset(("kind", "document", "language"))  # fields by which a filter can choose code


def alpha_for(asked: Asked, vectors: QueryVectors, rows: RowNumbers) -> float:
    """Return the weight of the cosine for the default fusion of a query that has found `rows`.

    With a second model the cosine says more, but in dialogues the words of neighbouring turns say as much.

    Only a search whose filter chooses documents can be one for code, so no other one looks at paths.
    """
    query, snapshot = asked.query, asked.snapshot
    if query.alpha is None and query.filter is not None and _CHOOSING & {*fields_of(query.filter)} and len(rows):
        column = asked.index.column(snapshot, "document")
        assert isinstance(column, Keywords)
        known = Counter[int](column.view(snapshot.size)[rows].tolist())
        paths = column.dictionary.values
        found = sum(n for code, n in known.items() if code != MISSING_CODE and _is_source(paths[code]))
        if found >= MOSTLY * len(rows):
            return ALPHA
    if vectors.second is not None and query.alpha is None and not asked.population.talks(snapshot.rows):
        return WITH_SECOND
    return alpha_of("absolute", query.alpha)


def _is_source(path: object) -> bool:
    language = language_of(path) if isinstance(path, str) else None
    return language is not None and is_code(language)


OTHERS = 0.35  # weight of another speaker's words, or those about another person, as evidence about a named one
BESIDE = 2  # steps in a dialogue from a row with words of the query to a row that may answer it


class Candidates(msgspec.Struct, frozen=True, kw_only=True):
    """Proposed rows, with their scores before age and importance; arrays have one value for each row.

    `rankings` has the rankings that took part, by name. `total` counts the memories that could have been hits: those
    allowed that have a word of `needed`, None where words are not needed. `shares` add up to `fused`; they are None for
    a single ranking, and where `blend` has the parts. `meaning` has the parts of the cosines of rows, None where none
    were compared. `nearest` is None unless words and meaning took part.
    """

    rows: RowNumbers
    fused: Doubles
    rankings: Mapping[Name, Ranking]
    blend: Blend | None = None
    meaning: Cosines | None = None
    shares: Shares | None = None
    spans: Sequence[TimeSpan] = ()
    matches: Matches | None = None
    needed: Matches | None = None
    total: int
    strength: float
    nearest: Nearest | None = None

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


def by_blend(asked: Asked, pool: int, more: RowNumbers | None) -> Candidates:
    """Return the best rows of both rankings, and neighbours of the lexical ones in a dialogue, with the default score.

    That score is fitted to these two rankings and computed in one loop over arrays, so they are named here. Rows that
    only a composite adds (`more`) say nothing about the evidence. A second model ranks and proposes nothing. Its own
    rows would double the time of a search, and find no more on the tuning sets (docs/why/quality.md).
    """
    assert asked.vectors is not None
    snapshot, population = asked.snapshot, asked.population
    by_meaning = nearest_by_own(
        snapshot, asked.vectors, asked.allowed, pool
    )  # first, since it reads most of the memory
    lexical = Lexical(asked)
    matches = lexical.matches
    by_words = lexical.best(pool)
    proposed = np.concatenate([by_words, by_meaning])
    proposed = with_neighbours(snapshot, population.mask, proposed, by_words, asked.allowed.mask, BESIDE)
    rows = _with(proposed, more)
    alpha = alpha_for(asked, asked.vectors, rows)
    parts, own = of_words(asked, matches, rows), _among(rows, proposed)
    blend, meaning = blended(asked, matches, asked.vectors, alpha, rows, parts, own)
    covered, pairs, near = blend.covered, blend.order, meaning.own
    if (about := _about(asked, blend, matches, rows)) is not None:
        covered, pairs, near = about * covered, about * pairs, about * near
    signals = Signals(
        memories=snapshot.columns.version[rows],
        covered=covered,
        lexical=blend.words,
        pairs=pairs,
        cosine=near,
        persons=blend.speaker / NAMED,
        known=known_share(matches.mass, matches.unknown, population.rows),
        there=matches.there,
    )
    found = _only(signals, own)
    return Candidates(
        rows=rows,
        fused=blend.fused,
        rankings={"lexical": Ranking(by_words, blend.lexical), "dense": Ranking(by_meaning, blend.cosine)},
        blend=blend,
        meaning=meaning,
        matches=matches,
        total=_total(asked, None),
        strength=strength(found),
        nearest=_nearest(asked, found),
    )


def _about(asked: Asked, blend: Blend, matches: Matches, rows: RowNumbers) -> Doubles | None:
    """Return the weight of each row as evidence: less where the question is about somebody else. None: 1 for all.

    What Ann said is no evidence of what Bob said, unless her words name Bob. Nor is a statement about Ann, where short
    statements name Bob as well.
    """
    names, dialogues = set[str](), asked.snapshot.rows.dialogues
    said = rows[blend.speaker >= NAMED] if dialogues.speakers.names else rows[:0]
    if len(said):
        codes: set[int] = {*dialogues.speaker()[said].tolist()}
        names = {term for code in codes for term in tokenize(dialogues.speakers.names[code])}
    elif asked.population.average <= STATEMENT and (people := [*subjects(asked.wanted.text)]):
        known = dict(zip(asked.wanted.terms, matches.idf.tolist(), strict=True))
        talks = asked.population.talks(asked.snapshot.rows)
        names = {term for name in people for term in tokenize(name) if known.get(term) and not talks}
    if not names:
        return None
    return np.where((blend.speaker == 0) & ~naming(asked.snapshot, names, rows), OTHERS, 1.0)


def by_rankings(asked: Asked, names: Sequence[Name], pool: int, more: RowNumbers | None) -> Candidates:
    """Return the best of one ranking, or of several in another fusion than the default."""
    rankers: Mapping[Name, Ranker] = {name: RANKERS[name](asked) for name in names}
    near = None if asked.vectors is None else nearest(asked.snapshot, asked.vectors, asked.allowed, pool)
    best: Mapping[Name, RowNumbers] = {
        name: near.best if near and name == "dense" else ranker.best(pool) for name, ranker in rankers.items()
    }
    judged = np.unique(np.concatenate([near.own if near and name == "dense" else best[name] for name in best]))
    every = judged if near is None or near.every is near.own else _with(judged, near.every)
    rows = _with(every, more)
    meaning = None if asked.vectors is None else cosines(asked.snapshot, asked.vectors, rows)
    rankings: Mapping[Name, Ranking] = {
        name: Ranking(best[name], meaning.both if meaning and name == "dense" else ranker.scores(rows))
        for name, ranker in rankers.items()
    }
    compared = [ranker.matches for ranker in rankers.values() if ranker.matches is not None]
    matches = compared[0] if compared else None
    needed = matches if len(compared) == len(rankers) else None
    shares = _shares(asked, rows, rankings) if len(rankings) > 1 else None
    signals = _only(_signals(asked, rows, rankings, matches, meaning), _among(rows, judged))
    return Candidates(
        rows=rows,
        fused=absolute(rankings[names[0]].scores) if shares is None else summed(shares),
        rankings=rankings,
        shares=shares,
        meaning=meaning,
        matches=matches,
        needed=needed,
        total=_total(asked, needed),
        strength=strength(signals),
        nearest=_nearest(asked, signals),
    )


def _with(rows: RowNumbers, more: RowNumbers | None) -> RowNumbers:
    """Return distinct rows and `more`, ascending; the rows themselves when there are no more."""
    return rows if more is None or not len(more) else np.union1d(rows, more)


def _among(rows: RowNumbers, some: RowNumbers) -> Mask | None:
    """Return a flag for each of the rows: whether it is one of `some`; None when all are."""
    return None if len(rows) == len(some) else np.isin(rows, some)


def _only(signals: Signals, own: Mask | None) -> Signals:
    """Return the signals of the flagged rows; all for None."""
    if own is None:
        return signals
    values = {name: getattr(signals, name) for name in signals.__struct_fields__}
    return replace(signals, **{name: value[own] for name, value in values.items() if isinstance(value, np.ndarray)})


def _signals(
    asked: Asked,
    rows: RowNumbers,
    rankings: Mapping[Name, Ranking],
    matches: Matches | None,
    meaning: Cosines | None,
) -> Signals:
    """Return the evidence in the scores of the rankings that took part; of cosines those by the space's own model."""
    lexical = rankings["lexical"].scores if "lexical" in rankings else None
    cosine = None if meaning is None else meaning.own
    signals = Signals(memories=asked.snapshot.columns.version[rows], covered=lexical, lexical=lexical, cosine=cosine)
    if matches is None:
        return signals
    known = known_share(matches.mass, matches.unknown, asked.population.rows)
    return replace(signals, known=known, there=matches.there)


def _nearest(asked: Asked, signals: Signals) -> Nearest | None:
    """Return the highest cosine; None unless words and meaning took part, and where passages have no vector yet."""
    if signals.cosine is None or signals.lexical is None or asked.snapshot.unembedded or not len(signals.cosine):
        return None
    return Nearest(float(signals.cosine.max()), asked.allowed.count)


def _shares(asked: Asked, rows: RowNumbers, rankings: Mapping[Name, Ranking]) -> Shares:
    query = asked.query
    weights = weights_of(alpha_of(query.fusion, query.alpha))
    if query.fusion == "rrf":
        return reciprocal_rank(
            weights, {name: _places(asked.snapshot, rows, ranking.best) for name, ranking in rankings.items()}
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
