"""Places for the nodes of a small graph, the same for the same graph.

Forces are those of Fruchterman and Reingold, "Graph drawing by force-directed placement" (1991): nodes push one another
away, and edges pull. A weak pull towards the centre keeps nodes without edges on the page.
"""

import numpy as np
from numpy.typing import NDArray

from muisti.core.support.waiting import refuse_long

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
