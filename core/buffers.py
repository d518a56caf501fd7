"""Arrays that grow at the end. What a reader has seen never changes under it."""

from typing import Generic, TypeVar

import numpy as np
import numpy.typing as npt

T = TypeVar("T", bound=np.generic)

SMALLEST = 64  # rows


class Buffer(Generic[T]):
    """Rows of one type, doubled when full; the old array stays with whoever holds it."""

    def __init__(self, dtype: type[T], width: int | None = None) -> None:
        """`width` makes rows of that many values; None makes plain values."""
        shape = (0,) if width is None else (0, width)
        self._array: npt.NDArray[T] = np.empty(shape, dtype)
        self._used = 0

    def __len__(self) -> int:
        return self._used

    @property
    def nbytes(self) -> int:
        return self._array.nbytes

    def view(self, rows: int | None = None) -> npt.NDArray[T]:
        """The first `rows` rows, all by default, without copying."""
        return self._array[: self._used if rows is None else rows]

    def append(self, values: npt.NDArray[T]) -> None:
        need = self._used + len(values)
        if need > len(self._array):
            grown = np.empty((max(need, 2 * len(self._array), SMALLEST), *self._array.shape[1:]), self._array.dtype)
            grown[: self._used] = self._array[: self._used]
            self._array = grown
        self._array[self._used : need] = values
        self._used = need
