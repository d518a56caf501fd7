"""Places for the nodes of a small graph, the same for the same graph.

Forces are those of Fruchterman and Reingold, "Graph drawing by force-directed placement" (1991): nodes push one another
away, and edges pull. A weak pull towards the centre keeps nodes without edges on the page.
"""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from muisti.core.support.waiting import refuse_long
from muisti.core.text.terms import composed

NODES_MAX = 300
ROUNDS = 300
SHORT = 20  # nodes that are placed within a few milliseconds
_START, _END = 0.12, 0.002  # steps of the first and the last round, as shares of the width
_CENTRE = 0.9  # strength of the pull towards the centre
_GOLDEN = np.pi * (3 - 5**0.5)


def layout(
    size: int, edges: NDArray[np.int64], weights: NDArray[np.float64], ratio: float = 1.5
) -> NDArray[np.float64]:
    """Return a place for each of `size` nodes, shape (size, 2), between 0 and 1 in both directions.

    `edges` has shape (n, 2) and the numbers of the ends, `weights` shape (n,). `ratio` is that of width to height.
    Computing takes `size` squared steps in each round: 300 nodes take half a second.
    """
    if size <= 1:
        return np.full((size, 2), 0.5)
    if size > SHORT:
        refuse_long()
    places = _spiral(size, edges)
    length = 0.9 / np.sqrt(size)
    pulls = _pulls(size, edges, weights)
    gaps = np.empty((size, size, 2))
    for step in np.geomspace(_START, _END, ROUNDS):
        np.subtract(places[:, None], places[None], out=gaps)
        squares = np.einsum("abk,abk->ab", gaps, gaps) + 1e-6
        pushed = np.einsum("abk,ab->ak", gaps, length**2 / squares)
        pulled = np.einsum("abk,ab->ak", gaps, pulls * np.sqrt(squares) / length)
        forces = pushed - pulled - _CENTRE * places * np.array([ratio**-0.5, ratio**0.5])
        strength = np.sqrt((forces * forces).sum(1, keepdims=True)) + 1e-9
        places += forces / strength * np.minimum(strength, step)
    low, high = places.min(0), places.max(0)
    return (places - low) / np.maximum(high - low, 1e-9)


def apart(
    places: NDArray[np.float64], sizes: NDArray[np.float64], room: tuple[float, float], gap: float = 4.0
) -> NDArray[np.float64]:
    """Return places where discs with these radii do not overlap, as near as may be; all stay within the room.

    `places` has shape (size, 2). Each round pushes overlapping pairs apart by half of what is missing.
    """
    least, most = sizes[:, None], np.array(room) - sizes[:, None]
    places, needed = places.copy(), sizes[:, None] + sizes[None] + gap
    np.fill_diagonal(needed, 0)
    for _ in range(ROUNDS):
        gaps = places[:, None] - places[None]
        distances = np.sqrt(np.einsum("abk,abk->ab", gaps, gaps)) + 1e-6
        missing = np.maximum(needed - distances, 0)
        if missing.max(initial=0) < 1:
            break
        places += np.einsum("abk,ab->ak", gaps, missing / distances) / 2
        places = np.clip(places, least, most)
    return places


def _spiral(size: int, edges: NDArray[np.int64]) -> NDArray[np.float64]:
    """Put the nodes with most edges in the middle, the others around them."""
    degrees = np.bincount(edges.ravel(), minlength=size)
    rank = np.empty(size)
    rank[np.argsort(-degrees, kind="stable")] = np.arange(size)
    radius = np.sqrt((rank + 0.5) / size) / 2
    return np.stack([radius * np.cos(rank * _GOLDEN), radius * np.sin(rank * _GOLDEN)], 1)


def _pulls(size: int, edges: NDArray[np.int64], weights: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return how strongly each pair is pulled together. Edges of nodes with many edges pull less each."""
    pulls = np.zeros((size, size))
    if not len(edges):
        return pulls
    degrees = np.bincount(edges.ravel(), minlength=size).astype(float)
    ends = np.sqrt(np.minimum(degrees[edges[:, 0]], degrees[edges[:, 1]]))
    np.add.at(pulls, (edges[:, 0], edges[:, 1]), (1 + np.log(weights)) / ends)
    np.fill_diagonal(pulls, 0)
    return pulls + pulls.T


_CHARACTER = 0.62  # width of a character as a share of its size; of East Asian ones it is 1
_GAP = 3.0


class Box(NamedTuple):
    """A rectangle of a picture."""

    left: float
    top: float
    right: float
    bottom: float

    def covers(self, other: "Box") -> bool:
        """Tell whether both have a point in common."""
        apart = self.right <= other.left or other.right <= self.left
        return not (apart or self.bottom <= other.top or other.bottom <= self.top)


class Label(NamedTuple):
    """A name to be written beside a point, `radius` away from it, in letters of a `size`; `style` is a class of CSS."""

    text: str
    x: float
    y: float
    radius: float
    size: float
    style: str = ""

    @property
    def css(self) -> str:
        """Return the attribute that names the style."""
        return f' class="{self.style}"' if self.style else ""


def wide(text: str, size: float) -> float:
    """Return about how wide a text is."""
    return size * sum(1.0 if ord(mark) > 0x2E80 else _CHARACTER for mark in composed(text))


def placed(
    labels: Sequence[Label], taken: list[Box], page: tuple[float, float]
) -> Iterator[tuple[Label, tuple[float, float]]]:
    """Yield the labels that find a free place, the first ones first, with the left end of their base line.

    `taken` are boxes that no label may cover; `page` is width and height.
    """
    for label in labels:
        across = wide(label.text, label.size)
        for left, base in _tries(label, across, page[0]):
            box = Box(left, base - label.size * 0.8, left + across, base + label.size * 0.25)
            inside = box.left >= 0 and box.top >= 0 and box.right <= page[0] and box.bottom <= page[1]
            if inside and not any(box.covers(other) for other in taken):
                taken.append(box)
                yield label, (left, base)
                break


def _tries(label: Label, across: float, width: float) -> Iterator[tuple[float, float]]:
    """Yield places around the point: right, left, below, above, the corners, then below and above within the page.

    The kind of a line is written on the point.
    """
    x, y, size = label.x, label.y, label.size
    away = label.radius + _GAP
    middle = y + size * 0.3
    if label.radius == 0.0:
        yield x - across / 2, middle
        return
    below, above = y + away + size * 0.8, y - away - size * 0.25
    yield x + away, middle
    yield x - away - across, middle
    yield x - across / 2, below
    yield x - across / 2, above
    slant = label.radius * 0.7 + _GAP
    for base in (y + slant + size * 0.5, y - slant):
        yield x + slant, base
        yield x - slant - across, base
    inside = min(max(x - across / 2, 0.0), width - across)
    for far in (0.0, size, 2 * size):
        yield inside, below + far
        yield inside, above - far
