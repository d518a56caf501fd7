"""The inner loop of the default score, see core/search/blend.py for its formula."""

import numpy as np

from muisti.core.kernels.target import Doubles, Floats, Ints, Longs, compiled

LEXICAL, COSINE, AROUND, LATE, ORDER, COVERED, BREVITY, SPEAKER, WORDS, FUSED = range(10)  # rows of `parts`
PARTS = 10


@compiled
def blend(
    rows: Longs,
    scores: Floats,
    numbers: Ints,
    lengths: Ints,
    before: Ints,
    speakers: Ints,
    gains: Doubles,
    unit: float,
    outside: int,
    utterance: float,
    scale: float,
    late: float,
    order: float,
    alpha: float,
    parts: Doubles,
) -> None:
    """Complete `parts` (PARTS, rows), whose rows `COSINE` to `COVERED` the caller has filled.

    `gains` has the gain of each speaker, by code, and last that of rows without a speaker. It is empty when no speaker
    gains anything.
    """
    for i in range(rows.size):
        row = rows[i]
        brevity, speaker = 1.0, 0.0
        if before.size > 0 and before[row - numbers[row]] != outside:
            squared = (unit * lengths[row]) ** 2
            brevity = squared / (squared + utterance)
        if gains.size > 0:
            speaker = gains[speakers[row]]
        words = scale * (scores[row] + parts[AROUND, i])
        adjusted = words + scale * (order * parts[ORDER, i] - late * parts[LATE, i])
        total = max(((1 - alpha) * adjusted + alpha * parts[COSINE, i]) * brevity * (1 + speaker), 0.0)
        parts[LEXICAL, i] = scores[row]
        parts[COVERED, i] = max(parts[COVERED, i], scores[row])  # words in other fields count by their weight
        parts[BREVITY, i], parts[SPEAKER, i] = brevity, speaker
        parts[WORDS, i] = words
        parts[FUSED, i] = total / (1 + total**4) ** 0.25


def bake() -> None:
    """Compile for the types that the index uses."""
    longs, ints, floats, doubles = np.zeros(1, np.int64), np.zeros(1, np.int32), np.ones(1, np.float32), np.ones(1)
    weights = (0.01, -2, 5.0, 1.0, 0.2, 0.4, 0.5)
    blend(longs, floats, ints, ints, ints, ints, doubles, *weights, np.zeros((PARTS, 1)))
