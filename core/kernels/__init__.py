"""Compiled inner loops, a module for each stage. Each is plain Python; `tests/core/twins.py` has it in numpy.

`python -m muisti.core.kernels` compiles and caches them all.
"""

from muisti.core.kernels import (
    ascii,
    blend,
    context,
    dense,
    lexical,
    likeness,
    pieces,
    pool,
    pooling,
    postings,
    related,
    tagging,
)
from muisti.core.kernels.target import Bytes, Codes, Doubles, Floats, Ints, Longs, Mask, Packed

__all__ = ["Bytes", "Codes", "Doubles", "Floats", "Ints", "Longs", "Mask", "Packed", "bake"]

stages = (postings, ascii, blend, context, dense, pool, likeness, lexical, pieces, pooling, related, tagging)


def bake() -> None:
    """Compile every kernel for the types that the index uses, into the cache, or load it from there."""
    for stage in stages:
        stage.bake()
