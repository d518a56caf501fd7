"""Rankings beside those of the mode: what they propose, and the factor that they are in a score.

A factor is 1 + weight * score, with a score in [0, 1]. So it lifts what the other rankings have found too, and a
weight of 0 changes nothing.
"""

import numpy as np

from muisti.core.index.snapshot import RowNumbers
from muisti.core.index.space_index import SpaceIndex
from muisti.core.kernels import Doubles
from muisti.core.search.rankings import Asked, Graph, Ranking
from muisti.core.search.refined import Extra
from muisti.core.search.signals import tagged


def proposed(index: SpaceIndex, asked: Asked, extra: Extra | None, most: int) -> RowNumbers | None:
    """Return rows that only options propose: by their tags or by the graph. None for none."""
    if extra is None:
        return None
    rows = tagged(index, asked.snapshot, asked.allowed.mask, extra.options, asked.wanted)
    if asked.walked is None:
        return rows
    best = Graph(asked).best(most)
    return best if rows is None else np.union1d(rows, best)


def by_graph(asked: Asked, rows: RowNumbers, most: int) -> Ranking | None:
    """Return the ranking by the graph, for candidate rows; None where it takes no part."""
    if asked.walked is None:
        return None
    ranker = Graph(asked)
    return Ranking(ranker.best(most), ranker.scores(rows))


def factor(weight: float, scores: Doubles) -> Doubles:
    """Return the factor of a ranking in the score of each row."""
    return 1.0 + weight * scores
