"""Chooses how loops are compiled: ahead of time in the library (core/kernels/ahead.py), else by numba on first use.

Both compile for the same CPU: x86-64-v3 (AVX2, 2013 and later), or generic 64-bit Arm. The library has a second copy of
the loops for newer processors and uses it on one. A numba version that core/kernels/known.py does not name builds no
library; it compiles for this machine's processor.
"""

from collections.abc import Callable, Mapping
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
OTHERS: Mapping[str, str] = known.others() if KERNELS is None else {}  # packages whose version builds no library

if KERNELS is None:
    cache.tidy()
if KERNELS is None and OTHERS:
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
    """Return why loops are compiled the slow way and how to mend it; None when the installed versions are known."""
    if not OTHERS:
        return None
    found = " and ".join(f"{name} {version}" for name, version in OTHERS.items())
    wanted = " ".join(f"{name}=={version}" for name, version in known.KNOWN.items())
    return (
        f"{found} is installed, with which no library of compiled loops is made; plain numba compiles them, so a start "
        f"takes longer. To mend it: pip install {wanted}, then muisti doctor"
    )


__all__ = [
    "KERNELS", "LEVELS", "OTHERS", "Bytes", "Codes", "Doubles", "Floats", "Ints", "Longs", "Mask", "Packed", "array_at",
    "compiled", "fetch", "warning",
]  # fmt: skip
