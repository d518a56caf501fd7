"""Arrays that a thread uses again and again: each search would otherwise allocate several as long as the index."""

import threading
from typing import TypeVar

import numpy as np
import numpy.typing as npt

T = TypeVar("T", bound=np.generic)


class Scratch(threading.local):
    """One array for each name. What a name held is lost when it is asked for again by the same thread."""

    def __init__(self) -> None:
        self._arrays: dict[str, npt.NDArray[np.generic]] = {}

    def array(self, name: str, dtype: type[T], size: int) -> npt.NDArray[T]:
        """The first `size` places of the array of this name, with whatever stands there."""
        known = self._arrays.get(name)
        if known is None or len(known) < size or known.dtype != dtype:
            known = self._arrays[name] = np.zeros(max(size, 2 * (0 if known is None else len(known))), dtype)
        return known[:size]  # pyright: ignore[reportReturnType]  # dtype was compared


_scratch = Scratch()


def scratch() -> Scratch:
    """The calling thread's."""
    return _scratch
