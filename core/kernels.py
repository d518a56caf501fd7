"""Compiled inner loops. Each is plain Python first; `tests/core/twins.py` has its numpy twin.

All release the GIL. The CPU target is fixed before anything compiles, so that a cache baked on one machine serves on
every other of its kind: x86-64-v3 (AVX2, 2013 and later), or the generic 64-bit Arm.
`python -m core.kernels` compiles and caches them all.
"""

import platform
from collections.abc import Callable
from typing import ParamSpec, TypeVar, cast

import numba
import numpy as np
import numpy.typing as npt
from numba.core import config

P = ParamSpec("P")
R = TypeVar("R")

Floats = npt.NDArray[np.float32]
Bytes = npt.NDArray[np.int8]
Ints = npt.NDArray[np.int32]
Longs = npt.NDArray[np.int64]
Mask = npt.NDArray[np.bool_]

TARGETS = {"x86_64": "x86-64-v3", "AMD64": "x86-64-v3", "aarch64": "generic", "arm64": "generic"}

if platform.machine() in TARGETS:
    config.CPU_NAME = TARGETS[platform.machine()]  # pyright: ignore[reportAttributeAccessIssue]  # made at run time
    config.CPU_FEATURES = ""  # pyright: ignore[reportAttributeAccessIssue]  # the same


def compiled(loop: Callable[P, R]) -> Callable[P, R]:
    """Compile `loop` on first use, or take it from the cache beside this file."""
    decorate = numba.njit(cache=True, nogil=True)
    return cast(Callable[P, R], decorate(loop))


@compiled
def scan(codes: Bytes, scales: Floats, query: Bytes, allowed: Mask, out: Floats) -> None:
    """Integer dot product of every allowed row times its scale; -inf for the others and for rows without vector."""
    for row in range(out.size):
        if allowed[row] and scales[row] > 0:
            total = np.int32(0)
            for d in range(query.size):  # cast at each step: numba would widen to 64 bits, at a quarter more time
                total = np.int32(total + np.int32(np.int32(codes[row, d]) * np.int32(query[d])))
            out[row] = np.float32(total) * scales[row]
        else:
            out[row] = -np.inf


@compiled
def rescore(
    codes: Bytes, scales: Floats, fine: Bytes, fine_scales: Floats, query: Floats, rows: Longs, out: Floats
) -> None:
    """Cosine of the given rows, from both planes; 0 for a row without vector."""
    for i in range(rows.size):
        row = rows[i]
        coarse = np.float32(0)
        rest = np.float32(0)
        for d in range(query.size):
            coarse += np.float32(codes[row, d]) * query[d]
            rest += np.float32(fine[row, d]) * query[d]
        out[i] = coarse * scales[row] + rest * fine_scales[row]


@compiled
def count(docs: Ints, start: int, stop: int, visible: Mask) -> int:
    """How many of `docs[start:stop]` are visible."""
    total = 0
    for p in range(start, stop):
        if visible[docs[p]]:
            total += 1
    return total


@compiled
def accumulate(
    docs: Ints, tf: Floats, start: int, stop: int, weight: float, norms: Floats, allowed: Mask, out: Floats
) -> None:
    """Add `weight * tf / (tf + norm)` to every allowed row of a posting list."""
    for p in range(start, stop):
        row = docs[p]
        if allowed[row]:
            out[row] += np.float32(weight) * tf[p] / (tf[p] + norms[row])


@compiled
def threshold(scores: Floats, k: int) -> float:
    """The k-th largest score, or -inf when there are fewer above it."""
    best = np.full(k, -np.inf, np.float32)
    for i in range(scores.size):
        value = scores[i]
        if value > best[k - 1]:
            place = k - 1
            while place > 0 and best[place - 1] < value:
                best[place] = best[place - 1]
                place -= 1
            best[place] = value
    return best[k - 1]


@compiled
def has_sequence(starts: Longs, tokens: Ints, rows: Longs, pattern: Ints, out: Mask) -> None:
    """Whether `pattern` stands, unbroken, among the tokens of each row."""
    for i in range(rows.size):
        found = False
        for at in range(starts[rows[i]], starts[rows[i] + 1] - pattern.size + 1):
            same = True
            for j in range(pattern.size):
                if tokens[at + j] != pattern[j]:
                    same = False
                    break
            if same:
                found = True
                break
        out[i] = found


def bake() -> None:
    """Compile every kernel for the types that the index uses, into the cache."""
    floats, planes, ints = np.ones(2, np.float32), np.ones((2, 8), np.int8), np.zeros(2, np.int32)
    rows, mask, starts = np.zeros(1, np.int64), np.ones(2, np.bool_), np.array([0, 2], np.int64)
    scan(planes, floats, planes[0], mask, floats.copy())
    rescore(planes, floats, planes, floats, np.ones(8, np.float32), rows, floats.copy())
    count(ints, 0, 2, mask)
    accumulate(ints, floats, 0, 2, 1.0, floats, mask, floats.copy())
    threshold(floats, 1)
    has_sequence(starts, ints, rows, ints[:1], mask.copy())


if __name__ == "__main__":
    bake()
