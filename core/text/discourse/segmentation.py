"""Boundaries where the topics of a conversation change.

A break comes first: a long pause or a new session always ends a topic. Between breaks, topics are the segmentation of
least cost. A short turn says little by itself: its vector counts by its number of words up to `FULL`. Each turn takes
`NEAR` of the turns before and after it. A segment of n such unit vectors with the sum s costs n - |s|²/n, the scatter
about its mean, and each segment costs `PENALTY` more. Dynamic programming finds the least cost, a turn at a time,
without the latest turn.

A boundary is final when the segmentations after `AGREEMENT` turns in a row begin with it. What comes after a final
boundary depends on the turns since it alone. So the final boundaries are the same however turns are grouped into
batches. A `Segmenter` can be made again from the turns of the open topic.

Change points by dynamic programming: Jackson et al., "An algorithm for optimal partitioning of data on an interval",
2005. For topics of text: Utiyama and Isahara, "A statistical model for domain-independent text segmentation", 2001.
"""

from collections import deque
from collections.abc import Collection, Sequence

import numpy as np
import numpy.typing as npt

PENALTY = 2.75  # cost of a segment beside its scatter
FULL = 12  # words of a turn that counts fully
NEAR = 0.4  # of the vectors of both neighbours that is added to a turn's
AGREEMENT = 5  # turns in a row whose best segmentations begin with the same boundary
WINDOW = 120  # turns back to which a boundary may still move
PAUSE = 3_600 * 1_000_000  # microseconds without a turn that end a topic

Vector = npt.NDArray[np.float32]  # (dimensions,), of unit length, or zeros
Vectors = npt.NDArray[np.float32]  # (turns, dimensions)


class Segmenter:
    """Finds topics while turns come in. Positions count the turns from 0. Not thread-safe."""

    def __init__(self, dimensions: int, *, penalty: float = PENALTY, agreement: int = AGREEMENT) -> None:
        self._dimensions = dimensions
        self._penalty = penalty
        self._agreement = agreement
        self._restart(0)

    @property
    def turns(self) -> int:
        """The number of turns so far."""
        return self.start + self._stretch.turns

    @property
    def tentative(self) -> list[int]:
        """Boundaries of the best segmentation since `start` that may still change, in order."""
        return [self.start + place for place in self._stretch.boundaries()]

    def add(self, vector: Vector, words: int, *, breaks: bool = False) -> list[int]:
        """Take the next turn, of so many words, and return the boundaries that are final by it, in order.

        A boundary is the position of the first turn of a topic. `breaks`: the turn comes after a break.
        """
        final = self._end() if breaks and self._stretch.turns else []
        waiting = deque([vector * np.float32(min(1.0, words / FULL))])
        while waiting:
            self._stretch.add(waiting.popleft())
            place = self._settled()
            if place:
                waiting.extendleft(reversed(self._stretch.since(place)))
                self._restart(self.start + place)
                final.append(self.start)
        return final

    def _end(self) -> list[int]:
        """Make all boundaries final, and one before the next turn."""
        final = [*self.tentative, self.turns]
        self._restart(self.turns)
        return final

    def _restart(self, start: int) -> None:
        self.start = start
        """The position of the first turn after the last final boundary."""
        self._stretch = _Stretch(self._dimensions, self._penalty)
        self._first = 0
        self._agreed = 0

    def _settled(self) -> int:
        """Return the place of the first boundary if it is final, else 0. Called once a turn."""
        first = next(iter(self._stretch.boundaries()), 0)
        self._agreed = self._agreed + 1 if first == self._first else 1
        self._first = first
        fixed = self._agreed >= self._agreement or self._stretch.turns - first >= WINDOW
        return first if fixed else 0


class _Stretch:
    """Turns with no final boundary among them, and the least cost of their first j for each j, but for the latest."""

    def __init__(self, dimensions: int, penalty: float) -> None:
        self.turns = 0
        self._penalty = penalty
        # Sums of the first turns, none and the last WINDOW of them, with their squared lengths and least costs.
        self._sums = np.zeros((1, dimensions), np.float64)
        self._squares = np.zeros(1)
        self._costs = np.full(1, -penalty)
        self._places = np.zeros(1, np.int64)
        self._cuts = [0]
        self._recent: deque[Vector] = deque(maxlen=WINDOW + 2)

    def add(self, vector: Vector) -> None:
        """Take a turn, after which the one before it has both neighbours."""
        self.turns += 1
        self._recent.append(vector)
        if self.turns > 1:
            self._extend(smoothed([*self._recent][-3:], -2))

    def boundaries(self) -> list[int]:
        """Return the boundaries of the best segmentation, in order, without the start."""
        found: list[int] = []
        place = self._cuts[-1]
        while place:
            found.append(place)
            place = self._cuts[place]
        return found[::-1]

    def since(self, place: int) -> list[Vector]:
        """Return what was taken from a place on, at most the last `WINDOW` turns."""
        recent = list(self._recent)
        return recent[len(recent) - (self.turns - place) :]

    def _extend(self, vector: Vector) -> None:
        """Choose where the last segment of the best segmentation begins, with one turn more."""
        total = self._sums[-1] + vector
        square = float(total @ total)
        length = len(self._cuts)
        lengths = length - self._places
        scatter = lengths - (square - 2 * (self._sums @ total) + self._squares) / lengths
        costs = self._costs + scatter + self._penalty
        best = int(costs.argmin())
        self._cuts.append(int(self._places[best]))
        kept = np.r_[0, max(1, len(self._places) - WINDOW + 1) : len(self._places)]
        self._sums = np.vstack([self._sums[kept], total])
        self._squares = np.append(self._squares[kept], square)
        self._costs = np.append(self._costs[kept], costs[best])
        self._places = np.append(self._places[kept], length)


def smoothed(turns: Sequence[Vector], at: int) -> Vector:
    """Return the unit vector of a turn with a share of its neighbours; zeros where all are."""
    at %= len(turns)
    total = turns[at] + NEAR * sum((turns[near] for near in (at - 1, at + 1) if 0 <= near < len(turns)), np.float32(0))
    length = float(np.linalg.norm(total))
    return total / np.float32(length) if length else total


def segment(
    vectors: Vectors,
    words: Sequence[int],
    breaks: Collection[int] = (),
    *,
    penalty: float = PENALTY,
    agreement: int = AGREEMENT,
) -> list[int]:
    """Return the boundaries of a whole conversation: what is final after its last turn, then what is best.

    >>> segment(np.repeat(np.eye(2, dtype=np.float32), [8, 8], axis=0), [20] * 16)
    [8]
    """
    segmenter = Segmenter(vectors.shape[1], penalty=penalty, agreement=agreement)
    final = [
        place
        for turn, (vector, many) in enumerate(zip(vectors, words, strict=True))
        for place in segmenter.add(vector, many, breaks=turn in breaks)
    ]
    return final + segmenter.tentative


def pauses(times: Sequence[int | None], pause: int = PAUSE) -> list[int]:
    """Return the positions of turns that come more than `pause` after the latest before them; times in microseconds.

    >>> pauses([0, 5, 100, None, 101, 300], pause=50)
    [2, 5]
    """
    found: list[int] = []
    latest: int | None = None
    for turn, at in enumerate(times):
        if at is None:
            continue
        if latest is not None and at - latest > pause:
            found.append(turn)
        latest = at if latest is None else max(latest, at)
    return found
