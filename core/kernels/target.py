"""How loops are compiled: without the GIL, and for a fixed CPU, so that a cache baked on one machine serves every other
of its kind: x86-64-v3 (AVX2, 2013 and later), or the generic 64-bit Arm. The target is set before anything compiles.
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
Doubles = npt.NDArray[np.float64]
Bytes = npt.NDArray[np.int8]
Ints = npt.NDArray[np.int32]
Longs = npt.NDArray[np.int64]
Codes = npt.NDArray[np.uint64]
Packed = npt.NDArray[np.uint32]
Mask = npt.NDArray[np.bool_]

TARGETS = {"x86_64": "x86-64-v3", "AMD64": "x86-64-v3", "aarch64": "generic", "arm64": "generic"}

if platform.machine() in TARGETS:
    config.CPU_NAME = TARGETS[platform.machine()]  # pyright: ignore[reportAttributeAccessIssue]  # made at run time
    config.CPU_FEATURES = ""  # pyright: ignore[reportAttributeAccessIssue]  # the same


def compiled(loop: Callable[P, R]) -> Callable[P, R]:
    """Compile `loop` on first use, or take it from the cache beside this file."""
    decorate = numba.njit(cache=True, nogil=True)
    return cast(Callable[P, R], decorate(loop))
