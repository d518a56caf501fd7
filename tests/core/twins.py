"""What the kernels compute, in plain numpy."""

import numpy as np

from core.kernels import Bytes, Floats, Ints, Longs, Mask


def scan(codes: Bytes, scales: Floats, query: Bytes, allowed: Mask, out: Floats) -> None:
    dots = (codes.astype(np.int32) @ query.astype(np.int32)).astype(np.float32)
    out[:] = np.where(allowed & (scales > 0), dots * scales, -np.inf)


def rescore(
    codes: Bytes, scales: Floats, fine: Bytes, fine_scales: Floats, query: Floats, rows: Longs, out: Floats
) -> None:
    coarse = codes[rows].astype(np.float32) @ query * scales[rows]
    out[:] = coarse + fine[rows].astype(np.float32) @ query * fine_scales[rows]


def count(docs: Ints, start: int, stop: int, visible: Mask) -> int:
    return int(visible[docs[start:stop]].sum())


def accumulate(
    docs: Ints, tf: Floats, start: int, stop: int, weight: float, norms: Floats, allowed: Mask, out: Floats
) -> None:
    rows, counts = docs[start:stop], tf[start:stop]
    np.add.at(out, rows, np.where(allowed[rows], np.float32(weight) * counts / (counts + norms[rows]), 0))


def threshold(scores: Floats, k: int) -> float:
    return float(np.sort(np.concatenate([scores, np.full(k, -np.inf, np.float32)]))[-k])


def has_sequence(starts: Longs, tokens: Ints, rows: Longs, pattern: Ints, out: Mask) -> None:
    for i, row in enumerate(rows):
        own = tokens[starts[row] : starts[row + 1]]
        if len(own) < len(pattern):
            out[i] = False
        else:
            windows = np.lib.stride_tricks.sliding_window_view(own, len(pattern))
            out[i] = (windows == pattern).all(axis=1).any()


def pool_tokens(
    table: np.ndarray, places: Longs, weights: Floats, tokens: Longs, starts: Longs, damped: bool, out: Floats
) -> None:
    for i in range(len(starts) - 1):
        found, times = np.unique(tokens[starts[i] : starts[i + 1]], return_counts=True)
        counted = np.sqrt(times) if damped else times
        total = (weights[found] * counted) @ table[places[found]].astype(np.float64)
        length = np.linalg.norm(total)
        out[i] = total / (length or 1)
