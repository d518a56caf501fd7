"""Arrays that grow at the end. What a reader has seen never changes under it."""

from collections.abc import Sequence
from typing import Generic, TypeVar

import numpy as np
import numpy.typing as npt

T = TypeVar("T", bound=np.generic)

SMALLEST = 64  # rows
DOUBLED = (
    16_384  # rows up to which a full array is doubled; beyond, an eighth more keeps what is reserved in vain small
)


class Buffer(Generic[T]):
    """Rows of one type; a full array is replaced by a larger one, and the old stays with whoever holds it."""

    def __init__(self, dtype: type[T], *shape: int) -> None:
        """`shape` is that of a row; none makes plain values."""
        self._array: npt.NDArray[T] = np.empty((0, *shape), dtype)
        self._used = 0

    def __len__(self) -> int:
        return self._used

    @property
    def nbytes(self) -> int:
        return self._array.nbytes

    def view(self, rows: int | None = None) -> npt.NDArray[T]:
        """The first `rows` rows, all by default, without copying."""
        return self._array[: self._used if rows is None else rows]

    def reserve(self, rows: int) -> None:
        """Make room for exactly this many rows in all, should there be less."""
        if rows > len(self._array):
            grown = np.empty((rows, *self._array.shape[1:]), self._array.dtype)
            grown[: self._used] = self._array[: self._used]
            self._array = grown

    def append(self, values: npt.NDArray[np.generic] | Sequence[int]) -> None:
        """Take over values that the type can hold."""
        need, have = self._used + len(values), len(self._array)
        if need > have:
            self.reserve(max(need, 2 * have if have < DOUBLED else have + have // 8, SMALLEST))
        self._array[self._used : need] = values
        self._used = need
