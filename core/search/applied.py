"""The probability that each hit of a search answers the question, and the hits that are left with a cut by it."""

import math
from collections.abc import Sequence

import numpy as np

from muisti.core.index.dialogue import OUTSIDE
from muisti.core.index.lexical import Matches
from muisti.core.index.snapshot import RowNumbers
from muisti.core.kernels import Doubles, Mask
from muisti.core.model.choices import APPLIES
from muisti.core.model.hits import Hit
from muisti.core.query.applies import FIRST, Signs, answers, answers_by, closeness, steepness, subjects
from muisti.core.query.evidence import Unrelated
from muisti.core.search.blend import Blend
from muisti.core.search.candidates import Candidates
from muisti.core.search.judged import Judged, has_every_word
from muisti.core.search.rankers import BY_MODE, Asked
from muisti.core.search.ranking import Ranked
from muisti.core.support.memo import memoised
from muisti.core.text.terms import tokenize

WHOLE = 0.999  # share of the question's words; more only if one row has all


NAMES = 1_000  # whose words are remembered


def applied(
    ranked: Ranked, level: Judged, usual: Unrelated | None, *, named: bool = False
) -> tuple[float | None, Doubles | None]:
    """Return the probability that anything here answers the question, and that of each hit.

    Both are None where nothing is asked, as for lists of memories and a memory as query, and without thresholds. With
    `named` a hit states another name of what the query names, and what has that name may be less close to it.
    """
    asked, found = ranked.asked, ranked.found
    if not BY_MODE[asked.mode] or not asked.wanted.text or level.thresholds is None:
        return None, None
    first, places = ranked.ordered[:FIRST], ranked.places
    if not len(first):
        return 0.0, np.empty(0)
    if found.blend is None or found.nearest is None or usual is None:
        sure, whole = answers_by(level.strength, level.thresholds), has_every_word(asked, found)
    else:
        seen = signs(asked, found, found.blend, first, usual)
        sure, whole = answers(seen), seen.covered > WHOLE
    sure = max(sure, APPLIES) if whole else sure  # whoever asks for a word wants the memories that have it
    best = float(ranked.every[first[0]])
    shares = np.clip(ranked.every[places] / best, 0.0, 1.0) if best > 0 else np.ones(len(places))
    steep = steepness(asked.allowed.count, asked.population.average)
    if named or steep == 1:
        return sure, sure * shares
    covered = np.zeros(len(found.rows)) if found.blend is None else found.blend.covered
    alone = closeness(shares, covered[places], float(covered[first[0]]), steep)
    return sure, sure * np.where(_turns(asked, found.rows[places]), shares, alone)


def signs(asked: Asked, found: Candidates, blend: Blend, first: RowNumbers, usual: Unrelated) -> Signs:
    """Return the signs that a question is answered; `first` are the places of the first hits among the candidates."""
    assert found.meaning is not None and found.matches is not None
    matches, nearest = found.matches, max(found.meaning.own[first].tolist())
    every = matches.mass + matches.unknown * matches.highest
    return Signs(
        strength=math.sqrt(found.strength),
        near=(nearest - usual.cosine(asked.allowed.count)) / usual.growth,
        covered=max(blend.covered[first].tolist()) * matches.mass / every if every else 0.0,
        pairs=max(blend.order[first].tolist()),
        stranger=float(_names_a_stranger(asked, matches)),
    )


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
    best = max((hit.applies for hit in hits if hit.applies is not None), default=None)
    if least is None or best is None:
        return tuple(hits)
    border = math.inf if best < least else least * best
    return tuple(hit for hit in hits if hit.applies is None or hit.applies >= border)
