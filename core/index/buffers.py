"""Arrays that grow at the end. Appending never changes what a reader already sees."""

from collections.abc import Sequence
from typing import Generic, TypeVar

import numpy as np
import numpy.typing as npt

T = TypeVar("T", bound=np.generic)

SMALLEST = 64  # rows
DOUBLED = 16_384  # rows up to which a full array is doubled; beyond, it grows by an eighth, to reserve little in vain


class Buffer(Generic[T]):
    """Rows of one type. A full array is replaced by a larger one; readers keep the old one."""

    def __init__(self, dtype: type[T], *shape: int) -> None:
        """Make an empty buffer; `shape` is that of a row, empty for scalars."""
        self._array: npt.NDArray[T] = np.empty((0, *shape), dtype)
        self._used = 0

    def __len__(self) -> int:
        return self._used

    @property
    def nbytes(self) -> int:
        return self._array.nbytes

    @property
    def room(self) -> int:
        """Number of rows that fit without growing."""
        return len(self._array)

    def view(self, rows: int | None = None) -> npt.NDArray[T]:
        """Return the first `rows` rows, all by default, without copying."""
        return self._array[: self._used if rows is None else rows]

    def reserve(self, rows: int) -> None:
        """Make room for exactly this many rows in all, unless there is more already."""
        if rows > len(self._array):
            grown = np.empty((rows, *self._array.shape[1:]), self._array.dtype)
            grown[: self._used] = self._array[: self._used]
            self._array = grown

    def append(self, values: npt.NDArray[np.generic] | Sequence[int]) -> None:
        """Append values, which must fit the type."""
        need, have = self._used + len(values), len(self._array)
        if need > have:
            self.reserve(max(need, 2 * have if have < DOUBLED else have + have // 8, SMALLEST))
        self._array[self._used : need] = values
        self._used = need
