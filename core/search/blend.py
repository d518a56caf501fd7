"""The default score: the words of a query and its meaning, as they stand in a row and around it.

    words = scale * (lexical + around)
    total = ((1 - alpha) * (words + scale * (ORDER * order - LATE * late)) + alpha * cosine) * brevity * (1 + speaker)
    fused = total / (1 + total ** 4) ** (1 / 4)

The last line brings what may exceed 1 into [0, 1): nearly itself while it is small, the same order throughout.
Everything is on an absolute scale: no other row changes the score of a row, so a weak answer has a weak score. All
constants are fitted on the tuning sets (docs/quality.md).
"""

import msgspec
import numpy as np

from muisti.core.index.collection import CollectionStatistics
from muisti.core.index.context import in_context
from muisti.core.index.dense import QueryVector, cosines
from muisti.core.index.dialogue import OUTSIDE
from muisti.core.index.lexical import Matches
from muisti.core.index.postings import UNIT
from muisti.core.index.snapshot import RowNumbers, Snapshot
from muisti.core.kernels import Doubles
from muisti.core.kernels import blend as loops
from muisti.core.query.query import Wanted

LATE = 0.2  # what words lose that a memory says late
ORDER = 0.4  # what words gain that stand together as in the query
USUAL_K1 = 1.2  # at which words and meaning are in balance
UTTERANCE = 5.0  # squared words: a turn of a dialogue that is shorter says little

EXPLAINED = ("around", "late", "order", "brevity", "speaker")


class Blend(msgspec.Struct, frozen=True):
    """The parts of each row's score, as in the formula above; `words` are those of the row and of what is around it.

    `covered` is the share of the query's idf whose words the row has, however seldom; the score has no use for it.
    """

    scale: float
    lexical: Doubles
    cosine: Doubles
    around: Doubles
    late: Doubles
    order: Doubles
    covered: Doubles
    brevity: Doubles
    speaker: Doubles
    words: Doubles
    fused: Doubles

    def parts(self, place: int) -> dict[str, float]:
        """The parts of one row that are explained, by name."""
        return {name: float(getattr(self, name)[place]) for name in EXPLAINED} | {"scale": self.scale}


def blended(
    snapshot: Snapshot,
    population: CollectionStatistics,
    wanted: Wanted,
    matches: Matches,
    aim: QueryVector,
    alpha: float,
    rows: RowNumbers,
) -> Blend:
    """Score rows, ascending."""
    c, dialogues = snapshot.columns, snapshot.rows.dialogues
    scale = (matches.norm.k1 + 1) / (USUAL_K1 + 1)
    parts = np.empty((loops.PARTS, len(rows)))
    parts[loops.COSINE] = cosines(snapshot, aim, rows)
    parts[loops.AROUND : loops.COVERED + 1] = in_context(snapshot, population.mask, matches, wanted, rows)
    columns = (c.number, c.length, snapshot.links()[0], dialogues.speaker(), _gains(snapshot, population, wanted.text))
    constants = (UNIT, OUTSIDE, UTTERANCE, scale, LATE, ORDER, alpha)
    loops.blend(rows, matches.scores, *columns, *constants, parts)
    return Blend(scale, *parts)


def _gains(snapshot: Snapshot, population: CollectionStatistics, question: str) -> Doubles:
    """What the rows of each speaker gain, by code, and last those of nobody; empty when none gains anything."""
    speakers = snapshot.rows.dialogues.speakers
    asked = speakers.asked(question, lambda code: population.hears(snapshot.rows, code))
    if not asked:
        return np.empty(0)
    gains = np.zeros(len(speakers.names) + 1)
    for code, gain in asked.items():
        gains[code] = gain
    return gains
