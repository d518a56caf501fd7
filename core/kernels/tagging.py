"""The inner loop of the tagger of entities: scores of tags from remembered words, the best sequence, and probabilities.

A word has a table (places, hidden + tags). A row of it is added, at one place of the window, to the hidden layer and
to the scores of the tags. Sums of such rows replace the multiplication by the first layer.
"""

import numpy as np
import numpy.typing as npt

from muisti.core.kernels.target import Doubles, Floats, Ints, Longs, compiled

Shorts = npt.NDArray[np.int16]

UNIT = 1 / 512  # of the numbers in the table
LANES = 16  # columns of `hidden`, so that whole vectors are multiplied; those above the tags are 0


@compiled
def tag(
    slots: Longs,
    marks: Longs,
    table: Shorts,
    shapes: Longs,
    marked: Floats,
    hidden: Floats,
    pairs: Floats,
    transitions: Doubles,
    path: Longs,
    shares: Doubles,
) -> None:
    """Fill `path` (words,) with the best sequence of tags, and `shares` (words, tags) with each tag's probability.

    `slots` are the words' places in `table` (slots, places, hidden + tags) and `shapes`. Bit i of a word's `marks` adds
    row i of `marked` (bits + 1, hidden) to the hidden layer; the last row always counts. `hidden` (hidden, LANES)
    leads from that layer to the tags. `pairs` (2, shapes², tags) adds to a tag by the shapes of the word and of a
    neighbour: the one before, the one after. `transitions` (tags + 1, tags) has a last row for the first word.
    """
    count, tags = shares.shape
    scores = np.empty((count, tags))
    _score(slots, marks, table, shapes, marked, hidden, pairs, scores)
    _best(scores, transitions, path)
    _probabilities(scores, np.exp(transitions), shares)


@compiled
def _score(
    slots: Longs,
    marks: Longs,
    table: Shorts,
    shapes: Longs,
    marked: Floats,
    hidden: Floats,
    pairs: Floats,
    scores: Doubles,
) -> None:
    count, places = slots.size, table.shape[1]
    units, tags = hidden.shape[0], scores.shape[1]
    total, layer = np.empty(units + tags, np.int32), np.empty(units, np.float32)
    sums = np.empty(LANES, np.float32)
    classes = np.int64(np.sqrt(pairs.shape[1]))
    for i in range(count):
        total[:] = 0
        for place in range(places):
            at = i + place - places // 2
            if 0 <= at < count:
                row = table[slots[at], place]
                for d in range(row.size):
                    total[d] += row[d]
        own = shapes[slots[i]]
        before = shapes[slots[i - 1]] if i > 0 else 0
        after = shapes[slots[i + 1]] if i + 1 < count else 0
        for t in range(tags):
            direct = np.float64(total[units + t]) * UNIT
            scores[i, t] = direct + pairs[0, before * classes + own, t] + pairs[1, own * classes + after, t]
        layer[:] = marked[-1]
        _through(total, marks[i], marked, hidden, layer, sums)
        for t in range(tags):
            scores[i, t] += np.float64(sums[t])


@compiled
def _through(total: Ints, bits: int, marked: Floats, hidden: Floats, layer: Floats, sums: Floats) -> None:
    """Fill `sums` with what comes through the hidden layer, whose negative units are 0."""
    for bit in range(marked.shape[0] - 1):
        if bits >> bit & 1:
            layer += marked[bit]
    sums[:] = 0
    for d in range(layer.size):
        value = layer[d] + np.float32(total[d]) * np.float32(UNIT)
        if value > 0:
            for t in range(LANES):
                sums[t] += value * hidden[d, t]


@compiled
def _best(scores: Doubles, transitions: Doubles, path: Longs) -> None:
    count, tags = scores.shape
    best, following = scores[0] + transitions[tags], np.empty(tags)
    origins = np.zeros((count, tags), np.int64)
    for i in range(1, count):
        for t in range(tags):
            origin = 0
            for s in range(1, tags):
                if best[s] + transitions[s, t] > best[origin] + transitions[origin, t]:
                    origin = s
            origins[i, t] = origin
            following[t] = best[origin] + transitions[origin, t] + scores[i, t]
        best[:] = following
    path[count - 1] = np.argmax(best)
    for i in range(count - 1, 0, -1):
        path[i - 1] = origins[i, path[i]]


@compiled
def _probabilities(scores: Doubles, factors: Doubles, shares: Doubles) -> None:
    """Fill `shares` by the forward-backward algorithm; `factors` are the exponentials of the transitions."""
    count, tags = scores.shape
    ahead = np.empty((count, tags))
    for i in range(count):
        local = np.exp(scores[i] - scores[i].max())
        for t in range(tags):
            mass = factors[tags, t] if i == 0 else 0.0
            if i > 0:
                for s in range(tags):
                    mass += ahead[i - 1, s] * factors[s, t]
            ahead[i, t] = mass * local[t]
        ahead[i] /= ahead[i].sum()
    behind, earlier = np.ones(tags), np.empty(tags)
    for i in range(count - 1, -1, -1):
        shares[i] = ahead[i] * behind
        shares[i] /= shares[i].sum()
        local = np.exp(scores[i] - scores[i].max()) * behind
        for s in range(tags):
            earlier[s] = 0.0
            for t in range(tags):
                earlier[s] += factors[s, t] * local[t]
        behind[:] = earlier / earlier.max()


def bake() -> None:
    """Compile for the types that the tagger uses."""
    slots, shapes, path = np.zeros((3, 2), np.int64)
    table, pairs = np.zeros((1, 5, 4), np.int16), np.zeros((2, 4, 2), np.float32)
    marked, hidden = np.zeros((2, 2), np.float32), np.zeros((2, LANES), np.float32)
    tag(slots, slots, table, shapes, marked, hidden, pairs, np.zeros((3, 2)), path, np.empty((2, 2)))
