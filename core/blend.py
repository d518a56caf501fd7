"""The default score: the words of a query and its meaning, as they stand in a row and around it.

    words = scale * (lexical + around - LATE * late + ORDER * order)
    total = ((1 - alpha) * words + alpha * cosine) * brevity * (1 + speaker)
    fused = softened(total)

Everything is on an absolute scale: no other row changes the score of a row, so a weak answer has a weak score. All
constants are fitted on the tuning sets (docs/quality.md).
"""

from dataclasses import dataclass, fields

import numpy as np
import numpy.typing as npt

from core.fuse import softened
from core.index.context import MISSING, in_context, neighbours
from core.index.dialogue import OUTSIDE
from core.index.lexical import Matches
from core.index.postings import UNIT
from core.index.snapshot import RowNumbers, Snapshot
from core.kernels import Mask
from core.query import Wanted

LATE = 0.2  # what words lose that a memory says late
ORDER = 0.4  # what words gain that stand together as in the query
USUAL_K1 = 1.2  # at which words and meaning are in balance
UTTERANCE = 5.0  # squared words: a turn of a dialogue that is shorter says little
BESIDE = 2  # steps from a row with words of the query to a row that may answer it

Scores = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Blend:
    """The parts of each row's score, as in the formula above; `words` are those of the row and of what is around it."""

    around: Scores
    late: Scores
    order: Scores
    brevity: Scores
    speaker: Scores
    scale: Scores
    words: Scores
    fused: Scores

    def of(self, places: RowNumbers) -> "Blend":
        """The parts of some of the rows."""
        return Blend(*(getattr(self, field.name)[places] for field in fields(self)))

    def parts(self, place: int) -> dict[str, float]:
        """The parts of one row by name."""
        return {field.name: float(getattr(self, field.name)[place]) for field in fields(self)[:-2]}


def with_neighbours(
    snapshot: Snapshot, visible: Mask, rows: RowNumbers, lexical: RowNumbers, allowed: Mask
) -> RowNumbers:
    """The rows, and those beside the lexical ones in a dialogue; ascending."""
    beside = neighbours(snapshot, visible, lexical, BESIDE)
    if beside is None:
        return rows
    found = beside[beside != MISSING]
    return np.unique(np.concatenate([rows, found[allowed[found]]]))


def blended_scores(
    snapshot: Snapshot,
    visible: Mask,
    wanted: Wanted,
    matches: Matches,
    alpha: float,
    rows: RowNumbers,
    lexical: Scores,
    cosine: Scores,
) -> Blend:
    """Score rows, ascending, whose `lexical` and `cosine` are known."""
    context = in_context(snapshot, visible, matches, wanted.terms, wanted.words, rows)
    scale = (matches.norm.k1 + 1) / (USUAL_K1 + 1)
    said = scale * (lexical + context.around)
    words = said + scale * (ORDER * context.order - LATE * context.late)
    brevity, speaker = _brevity(snapshot, rows), _speaker(snapshot, wanted.text, rows)
    fused = softened(((1 - alpha) * words + alpha * cosine) * brevity * (1 + speaker))
    return Blend(
        around=context.around,
        late=context.late,
        order=context.order,
        brevity=brevity,
        speaker=speaker,
        scale=np.full(len(rows), scale),
        words=said,
        fused=fused,
    )


def _brevity(snapshot: Snapshot, rows: RowNumbers) -> Scores:
    """Below 1 for short turns of a dialogue."""
    columns = snapshot.rows
    if not columns.dialogues.linked:
        return np.ones(len(rows))
    first = rows - columns.number.view()[rows]
    squared = (UNIT * columns.length.view()[rows]) ** 2
    return np.where(columns.dialogues.before()[first] == OUTSIDE, 1.0, squared / (squared + UTTERANCE))


def _speaker(snapshot: Snapshot, question: str, rows: RowNumbers) -> Scores:
    """What each row gains by who says it."""
    dialogues = snapshot.rows.dialogues
    asked = dialogues.speakers.asked(question)
    gains = np.zeros(len(dialogues.speakers.names) + 1)  # the last is of rows without a speaker
    for code, gain in asked.items():
        gains[code] = gain
    return gains[dialogues.speaker()[rows]] if asked else np.zeros(len(rows))
