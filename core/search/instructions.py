"""The lane of standing instructions beside the hits: those that apply to a query, best first.

They are judged by their scope clause, not by the ranking of the hits: "Always cite versions when I ask about libraries"
has little in common with "What does this project use?". The same memories may be hits as well.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

import numpy as np

from muisti.core.embedding.encoder import Encoder
from muisti.core.index.dense import QueryVector
from muisti.core.index.instructions import NOWHERE, Known
from muisti.core.index.snapshot import Snapshot
from muisti.core.index.space_index import SpaceIndex
from muisti.core.kernels import Mask
from muisti.core.kernels import instructions as loops
from muisti.core.model.hits import Instruction
from muisti.core.model.values import Memory, Stretch

LEAST = 0.1  # cosine from which an instruction applies; one without a scope always does


class Lane(NamedTuple):
    """The instructions that apply, best first: the version id, the place among those `known`, and the score of each."""

    known: Known | None = None
    versions: Sequence[int] = ()
    places: Sequence[int] = ()
    scores: Sequence[float] = ()

    def of(self, fetched: Mapping[int, Memory]) -> tuple[Instruction, ...]:
        """Return the instructions; `fetched` has the memories by version id."""
        known = self.known
        if known is None:
            return ()
        return tuple(
            Instruction(
                memory=fetched[version],
                reason="type" if known.typed[place] else "rule",
                scope=None if known.scopes[place][0] == NOWHERE else Stretch(*known.scopes[place]),
                score=round(score, 4),
            )
            for version, place, score in zip(self.versions, self.places, self.scores, strict=True)
        )


NO_LANE = Lane()


def applying(
    index: SpaceIndex,
    snapshot: Snapshot,
    encoder: Encoder,
    question: Callable[[], QueryVector],
    visible: Callable[[], Mask],
    most: int,
) -> Lane:
    """Return at most so many of the instructions that apply to a question.

    `question` is its vector by the encoder; `visible` has a flag for each row. They are called when there are
    instructions.
    """
    known = index.instructions.of(snapshot, encoder)
    if known is None or not len(known.versions):
        return NO_LANE
    asked, v = question(), known.vectors
    places, scores = np.empty(most, np.int64), np.empty(most)
    planes = (v.codes, v.scales, v.fine, v.fine_scales, asked.codes, asked.step)
    found = loops.applying(*planes, known.everywhere, known.rows_in(snapshot), visible(), LEAST, places, scores)
    if not found:
        return NO_LANE
    best = places[:found]
    return Lane(known, known.versions[best].tolist(), best.tolist(), scores[:found].tolist())
