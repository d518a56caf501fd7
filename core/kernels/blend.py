"""Inner loops of the default score (core/search/default_score.py), and of evidence (core/query/evidence.py)."""

import numpy as np

from muisti.core.kernels.context import expand, lend
from muisti.core.kernels.dense import Asked, Planes, rescore
from muisti.core.kernels.target import Doubles, Floats, Ints, Longs, Mask, compiled

# Rows of `parts`.
LEXICAL, COSINE, AROUND, LATE, ORDER, COVERED, BREVITY, SPEAKER, WORDS, RELATED, CONTEXT, EXPANSION, FUSED = range(13)
PARTS = 13
MOST_TAKEN = 0.9  # share of a total that an expansion may take


@compiled
def meant(
    planes: Planes,
    asked: Asked,
    others: Planes,
    other: Asked,
    share: float,
    rows: Longs,
    scores: Floats,
    numbers: Ints,
    versions: Longs,
    lengths: Ints,
    links: tuple[Ints, Ints],
    visible: Mask,
    talks: bool,
    speakers: Ints,
    gains: Doubles,
    own: Mask,
    turn: float,
    feedback: float,
    constants: tuple[float, int, float, float, float, float, float],
    cosines: Doubles,
    parts: Doubles,
) -> float:
    """Complete `parts`, of which words have filled `AROUND` to `COVERED` and `RELATED`, and return the `level`.

    Fill `cosines` (3, rows) with those by the space's model, those by its second model and the share of these. Without
    a second model `others` have no rows. Turns add to others where most rows are turns (`talks`). Only rows that `own`
    flags may expand the query; when it is empty, all may. `constants` are those of `blend`, from `unit` on.
    """
    size, two = rows.size, others[1].size > 0
    near, sums, around = np.empty((size if talks else 0, 2), np.int64), np.ones(size), np.zeros(size)
    cosines[1], cosines[2] = 0.0, 0.0
    rescore(*planes, asked[0], asked[1], rows, cosines[0])
    if two:
        rescore(*others, other[0], other[1], rows, cosines[1])
    if talks:
        lend(planes, asked, rows, numbers, versions, links, visible, turn, cosines[0], near, sums, around)
    for i in range(size):
        cosines[2, i] = share if two and others[1][rows[i]] > 0 else 0.0
        parts[COSINE, i] = (1 - cosines[2, i]) * cosines[0, i] + cosines[2, i] * cosines[1, i]
        parts[CONTEXT, i] = (1 - cosines[2, i]) * around[i]
    _, _, _, scale, late, order, alpha = constants
    blend(rows, scores, numbers, lengths, links[0], speakers, gains, *constants, parts)
    best, highest = -1, 0.0
    for i in range(size):
        if parts[FUSED, i] > highest and (own.size == 0 or own[i]):
            best, highest = i, parts[FUSED, i]
        around[i] += cosines[0, i]
    if best < 0 or feedback == 0:
        return 1.0
    expand(planes, asked[2], feedback, rows, around, best, near, sums, turn, parts[EXPANSION])
    if two:
        added = np.empty(size)
        expand(others, other[2], feedback, rows, cosines[1], best, near[:0], sums, turn, added)
        for i in range(size):
            parts[EXPANSION, i] = (1 - cosines[2, i]) * parts[EXPANSION, i] + cosines[2, i] * added[i]
    level = leveled(scale, late, order, alpha, best, parts)
    fuse(scale, late, order, alpha, level, parts)
    return level


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
    """Complete `parts` (PARTS, rows), after the caller has filled `COSINE` to `COVERED`, `RELATED` and `CONTEXT`.

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
    """Compute the row `FUSED` of `parts` from the others; all totals are multiplied by `level`.

    An expansion that would take more than `MOST_TAKEN` of a total is cut to that, so no hit falls to 0.
    """
    for i in range(parts.shape[1]):
        first = _total(scale, late, order, alpha, i, parts)
        if first > 0 and alpha * parts[EXPANSION, i] < -MOST_TAKEN * first:
            parts[EXPANSION, i] = -MOST_TAKEN * first / alpha
        total = first + alpha * parts[EXPANSION, i]
        total = max(level * total * parts[BREVITY, i] * (1 + parts[SPEAKER, i]), 0.0)
        parts[FUSED, i] = total / (1 + total**4) ** 0.25


@compiled
def leveled(scale: float, late: float, order: float, alpha: float, best: int, parts: Doubles) -> float:
    """Return the `level` with which the row at the place `best` has the total that it has without an expansion."""
    total = _total(scale, late, order, alpha, best, parts)
    return total / (total + alpha * parts[EXPANSION, best])


@compiled
def _total(scale: float, late: float, order: float, alpha: float, i: int, parts: Doubles) -> float:
    """Return the sum of words and meaning of a row, without an expansion."""
    words = parts[WORDS, i] + scale * (parts[RELATED, i] + order * parts[ORDER, i] - late * parts[LATE, i])
    return (1 - alpha) * words + alpha * (parts[COSINE, i] + parts[CONTEXT, i])


# The inner loop of the strength of an answer, see core/query/evidence.py for its formula


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


# The signs that a question is answered, and how close each hit is to the best, see core/query/applies.py


@compiled
def close(
    every: Doubles,
    covered: Doubles,
    first: Longs,
    places: Longs,
    rows: Longs,
    numbers: Ints,
    before: Ints,
    outside: int,
    spread: float,
    steep: float,
    wordless: float,
    out: Doubles,
) -> None:
    """Fill `out` with the closeness of the hits at `places` of the candidates, whose scores are `every`.

    The best is at `first[0]`. A turn has its share of the best score to the power of `spread`, any other hit to that
    of `steep`. Without links of turns, `before` is empty.
    """
    best, most = every[first[0]], covered[first[0]] + wordless
    for i in range(places.size):
        place = places[i]
        share = max(min(every[place] / best, 1.0), 0.0) if best > 0 else 1.0
        row = rows[place]
        if before.size > 0 and before[row - numbers[row]] != outside:
            out[i] = share**spread
        else:
            words = min(1.0, (covered[place] + wordless) / most)
            out[i] = share**steep * words ** ((steep - 1.0) / 2)


@compiled
def signs(meaning: Doubles, covered: Doubles, order: Doubles, first: Longs) -> tuple[float, float, float]:
    """Return the largest cosine, share of words and share of word pairs of the candidates at the places `first`."""
    near, most, pairs = -np.inf, -np.inf, -np.inf
    for i in range(first.size):
        place = int(first[i])
        near, most, pairs = max(near, meaning[place]), max(most, covered[place]), max(pairs, order[place])
    return near, most, pairs


def bake() -> None:
    """Compile for the types that the index uses."""
    longs, ints, floats, doubles = np.zeros(1, np.int64), np.zeros(1, np.int32), np.ones(1, np.float32), np.ones(1)
    weights = (0.01, -2, 5.0, 1.0, 0.2, 0.4, 0.5)
    blend(longs, floats, ints, ints, ints, ints, doubles, *weights, np.zeros((PARTS, 1)))
    planes = (np.ones((2, 8), np.int8), np.ones(2, np.float32), np.ones((2, 8), np.int8), np.ones(2, np.float32))
    asked, mask, links = (np.zeros(8, np.int16), 1.0, 1.0), np.ones(1, np.bool_), (ints - 1, ints - 1)
    columns = (longs, floats, ints, longs, ints, links, mask, True, ints, doubles, mask)
    meant(planes, asked, planes, asked, 0.5, *columns, 0.2, 0.3, weights, np.zeros((3, 1)), np.zeros((PARTS, 1)))
    fuse(1.0, 0.2, 0.4, 0.5, 1.0, np.zeros((PARTS, 1)))
    leveled(1.0, 0.2, 0.4, 0.5, 0, np.ones((PARTS, 1)))
    ones = np.ones(1)
    close(ones, ones, longs, longs, longs, ints, ints, -2, 0.7, 2.5, 0.15, ones.copy())
    signs(ones, ones, ones, longs)
    standing(np.ones(1, np.int64), ones, ones, ones, ones, ones, (0.5, 0.5, 0.5), 5)
