"""The search pipeline once more, slow and plain: every memory scored, nothing indexed, nothing compiled."""

import math
import statistics
from collections import Counter
from collections.abc import Callable, Sequence

import numpy as np

from core.embed import Encoder
from core.index.lexical import K1, length_weight
from core.text import index_terms, normalise, query_terms
from core.values import Memory, Mode

POOL = 50


def lexical(
    memories: Sequence[Memory], visible: Sequence[Memory], chosen: Sequence[Memory], text: str
) -> dict[str, float]:
    """BM25 of each memory over its largest value, with the statistics of the visible ones.

    A term counts towards the largest value when a visible or a chosen memory contains it.
    """
    counts = {m.id: Counter(index_terms(m.content)) for m in memories}
    lengths = {m.id: sum(counts[m.id].values()) for m in memories}
    seen = [lengths[m.id] for m in visible]
    average = statistics.fmean(seen) if seen else 1.0
    b = length_weight(statistics.pstdev(seen) / average if seen else 0.0)
    scores = dict.fromkeys(counts, 0.0)
    total = 0.0
    for term, times in Counter(query_terms(text)).items():
        df = sum(term in counts[m.id] for m in visible)
        idf = math.log(1 + (len(visible) - df + 0.5) / (df + 0.5))
        total += times * idf if df or any(term in counts[m.id] for m in chosen) else 0.0
        for id_, count in counts.items():
            tf = count[term]
            scores[id_] += times * idf * tf / (tf + K1 * (1 - b + b * lengths[id_] / average)) if tf else 0.0
    same = {m.id for m in memories if total and normalise(m.content) == normalise(text)}
    return {id_: 1.0 if id_ in same else score / (total or 1.0) for id_, score in scores.items()}


def cosine(memories: Sequence[Memory], encoder: Encoder, text: str) -> dict[str, float]:
    if not memories:
        return {}
    vectors = encoder.encode([m.content for m in memories])
    return dict(zip((m.id for m in memories), (vectors @ encoder.encode([text])[0]).tolist(), strict=True))


def search(
    memories: Sequence[Memory],
    visible: Callable[[Memory], bool],
    wanted: Callable[[Memory], bool],
    encoder: Encoder,
    text: str,
    mode: Mode,
) -> dict[str, float]:
    """Scores of the memories that a search with absolute fusion may return, before the cut to a limit.

    `visible` is the default visibility, over which statistics are counted; `wanted` the caller's whole choice.
    """
    chosen = [m for m in memories if wanted(m)]
    words = lexical(memories, [m for m in memories if visible(m)], chosen, text)
    words = {m.id: words[m.id] for m in chosen}
    angles = cosine(chosen, encoder, text)
    by_words = best({i: s for i, s in words.items() if s > 0})
    by_angles = best({i: s for i, s in angles.items() if s > 0})
    if mode == "keyword":
        return {i: words[i] * 0.95 for i in by_words}
    if mode == "semantic":
        return {i: max(angles[i], 0.0) * 0.95 for i in by_angles}
    return {i: (4 / 7 * words[i] + 3 / 7 * max(angles[i], 0.0)) * 0.95 for i in by_words | by_angles}


def best(scores: dict[str, float]) -> set[str]:
    return set(sorted(scores, key=lambda id_: (-np.float32(scores[id_]), id_))[:POOL])
