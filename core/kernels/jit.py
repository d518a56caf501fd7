"""Compiles loops by numba: without the GIL, and for a fixed CPU, so that what was compiled on one machine serves every
other of its kind. The target is set before anything compiles.
"""

import platform
from collections.abc import Callable
from typing import Any, ParamSpec, TypeVar, cast

import numba
import numpy as np
import numpy.typing as npt
from numba import types
from numba.core import cgutils, config
from numba.extending import intrinsic
from numba.np.numpy_support import carray

P = ParamSpec("P")
R = TypeVar("R")

TARGETS = {"x86_64": "x86-64-v3", "AMD64": "x86-64-v3", "aarch64": "generic", "arm64": "generic"}

CPU = TARGETS.get(platform.machine())

if CPU is not None:
    config.CPU_NAME = CPU  # pyright: ignore[reportAttributeAccessIssue]  # made at run time
    config.CPU_FEATURES = ""  # pyright: ignore[reportAttributeAccessIssue]  # the same


def compiled(loop: Callable[P, R]) -> Callable[P, R]:
    """Compile `loop` on first use, or take it from the cache beside its file."""
    decorate = numba.njit(cache=True, nogil=True)
    return cast(Callable[P, R], decorate(loop))


@intrinsic
def _pointer(_: Any, address: Any) -> Any:
    def emit(_context: Any, builder: Any, _signature: Any, arguments: Any) -> Any:
        return builder.inttoptr(arguments[0], cgutils.voidptr_t)

    return types.voidptr(address), emit


_at = cast(Callable[[int], Any], _pointer)
_array = cast(Callable[[Any, tuple[int, ...], Any], Any], carray)


@compiled
def array_at(address: int, size: int, kind: type[np.generic]) -> npt.NDArray[Any]:
    """The array that lies at an address, for use by loops."""
    return _array(_at(address), (size,), kind)
