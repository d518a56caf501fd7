"""Scratch arrays that a thread reuses: without them each search allocates several arrays as long as the index."""

import threading
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt

T = TypeVar("T", bound=np.generic)


class Scratch(threading.local):
    """One array for each name and thread. A later request for a name may overwrite what an earlier one returned."""

    def __init__(self) -> None:
        self._arrays: dict[str, npt.NDArray[Any]] = {}

    def array(self, name: str, dtype: type[T], size: int) -> npt.NDArray[T]:
        """Return `size` places of the array of this name; their values are left over from earlier use."""
        known = self._arrays.get(name)
        if known is None or len(known) < size or known.dtype != dtype:
            known = self._arrays[name] = np.zeros(max(size, 2 * (0 if known is None else len(known))), dtype)
        return known[:size]


_scratch = Scratch()


def scratch() -> Scratch:
    """Return the scratch arrays of the calling thread."""
    return _scratch
