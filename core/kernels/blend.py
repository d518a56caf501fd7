"""The inner loop of the default score, see core/search/blend.py for its formula."""

import numpy as np

from muisti.core.kernels.target import Doubles, Floats, Ints, Longs, compiled

LEXICAL, COSINE, AROUND, LATE, ORDER, COVERED, BREVITY, SPEAKER, WORDS, EXPANSION, FUSED = range(11)  # rows of `parts`
PARTS = 11


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
    """Complete `parts` (PARTS, rows), whose rows `COSINE` to `COVERED` the caller has filled; `EXPANSION` is 0.

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
        parts[LEXICAL, i] = scores[row]
        parts[COVERED, i] = max(parts[COVERED, i], scores[row])  # words in other fields count by their weight
        parts[BREVITY, i], parts[SPEAKER, i] = brevity, speaker
        parts[WORDS, i] = scale * (scores[row] + parts[AROUND, i])
        parts[EXPANSION, i] = 0.0
    fuse(scale, late, order, alpha, 1.0, parts)


@compiled
def fuse(scale: float, late: float, order: float, alpha: float, level: float, parts: Doubles) -> None:
    """Compute the row `FUSED` of `parts` from the others; all totals are multiplied by `level`."""
    for i in range(parts.shape[1]):
        words = parts[WORDS, i] + scale * (order * parts[ORDER, i] - late * parts[LATE, i])
        meaning = parts[COSINE, i] + parts[EXPANSION, i]
        total = level * ((1 - alpha) * words + alpha * meaning) * parts[BREVITY, i] * (1 + parts[SPEAKER, i])
        total = max(total, 0.0)
        parts[FUSED, i] = total / (1 + total**4) ** 0.25


@compiled
def leveled(scale: float, late: float, order: float, alpha: float, best: int, parts: Doubles) -> float:
    """Return the `level` with which the row at the place `best` has the total that it has without an expansion."""
    words = parts[WORDS, best] + scale * (order * parts[ORDER, best] - late * parts[LATE, best])
    total = (1 - alpha) * words + alpha * parts[COSINE, best]
    return total / (total + alpha * parts[EXPANSION, best])


def bake() -> None:
    """Compile for the types that the index uses."""
    longs, ints, floats, doubles = np.zeros(1, np.int64), np.zeros(1, np.int32), np.ones(1, np.float32), np.ones(1)
    weights = (0.01, -2, 5.0, 1.0, 0.2, 0.4, 0.5)
    blend(longs, floats, ints, ints, ints, ints, doubles, *weights, np.zeros((PARTS, 1)))
    fuse(1.0, 0.2, 0.4, 0.5, 1.0, np.zeros((PARTS, 1)))
    leveled(1.0, 0.2, 0.4, 0.5, 0, np.ones((PARTS, 1)))
