"""Inner loops over postings and terms."""

import numpy as np

from core.kernels.target import Floats, Ints, Longs, Mask, compiled


@compiled
def count(docs: Ints, start: int, stop: int, visible: Mask) -> int:
    """How many of `docs[start:stop]` are visible."""
    total = 0
    for p in range(start, stop):
        if visible[docs[p]]:
            total += 1
    return total


@compiled
def accumulate(
    docs: Ints, tf: Floats, start: int, stop: int, weight: float, norms: Floats, allowed: Mask, out: Floats
) -> None:
    """Add `weight * tf / (tf + norm)` to every allowed row of a posting list."""
    for p in range(start, stop):
        row = docs[p]
        if allowed[row]:
            out[row] += np.float32(weight) * tf[p] / (tf[p] + norms[row])


@compiled
def has_sequence(starts: Longs, tokens: Ints, rows: Longs, pattern: Ints, out: Mask) -> None:
    """Whether `pattern` stands, unbroken, among the tokens of each row."""
    for i in range(rows.size):
        found = False
        for at in range(starts[rows[i]], starts[rows[i] + 1] - pattern.size + 1):
            same = True
            for j in range(pattern.size):
                if tokens[at + j] != pattern[j]:
                    same = False
                    break
            if same:
                found = True
                break
        out[i] = found


def bake() -> None:
    """Compile for the types that the index uses."""
    floats, ints, mask = np.ones(2, np.float32), np.zeros(2, np.int32), np.ones(2, np.bool_)
    count(ints, 0, 2, mask)
    accumulate(ints, floats, 0, 2, 1.0, floats, mask, floats.copy())
    has_sequence(np.array([0, 2], np.int64), ints, np.zeros(1, np.int64), ints[:1], mask.copy())
