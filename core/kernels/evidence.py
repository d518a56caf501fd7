"""The inner loop of the strength of an answer, see core/query/evidence.py for its formula."""

import numpy as np

from muisti.core.kernels.target import Doubles, Longs, compiled


@compiled
def standing(
    memories: Longs,
    covered: Doubles,
    words: Doubles,
    pairs: Doubles,
    meaning: Doubles,
    persons: Doubles,
    weights: tuple[float, float, float],
    rival: int,
) -> tuple[float, float, float]:
    """Return the largest `covered + pairs` of a row, the lead of the best memory, and the largest `meaning`.

    A row scores (words + weights[0] * pairs + weights[1] * meaning) * (1 + weights[2] * persons). A memory has the
    score of its best row. The lead is the distance from the best memory to the one at place `rival`, or to the last
    when there are fewer.
    """
    best, whose = np.full(rival, -np.inf), np.full(rival, -1, np.int64)
    found, most, nearest = 0, -np.inf, -np.inf
    for i in range(memories.size):
        most, nearest = max(most, covered[i] + pairs[i]), max(nearest, meaning[i])
        score = (words[i] + weights[0] * pairs[i] + weights[1] * meaning[i]) * (1.0 + weights[2] * persons[i])
        place = 0
        while place < found and whose[place] != memories[i]:
            place += 1
        if place < found and best[place] >= score:
            continue
        if place == found:
            if found < rival:
                found += 1
            elif best[found - 1] >= score:
                continue
            place = found - 1
        while place > 0 and best[place - 1] < score:
            best[place], whose[place] = best[place - 1], whose[place - 1]
            place -= 1
        best[place], whose[place] = score, memories[i]
    return most, best[0] - best[found - 1], nearest


def bake() -> None:
    """Compile for the types that the index uses."""
    ones = np.ones(1)
    standing(np.ones(1, np.int64), ones, ones, ones, ones, ones, (0.5, 0.5, 0.5), 5)
