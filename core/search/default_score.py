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

from muisti.core.index.dialogue import OUTSIDE
from muisti.core.index.lexical import Matches, add_related, in_context
from muisti.core.index.postings import UNIT
from muisti.core.index.snapshot import RowNumbers
from muisti.core.kernels import Doubles, Mask
from muisti.core.kernels import blend as loops
from muisti.core.search.query_vectors import Cosines, QueryVectors
from muisti.core.search.rankers import Asked

TURN = 0.2  # weight of the vector of the turn before and of the turn after, beside 1 of the passage itself
FEEDBACK = 0.3  # weight of the vector of the best row in an expanded query, beside 1 of the query itself
LATE = 0.2  # weight of the loss for words that come late in a row
ORDER = 0.4  # weight of the gain for words that are as close as in the query
USUAL_K1 = 1.2  # k1 for which the weights of words and cosine are fitted
UTTERANCE = 5.0  # squared words; shorter turns of a dialogue lose more than half of their score

NO_FLAGS, NO_CODES, NO_SCALES = np.empty(0, np.bool_), np.empty((0, 8), np.int8), np.empty(0, np.float32)
NO_PLANES: loops.Planes = (NO_CODES, NO_SCALES, NO_CODES, NO_SCALES)

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
    alpha: float,
    rows: RowNumbers,
    parts: Doubles,
    own: Mask | None,
) -> tuple[Blend, Cosines]:
    """Score `rows`, which ascend, by the words of the query and by their cosines, whose weight is `alpha`.

    `parts` are those of `of_words`, and become those of the result. Only rows that `own` flags may expand the query,
    None for all. Where most rows are turns, those around a row add to its cosine by the space's own model. Replies of
    several passages would gain nothing.
    """
    snapshot, second = asked.snapshot, vectors.second
    c, dialogues, v = snapshot.columns, snapshot.rows.dialogues, snapshot.columns.vectors
    scale = (matches.norm.k1 + 1) / (USUAL_K1 + 1)
    others, other, share = NO_PLANES, vectors.own, 0.0
    if second is not None and snapshot.second is not None:
        others, other, share = snapshot.second.planes, second.vector, second.share
    talks = bool(TURN and len(rows) and asked.population.talks(snapshot.rows))
    columns = (matches.scores, c.number, c.version, c.length, snapshot.links(), asked.population.mask, talks)
    constants = (UNIT, OUTSIDE, UTTERANCE, scale, LATE, ORDER, alpha)
    found, said = np.empty((3, len(rows))), (dialogues.speaker(), _gains(asked), NO_FLAGS if own is None else own)
    queries = (v.planes, vectors.own.asked, others, other.asked, share, rows)
    level = loops.meant(*queries, *columns, *said, TURN, FEEDBACK, constants, found, parts)
    cosines = Cosines(parts[loops.COSINE], *found) if share else Cosines(parts[loops.COSINE], found[0])
    return Blend(scale, alpha, level, *parts), cosines


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
