"""Calibrate the probabilities of spans by the sets that the tagger is tuned on."""

from collections.abc import Sequence

import numpy as np

from deploy.tagger.data import Sentence
from muisti.core.graph.entities.spans import spans
from muisti.core.graph.entities.tagger import Tagger
from muisti.core.kernels import Doubles

BINS = 8
LOWEST, HIGHEST = 0.05, 0.99


def knots(tagger: Tagger, sentences: Sequence[Sentence]) -> Doubles:
    """Return shares, ascending, and how many of the spans with about such a share are right: (2, n).

    The spans are cut into bins of equal size, and neighbouring bins are joined until precision ascends.
    """
    pairs: list[tuple[float, bool]] = []
    for sentence in sentences:
        right = {(start, stop) for start, stop, _ in sentence.spans}
        pairs += [(span.share, (span.start, span.stop) in right) for span in spans(*tagger.tag(sentence.words))]
    pairs.sort()
    bins = [(share.mean(), right.mean(), len(share)) for share, right in _bins(np.array(pairs))]
    joined: list[tuple[float, float, int]] = []
    for one in bins:
        joined.append(one)
        while len(joined) > 1 and joined[-2][1] >= joined[-1][1]:
            second, first = joined.pop(), joined.pop()
            count = first[2] + second[2]
            mean, right = ((first[i] * first[2] + second[i] * second[2]) / count for i in (0, 1))
            joined.append((mean, right, count))
    shares = np.array([(0.0, LOWEST), *((mean, right) for mean, right, _ in joined)])
    return np.clip(shares, 0, HIGHEST).T


def _bins(pairs: Doubles) -> list[tuple[Doubles, Doubles]]:
    return [(part[:, 0], part[:, 1]) for part in np.array_split(pairs, BINS)]
