"""The probability that each hit of a search answers the question, and the hits that are left with a cut by it."""

import math
from collections.abc import Sequence

import numpy as np
from msgspec.structs import replace

from muisti.core.index.dialogue import OUTSIDE
from muisti.core.index.lexical import Matches
from muisti.core.index.snapshot import RowNumbers
from muisti.core.kernels import Doubles, Mask, pieces
from muisti.core.kernels import blend as loops
from muisti.core.model.choices import APPLIES
from muisti.core.model.hits import Hit
from muisti.core.model.values import Memory
from muisti.core.query.applies import (
    ADVISED,
    FIRST,
    WORDLESS,
    Signs,
    answers,
    answers_by,
    stating,
    steepness,
    subjects,
)
from muisti.core.query.evidence import Unrelated
from muisti.core.query.lacking import NOTHING, Lacking, Words, is_question, lacking
from muisti.core.search.candidates import Candidates
from muisti.core.search.default_score import Blend
from muisti.core.search.judged import Judged, has_every_word
from muisti.core.search.rankers import BY_MODE, Asked
from muisti.core.search.ranking import Ranked
from muisti.core.support.memo import memoised
from muisti.core.text.aliases import defining
from muisti.core.text.terms import tokenize

WHOLE = 0.999  # share of the question's words; more only if one row has all
COMPARED = 5  # hits, at most, whose words are compared with those of the question
DOUBTED = 0.03  # probability, at least, with whatever the best lacks; a context shows what has so much
NAMELESS = 0.5  # closeness of a hit that lacks a name which the best has
SPREAD = 0.7  # exponent of a turn's share of the best score: a dialogue spreads an answer over several turns
LIKED = 0.8  # closeness of the statement that is nearest to a question for advice, at least; chosen on PrefEval
DEFINITION = 0.3  # closeness of a hit that only says what a name of the question means
NAMES = 1_000  # whose words are remembered
LIGHTEST = 0.05  # weight of any word, so that a question of light words is not divided by 0
NO_LINKS = np.empty(0, np.int32)


def applied(
    ranked: Ranked,
    level: Judged,
    usual: Unrelated | None,
    hits: Sequence[Memory] = (),
    model: Words | None = None,
    *,
    named: bool = False,
) -> tuple[float | None, Doubles | None]:
    """Return the probability that anything here answers the question, and that of each hit.

    Both are None where nothing is asked, as for lists of memories and a memory as query, and without thresholds. With
    `named` a hit states another name of what the query names, and what has that name may be less close to it. `model`
    compares the words of the question with those of the first of the `hits`.
    """
    asked, found = ranked.asked, ranked.found
    if not BY_MODE[asked.mode] or not asked.wanted.text or level.thresholds is None:
        return None, None
    first, places = ranked.ordered[:FIRST], ranked.places
    if not len(first):
        return 0.0, np.empty(0)
    weight = 0.0 if named or not hits else stating(asked.allowed.count, asked.population.average)
    weight = 0.0 if weight and _turns(asked, found.rows[places[:1]])[0] else weight
    alone = _Statements(asked.wanted.text, level, hits, model, weight) if weight else None
    if found.blend is None or found.nearest is None or usual is None:
        sure, whole = answers_by(level.strength, level.thresholds), has_every_word(asked, found)
    else:
        seen = signs(asked, found, found.blend, first, usual, model)
        sure, whole = answers(seen), seen.covered > WHOLE
        sure = sure if alone is None else max(min(sure, DOUBTED), answers(alone.signs(seen)))
    sure = max(sure, APPLIES) if whole else sure  # whoever asks for a word wants the memories that have it
    if named:
        return sure, sure * _without_definitions(asked, hits, _closeness(ranked, 1.0, 1.0))
    if level.advised is not None:
        near = _closeness(ranked, SPREAD, 1.0)
        near = near if alone is None else _liked(near, found, places)
        return sure, sure * (near if alone is None or sure < APPLIES else alone.closeness(near))
    steep = steepness(asked.allowed.count, asked.population.average)
    near = _closeness(ranked, SPREAD, steep)
    if alone is not None and sure >= APPLIES:
        near = np.where(_turns(asked, found.rows[places]), near, alone.closeness(_closeness(ranked, steep, steep)))
    return sure, sure * near


def _closeness(ranked: Ranked, spread: float, steep: float) -> Doubles:
    """Return the closeness of each hit, with these exponents for turns and for others."""
    asked, found = ranked.asked, ranked.found
    covered = np.zeros(len(found.rows)) if found.blend is None else found.blend.covered
    before = NO_LINKS if spread == steep else asked.snapshot.links()[0]
    columns, out = (found.rows, asked.snapshot.columns.number, before), np.empty(len(ranked.places))
    loops.close(ranked.every, covered, ranked.ordered, ranked.places, *columns, OUTSIDE, spread, steep, WORDLESS, out)
    return out


class _Statements:
    """Says what the hits lack of a question, where they are among few statements, none of which is a turn."""

    def __init__(self, text: str, level: Judged, hits: Sequence[Memory], model: Words | None, weight: float) -> None:
        """`weight` is how much the memories are statements, above 0."""
        self._hits, self._model, self._text, self._weight = hits, model, text, weight
        self._advised = level.advised is not None
        self._compares = is_question(text)

    def signs(self, seen: Signs) -> Signs:
        """Return the signs with what the best hit lacks. That only lowers the probability of an answer.

        A statement may have no word of a question that asks for advice, but no other name either.
        """
        if self._advised:
            seen = replace(seen, near=seen.near + ADVISED * self._weight)
        if not self._compares or answers(seen) < APPLIES:
            return seen
        lacks = self._lacking(0)
        if self._advised:
            return replace(seen, name=self._weight * lacks.name) if lacks.instead else seen
        return replace(seen, word=self._weight * lacks.word, name=self._weight * lacks.name)

    def closeness(self, near: Doubles) -> Doubles:
        """Return the closeness of hits; it is less for those that lack a name which the best has."""
        close = np.flatnonzero(near >= APPLIES)[1:COMPARED] if self._compares else ()
        if len(close) and not self._lacking(0).name:
            near[[place for place in close if self._lacking(place).name]] *= NAMELESS
        return near

    def _lacking(self, place: int) -> Lacking:
        if self._model is None:
            return NOTHING
        hit = self._hits[place]
        fields = (hit.content, hit.author, hit.category, hit.key, *hit.tags)
        return lacking(self._text, " ".join(filter(None, fields)), self._model)


def signs(
    asked: Asked, found: Candidates, blend: Blend, first: RowNumbers, usual: Unrelated, model: Words | None = None
) -> Signs:
    """Return the signs that a question is answered; `first` are the places of the first hits among the candidates."""
    assert found.meaning is not None and found.matches is not None
    matches, wanted = found.matches, asked.wanted
    nearest, covered, pairs = loops.signs(found.meaning.own, blend.covered, blend.order, first)
    every = matches.mass + matches.unknown * matches.highest
    telling = covered = covered * matches.mass / every if every else 0.0
    if model is not None and wanted.terms:
        weights = model.weights(wanted.terms) + LIGHTEST
        weights *= wanted.weights
        weights /= weights.sum()
        telling = pieces.telling(asked.snapshot.table, found.rows[first], matches.scores, wanted.codes, weights)
    return Signs(
        near=(nearest - usual.cosine(asked.allowed.count)) / usual.growth,
        telling=telling,
        pairs=pairs,
        stranger=float(_names_a_stranger(asked, matches)),
        covered=covered,
    )


def _liked(shares: Doubles, found: Candidates, places: RowNumbers) -> Doubles:
    """Return the closeness of statements to a question that asks for advice: how near they are counts beside words."""
    near = None if found.meaning is None else found.meaning.own[places]
    return shares if near is None or near.max() <= 0 else np.maximum(shares, LIKED * near / near.max())


def _without_definitions(asked: Asked, hits: Sequence[Memory], shares: Doubles) -> Doubles:
    """Return the closeness of hits where those that only define a name of the question are none of the answers."""
    defines = np.array(defining(asked.wanted.text, [memory.content for memory in hits]), np.bool_)
    if not defines.any() or len(defines) != len(shares):
        return shares
    rest = shares[~defines].max(initial=0.0)
    return np.where(defines, DEFINITION, np.minimum(shares / rest, 1.0)) if rest else shares


def _names_a_stranger(asked: Asked, matches: Matches) -> bool:
    """Return whether the question is about a person whom no visible memory names, and who says none of them."""
    for name in subjects(asked.wanted.text):
        idf = dict(zip(asked.wanted.terms, matches.idf.tolist(), strict=True))
        terms = [term for term in _terms(name) if term in idf]
        if terms and not any(idf[term] for term in terms) and not _speaks(asked, name):
            return True
    return False


@memoised(NAMES)
def _terms(name: str) -> tuple[str, ...]:
    return tuple(tokenize(name))


def _speaks(asked: Asked, name: str) -> bool:
    rows = asked.snapshot.rows
    return bool(rows.dialogues.speakers.asked(name, lambda code: asked.population.hears(rows, code)))


def _turns(asked: Asked, rows: RowNumbers) -> Mask:
    """Return a flag for each row: whether its memory is a turn of a dialogue."""
    before = asked.snapshot.links()[0]
    if not len(before):
        return np.zeros(len(rows), np.bool_)
    return before[rows - asked.snapshot.columns.number[rows]] != OUTSIDE


def surfaced(hits: Sequence[Hit], least: float | None) -> tuple[Hit, ...]:
    """Return the hits that probably answer: none unless the best reaches `least`, then those with that share of it.

    Hits whose probability is not known stay.
    """
    best = None if least is None else max((hit.applies for hit in hits if hit.applies is not None), default=None)
    if least is None or best is None:
        return tuple(hits)
    border = math.inf if best < least else least * best
    return tuple(hit for hit in hits if hit.applies is None or hit.applies >= border)
