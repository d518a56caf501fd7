"""The inner loops of the tagger of entities: what words add, scores of tags, the best sequence, and probabilities.

A word has a table (places, hidden + tags). A row of it is added, at one place of the window, to the hidden layer and
to the scores of the tags. Sums of such rows replace the multiplication by the first layer.
"""

import numpy as np
import numpy.typing as npt

from muisti.core.kernels.target import Doubles, Floats, Ints, Longs, Packed, compiled

Shorts = npt.NDArray[np.int16]

UNIT = 1 / 512  # of the numbers in the table
TOGETHER = 4  # rows that are multiplied in one pass over a matrix
LONGEST, MOST = 20, 40  # characters of a word, and its n-grams
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


@compiled
def times(left: Floats, right: Floats, out: Floats) -> None:
    """Fill `out` (n, k) with the product of `left` (n, r) and `right` (r, k), on the calling thread.

    A library of matrices starts threads, whose waiting costs more than these few rows.
    """
    count, inner = left.shape
    first = 0
    while first + TOGETHER <= count:
        out[first : first + TOGETHER] = 0
        one, two, three, four = out[first], out[first + 1], out[first + 2], out[first + 3]
        for r in range(inner):
            a, b, c, d = left[first, r], left[first + 1, r], left[first + 2, r], left[first + 3, r]
            row = right[r]
            for k in range(row.size):
                one[k] += a * row[k]
                two[k] += b * row[k]
                three[k] += c * row[k]
                four[k] += d * row[k]
        first += TOGETHER
    for i in range(first, count):
        last = out[i]
        last[:] = 0
        for r in range(inner):
            value, row = left[i, r], right[r]
            for k in range(row.size):
                last[k] += value * row[k]


@compiled
def remember(layer: Floats, hashed: Longs, weights: Floats, ends: Longs, table: Shorts) -> None:
    """Fill rows of `table` (n, places, hidden + tags), in units of `UNIT`.

    `layer` (n, places * hidden) is what words add to the hidden layer. To the tags they add rows of `weights` (hashes,
    tags): those of `hashed` (n, features), of which each place has those up to its `ends`.
    """
    places, tags = table.shape[1], weights.shape[1]
    units = table.shape[2] - tags
    total = np.empty(tags, np.float32)
    for i in range(layer.shape[0]):
        begin = 0
        for place in range(places):
            own = table[i, place]
            for d in range(units):
                own[d] = _short(layer[i, place * units + d])
            total[:] = 0
            for f in range(begin, ends[place]):
                total += weights[hashed[i, f]]
            begin = ends[place]
            for t in range(tags):
                own[units + t] = _short(total[t])


@compiled
def _short(value: float) -> int:
    return int(min(max(np.rint(value / np.float32(UNIT)), -32_767.0), 32_767.0))


@compiled
def grams(letters: Longs, starts: Longs, crc: Packed, out: Floats) -> None:
    """Fill `out` (n, grams) with signs drawn by hashes of the n-grams of 2 to 4 characters of words, summed and scaled.

    Word i is `letters[starts[i]:starts[i + 1]]` in UTF-8, a number for each byte, of which `LONGEST` characters count.
    `crc` is the table of CRC-32.
    """
    columns = out.shape[1]
    sums, edges = np.empty(columns, np.int64), np.empty(LONGEST + 1, np.int64)
    for i in range(starts.size - 1):
        size = 0
        for at in range(starts[i], starts[i + 1]):
            if letters[at] & 192 != 128 and size <= LONGEST:
                edges[size] = at
                size += 1
        if size <= LONGEST:
            edges[size] = starts[i + 1]
        size = min(size, LONGEST)
        sums[:] = 0
        number = 0
        for length in range(2, 5):
            for first in range(size - length + 1):
                if number < MOST:
                    number += 1
                    _draw(letters, edges[first], edges[first + length], crc, sums)
        root = np.sqrt(np.float64(number))
        for column in range(columns):
            out[i, column] = np.float32((2.0 * sums[column] - number) / root)


@compiled
def _draw(letters: Longs, start: int, stop: int, crc: Packed, sums: Longs) -> None:
    """Add the bits of a hash of some letters to `sums`."""
    state = np.uint32(0xFFFFFFFF)
    for at in range(start, stop):
        state = crc[np.int64((state ^ np.uint32(letters[at] & 255)) & np.uint32(255))] ^ (state >> np.uint32(8))
    mixed = np.uint64(state ^ np.uint32(0xFFFFFFFF)) + np.uint64(1)
    mixed *= np.uint64(0x9E3779B97F4A7C15)
    mixed = (mixed ^ (mixed >> np.uint64(29))) * np.uint64(0xBF58476D1CE4E5B9)
    for column in range(sums.size):
        sums[column] += np.int64((mixed >> np.uint64(8 + column)) & np.uint64(1))


def bake() -> None:
    """Compile for the types that the tagger uses."""
    own, found = np.zeros((5, 2), np.float32), np.zeros((5, 10), np.float32)
    times(own, np.zeros((2, 10), np.float32), found)
    learned = np.zeros((5, 5, 4), np.int16)
    remember(found, np.zeros((5, 5), np.int64), own, np.arange(1, 6), learned)
    grams(np.zeros(4, np.int64), np.array([0, 4]), np.zeros(256, np.uint32), np.zeros((1, 4), np.float32))
    slots, shapes, path = np.zeros((3, 2), np.int64)
    table, pairs = np.zeros((1, 5, 4), np.int16), np.zeros((2, 4, 2), np.float32)
    marked, hidden = np.zeros((2, 2), np.float32), np.zeros((2, LANES), np.float32)
    tag(slots, slots, table, shapes, marked, hidden, pairs, np.zeros((3, 2)), path, np.empty((2, 2)))
