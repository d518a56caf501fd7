"""Compiles loops through numba's documented interfaces only: for this machine's processor, and without the GIL."""

from collections.abc import Callable
from typing import Any, ParamSpec, TypeVar, cast

import numba
import numpy as np
import numpy.typing as npt
from numba import types
from numba.extending import intrinsic

from muisti.core.kernels import cache

P = ParamSpec("P")
R = TypeVar("R")

settings: Any = numba.config  # pyright: ignore[reportPrivateImportUsage]  # documented, and set at run time


def compiled(loop: Callable[P, R]) -> Callable[P, R]:
    """Compile `loop` on first use, or take it from the cache of numba (`cache.numba_folder`) if one can be kept."""
    given, place = settings.CACHE_DIR, cache.numba_folder()
    settings.CACHE_DIR = place
    try:
        decorate = numba.njit(cache=bool(place), nogil=True)
        return cast(Callable[P, R], decorate(loop))
    finally:
        settings.CACHE_DIR = given  # other users of numba in this process keep theirs


@intrinsic
def _pointer(_: Any, address: Any) -> Any:
    def emit(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return builder.inttoptr(arguments[0], context.get_value_type(signature.return_type))

    return types.voidptr(address), emit


_at = cast(Callable[[int], Any], _pointer)
_array = cast(Callable[[Any, tuple[int, ...], Any], Any], numba.carray)  # pyright: ignore[reportPrivateImportUsage]  # documented for loops


@compiled
def array_at(address: int, size: int, kind: type[np.generic]) -> npt.NDArray[Any]:
    """Return the array of `size` items at an address, without copying; for use by loops."""
    return _array(_at(address), (size,), kind)


@compiled
def fetch(address: int, size: int) -> None:
    """Do nothing: numba documents no way to prefetch memory."""
