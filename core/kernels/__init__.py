"""Compiled inner loops, a module for each stage. Each is plain Python first; `tests/core/twins.py` has its numpy twin.

`python -m core.kernels` compiles and caches them all.
"""

from core.kernels import (
    births,
    blend,
    context,
    dense,
    evidence,
    lexical,
    likeness,
    pieces,
    planes,
    pool,
    pooling,
    postings,
)
from core.kernels.target import Bytes, Codes, Doubles, Floats, Ints, Longs, Mask, Packed

__all__ = ["Bytes", "Codes", "Doubles", "Floats", "Ints", "Longs", "Mask", "Packed", "bake"]


stages = (births, blend, context, dense, evidence, lexical, likeness, pieces, planes, pool, pooling, postings)


def bake() -> None:
    """Compile every kernel for the types that the index uses, into the cache, or load it from there."""
    for stage in stages:
        stage.bake()
