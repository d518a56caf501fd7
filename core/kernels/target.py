"""Chooses how loops are compiled: ahead of time in the library (core/kernels/ahead.py), else by numba on first use.

Both compile for the same CPU: x86-64-v3 (AVX2, 2013 and later), or generic 64-bit Arm. The library has a second copy of
the loops for newer processors and uses it on one. With a numba version that core/kernels/known.py does not name, and on
an older processor, there is no library: numba compiles for this machine's processor.
"""

from collections.abc import Callable
from typing import Any, ParamSpec, TypeVar, cast

import numpy as np
import numpy.typing as npt

from muisti.core.kernels import cache, known, native

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

LEVELS = native.levels()
KERNELS = LEVELS[-1] if LEVELS else None
if KERNELS is None:
    known.demand_numba()
UNFIT = known.unfit() if KERNELS is None else None  # why loops are compiled the slow way

if KERNELS is None:
    cache.tidy()
if KERNELS is None and UNFIT:
    from muisti.core.kernels.plain import array_at, compiled, fetch
elif KERNELS is None:
    from muisti.core.kernels.jit import array_at, compiled, fetch
else:
    made = KERNELS

    def compiled(loop: Callable[P, R]) -> Callable[P, R]:
        """Return the compiled form of `loop`, or `loop` itself when only other loops call it."""
        name = f"{loop.__module__.rpartition('.')[2]}.{loop.__name__}"
        return cast(Callable[P, R], made.get(name, loop))

    def array_at(address: int, size: int, kind: type[np.generic]) -> npt.NDArray[Any]:
        """Raise NotImplementedError: compiled loops contain this function, and nothing else calls it."""
        raise NotImplementedError

    def fetch(address: int, size: int) -> None:
        """Raise NotImplementedError: compiled loops contain this function, and nothing else calls it."""
        raise NotImplementedError


def warning() -> str | None:
    """Return why loops are compiled the slow way and how to mend it; None when this machine has what is needed."""
    return UNFIT


__all__ = [
    "KERNELS", "LEVELS", "UNFIT", "Bytes", "Codes", "Doubles", "Floats", "Ints", "Longs", "Mask", "Packed", "array_at",
    "compiled", "fetch", "warning",
]  # fmt: skip
