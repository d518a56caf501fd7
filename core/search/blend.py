"""The default score of a row: words of the query in it and in neighbouring rows, and the cosine.

    words = scale * (lexical + around + related + ORDER * order - LATE * late)
    meaning = cosine + context + expansion
    total = level * ((1 - alpha) * words + alpha * meaning) * brevity * (1 + speaker)
    fused = total / (1 + total ** 4) ** (1 / 4)

The last line maps a total that may exceed 1 into [0, 1). It keeps the order, and hardly changes small totals.

`expansion` comes from a second look at the rows, with the query expanded by the row that is best without it. `level` is
the factor by which that row keeps its first score. So the scale is absolute: no other row changes the best score, and a
weak answer has a weak score. All constants are fitted on the tuning sets (docs/why/quality.md).
"""

import msgspec
import numpy as np

from muisti.core.index.collection_statistics import CollectionStatistics
from muisti.core.index.dense import QueryVector
from muisti.core.index.dialogue import OUTSIDE
from muisti.core.index.lexical import Matches, add_related, in_context
from muisti.core.index.postings import UNIT
from muisti.core.index.snapshot import RowNumbers, Snapshot
from muisti.core.index.vector_columns import Vectors
from muisti.core.kernels import Doubles, Longs, Mask
from muisti.core.kernels import blend as loops
from muisti.core.kernels.context import expand, lend
from muisti.core.search.query_vectors import Cosines, QueryVectors
from muisti.core.search.rankers import Asked

# The meaning of candidate rows beside a query: their cosines, with the turns around them, and for an expanded query

TURN = 0.2  # weight of the turn before and of the turn after, beside 1 of the passage itself
FEEDBACK = 0.3  # weight of the best row, beside 1 of the query itself

_NONE = np.empty((0, 2), np.int64)


class Meaning:
    """Changes of the cosines of `rows`: `context` comes from the turns around each.

    There is none where most rows are no turns, as among replies of several passages. Turns add to the cosines of the
    model of the space alone.
    """

    def __init__(
        self,
        snapshot: Snapshot,
        population: CollectionStatistics,
        query: QueryVectors,
        found: Cosines,
        rows: RowNumbers,
    ) -> None:
        """Take rows in ascending order with their cosines; only turns of the `population` add to others."""
        self._snapshot, self._query, self._found, self._rows = snapshot, query, found, rows
        self._around = np.zeros(len(rows))
        self._near: Longs = _NONE
        self._lengths: Doubles = self._around
        before, after = snapshot.links()
        if TURN and len(rows) and population.talks(snapshot.rows):
            self._near, self._lengths = np.empty((len(rows), 2), np.int64), np.empty(len(rows))
            c, v = snapshot.columns, snapshot.columns.vectors
            columns = (c.number, c.version, before, after, population.mask)
            own = (found.own, self._near, self._lengths, self._around)
            lend(v.codes, v.scales, query.own.codes, query.own.step, rows, *columns, TURN, *own)
        self.context = self._around if found.share is None else (1 - found.share) * self._around

    def expansion(self, best: int) -> Doubles:
        """Return what expanding the query by the row at a place adds to each cosine with context."""
        near, second = self._found, self._query.second
        known = (near.own + self._around, best, self._near, self._lengths)
        own = self._changes(self._snapshot.columns.vectors, self._query.own, *known)
        if second is None or self._snapshot.second is None or near.second is None or near.share is None:
            return own
        other = self._changes(self._snapshot.second, second.vector, near.second, best, _NONE, np.zeros(len(own)))
        return (1 - near.share) * own + near.share * other

    def _changes(
        self, v: Vectors, query: QueryVector, cosines: Doubles, best: int, near: Longs, lengths: Doubles
    ) -> Doubles:
        changes = np.empty(len(self._rows))
        planes = (v.codes, v.scales, v.fine, v.fine_scales)
        expand(*planes, query.length, FEEDBACK, self._rows, cosines, best, near, lengths, TURN, changes)
        return changes


LATE = 0.2  # weight of the loss for words that come late in a row
ORDER = 0.4  # weight of the gain for words that are as close as in the query
USUAL_K1 = 1.2  # k1 for which the weights of words and cosine are fitted
UTTERANCE = 5.0  # squared words; shorter turns of a dialogue lose more than half of their score

EXPLAINED = ("around", "related", "late", "order", "context", "expansion", "brevity", "speaker")


class Blend(msgspec.Struct, frozen=True):
    """The parts of each row's score, named as in the formula above; the order is that of the kernel's `parts`.

    `alpha` is the weight of the cosine. `words` are those of the query alone, in the row and around it. `covered` is
    the share of the query's idf whose words the row has, however often. It serves the strength of evidence and is no
    part of the score.
    """

    scale: float
    alpha: float
    level: float
    lexical: Doubles
    cosine: Doubles
    around: Doubles
    late: Doubles
    order: Doubles
    covered: Doubles
    brevity: Doubles
    speaker: Doubles
    words: Doubles
    related: Doubles
    context: Doubles
    expansion: Doubles
    fused: Doubles

    def parts(self, place: int) -> dict[str, float]:
        """Return the parts of one row's score that an explanation shows, by name."""
        return {name: float(getattr(self, name)[place]) for name in EXPLAINED} | {
            "scale": self.scale,
            "level": self.level,
        }


def of_words(asked: Asked, matches: Matches, rows: RowNumbers) -> Doubles:
    """Return the parts (PARTS, rows) of the score of `rows`, which ascend, with those filled in that words give."""
    snapshot, population, wanted = asked.snapshot, asked.population, asked.wanted
    parts = np.empty((loops.PARTS, len(rows)))
    parts[loops.AROUND : loops.COVERED + 1] = in_context(snapshot, population.mask, matches, wanted, rows)
    add_related(snapshot, population, wanted, matches, rows, parts[loops.RELATED])
    return parts


def blended(
    asked: Asked,
    matches: Matches,
    vectors: QueryVectors,
    found: Cosines,
    alpha: float,
    rows: RowNumbers,
    parts: Doubles,
    own: Mask | None = None,
) -> Blend:
    """Score `rows`, which ascend, by the words of the query and by the cosines in `found`, whose weight is `alpha`.

    `parts` are those of `of_words`, and become those of the result. Only rows that `own` flags may expand the query,
    None for all.
    """
    snapshot = asked.snapshot
    c, dialogues = snapshot.columns, snapshot.rows.dialogues
    scale = (matches.norm.k1 + 1) / (USUAL_K1 + 1)
    meant = Meaning(snapshot, asked.population, vectors, found, rows)
    parts[loops.COSINE], parts[loops.CONTEXT] = found.both, meant.context
    columns = (c.number, c.length, snapshot.links()[0], dialogues.speaker(), _gains(asked))
    constants = (UNIT, OUTSIDE, UTTERANCE, scale, LATE, ORDER, alpha)
    loops.blend(rows, matches.scores, *columns, *constants, parts)
    best, level = _best(parts[loops.FUSED], own), 1.0
    if best is not None and FEEDBACK:
        parts[loops.EXPANSION] = meant.expansion(best)
        level = loops.leveled(scale, LATE, ORDER, alpha, best, parts)
        loops.fuse(scale, LATE, ORDER, alpha, level, parts)
    return Blend(scale, alpha, level, *parts)


def _best(scores: Doubles, own: Mask | None) -> int | None:
    """Return the place of the highest score among the flagged rows; None when no score is above 0."""
    if own is not None:
        scores = np.where(own, scores, 0.0)
    best = int(scores.argmax()) if len(scores) else 0
    return best if len(scores) and scores[best] > 0 else None


def _gains(asked: Asked) -> Doubles:
    """Return the gain of each speaker's rows, by code, and last that of rows without a speaker; empty for no gains."""
    rows = asked.snapshot.rows
    speakers = rows.dialogues.speakers
    named = speakers.asked(asked.wanted.text, lambda code: asked.population.hears(rows, code))
    if not named:
        return np.empty(0)
    gains = np.zeros(len(speakers.names) + 1)
    for code, gain in named.items():
        gains[code] = gain
    return gains
