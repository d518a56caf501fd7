"""Discounted gain of a ranking whose relevant memories are known."""

import math
from collections.abc import Mapping, Sequence
from itertools import islice


def ndcg(ranked: Sequence[str], relevant: Mapping[str, float], k: int = 10) -> float:
    """Discounted cumulated gain of the first `k` over that of the best possible order: 1 is perfect.

    Gains count as they are, the one at rank r divided by log2(r + 1) (Järvelin and Kekäläinen 2002, as in trec_eval).
    Only the first place of a repeated document counts.

    >>> round(ndcg(["x", "a"], {"a": 3}), 6)
    0.63093

    Raises:
        ValueError: nothing is relevant.
    """
    if not relevant or min(relevant.values()) <= 0:
        raise ValueError("a metric needs relevant documents, with gains above 0")
    gains = [relevant.get(document, 0.0) for document in islice(dict.fromkeys(ranked), k)]
    return min(1.0, _discounted(gains) / _discounted(sorted(relevant.values(), reverse=True)[:k]))


def _discounted(gains: Sequence[float]) -> float:
    return sum(gain / math.log2(rank + 1) for rank, gain in enumerate(gains, start=1))
