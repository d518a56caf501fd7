"""Columns of the index in memory: append-only, a value or a list of values for each row.

One thread extends a column, any number of threads read it. A reader passes `n`, a length that it saw. It gets
arrays about the first `n` rows, or about those of them from row `first` on. These never change: growth copies the
buffer, and written places are not written again.
"""

import sys
from collections.abc import Sequence
from itertools import chain
from typing import Generic, TypeGuard, TypeVar

import numpy as np
import numpy.typing as npt

from muisti.core.kernels import Ints, Mask
from muisti.core.kernels.pool import mark

# Arrays that grow at the end. Appending never changes what a reader already sees

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

    def adopt(self, array: npt.NDArray[T], used: int) -> None:
        """Take another array, of which the first `used` rows are in use."""
        self._array, self._used = array, used

    def append(self, values: npt.NDArray[np.generic] | Sequence[int]) -> None:
        """Append values, which must fit the type."""
        need, have = self._used + len(values), len(self._array)
        if need > have:
            self.reserve(max(need, 2 * have if have < DOUBLED else have + have // 8, SMALLEST))
        self._array[self._used : need] = values
        self._used = need


Value = str | bytes | int | float  # a bool is an int

MISSING_CODE = -1
MISSING_NUMBER = np.iinfo(np.int64).min


class Dictionary:
    """Distinct values, numbered in the order they come. 1 and 1.0 are the same value, 1 and true are not.

    >>> d = Dictionary()
    >>> [d.add(value) for value in ("a", 1, True, 1.0, "a")]
    [0, 1, 2, 1, 0]
    """

    def __init__(self) -> None:
        self.values: list[Value] = []
        self._codes: dict[Value | tuple[bool], int] = {}
        self._floats = np.empty(0)
        self._value_bytes = 0

    @property
    def nbytes(self) -> int:
        return self._value_bytes + sys.getsizeof(self.values) + sys.getsizeof(self._codes) + self._floats.nbytes

    def floats(self) -> npt.NDArray[np.float64]:
        """Return the float nearest to each value, NaN where the value is no number. Computed on first use."""
        known = self._floats
        if len(known) < len(self.values):
            fresh = as_floats(self.values[len(known) :])
            self._floats = known = np.append(known, fresh)  # two readers may both do this, with the same result
        return known

    def code(self, value: Value) -> int | None:
        """Return the number of a value, None for one that was never added."""
        return self._codes.get(_key(value))

    def add(self, value: Value) -> int:
        """Return the number of a value, which is new when the value is."""
        code = self._codes.get(key := _key(value))
        if code is None:
            code = len(self.values)
            self.values.append(value)  # before its code can be found by a reader
            self._codes[key] = code
            self._value_bytes += sys.getsizeof(value) + sys.getsizeof(code)
        return code


class Keywords:
    """One value a row, or none, kept as its code in a dictionary."""

    def __init__(self) -> None:
        self.dictionary = Dictionary()
        self._codes = Buffer(np.int32)

    def __len__(self) -> int:
        return len(self._codes)

    @property
    def nbytes(self) -> int:
        return self._codes.nbytes + self.dictionary.nbytes

    def extend(self, values: Sequence[Value | None]) -> None:
        add = self.dictionary.add
        codes = (MISSING_CODE if value is None else add(value) for value in values)
        self._codes.append(np.fromiter(codes, np.int32, len(values)))

    def view(self, n: int) -> Ints:
        """The code of each row, MISSING_CODE where there is no value."""
        return self._codes.view(n)

    def codes(self, n: int, first: int = 0) -> Ints:
        """The codes of all values of the rows, in the order of rows."""
        codes = self.view(n)[first:]
        return codes[codes != MISSING_CODE]

    def present(self, n: int, first: int = 0) -> Mask:
        return self.view(n)[first:] != MISSING_CODE

    def select(self, chosen: Mask, n: int, first: int = 0) -> Mask:
        """The rows whose value is chosen; `chosen` has one flag for each value of the dictionary."""
        return _chosen(np.append(chosen, False), self.view(n)[first:])  # MISSING_CODE (-1) finds the last flag


class Numbers:
    """One integer a row, or none: a time in microseconds, a rank."""

    def __init__(self) -> None:
        self._numbers = Buffer(np.int64)

    @classmethod
    def of(cls, numbers: Buffer[np.int64]) -> "Numbers":
        """Return a column of numbers that are in a buffer already, without copying."""
        column = cls()
        column._numbers = numbers
        return column

    def __len__(self) -> int:
        return len(self._numbers)

    @property
    def nbytes(self) -> int:
        return self._numbers.nbytes

    def extend(self, values: Sequence[int | None]) -> None:
        numbers = (MISSING_NUMBER if value is None else value for value in values)
        self._numbers.append(np.fromiter(numbers, np.int64, len(values)))

    def view(self, n: int) -> npt.NDArray[np.int64]:
        """The number of each row, MISSING_NUMBER where there is none."""
        return self._numbers.view(n)

    def present(self, n: int, first: int = 0) -> Mask:
        return self.view(n)[first:] != MISSING_NUMBER


class Lists:
    """Any number of scalars a row, kept as pairs of row and code, so that rows without any cost nothing."""

    def __init__(self) -> None:
        self.dictionary = Dictionary()
        self._rows = Buffer(np.int32)
        self._codes = Buffer(np.int32)
        self._size = 0

    @classmethod
    def of(cls, column: Keywords) -> "Lists":
        """Return a column with the values of another, whose dictionary it shares; that one must not grow any more."""
        made = cls()
        codes = column.view(len(column))
        there = np.flatnonzero(codes != MISSING_CODE)
        made.dictionary, made._size = column.dictionary, len(column)
        made._codes.append(codes[there])
        made._rows.append(there)
        return made

    def __len__(self) -> int:
        return self._size

    @property
    def nbytes(self) -> int:
        return self._rows.nbytes + self._codes.nbytes + self.dictionary.nbytes

    def extend(self, values: Sequence[Sequence[Value]]) -> None:
        codes = list(map(self.dictionary.add, chain.from_iterable(values)))
        rows = np.arange(self._size, self._size + len(values), dtype=np.int32)
        self._codes.append(np.array(codes, np.int32))  # before the rows, whose length readers rely on
        self._rows.append(np.repeat(rows, [len(row) for row in values]))
        self._size += len(values)

    def view(self, n: int) -> tuple[Ints, Ints]:
        """Row and code of each element of the first `n` rows, in the order of rows."""
        rows = self._rows.view(len(self._rows))
        end = int(np.searchsorted(rows, np.int32(n)))  # of the array's type, else numpy converts the array
        return rows[:end], self._codes.view(end)

    def codes(self, n: int, first: int = 0) -> Ints:
        """The codes of all elements of the rows, in the order of rows."""
        return self._pairs(n, first)[1]

    def present(self, n: int, first: int = 0) -> Mask:
        """The rows with at least one element."""
        flags = np.zeros(n - first, np.bool_)
        flags[self._pairs(n, first)[0] - first] = True
        return flags

    def select(self, chosen: Mask, n: int, first: int = 0) -> Mask:
        """The rows of which an element is chosen; `chosen` has one flag for each value of the dictionary."""
        flags = np.zeros(n - first, np.bool_)
        mark(*self._pairs(n, first), chosen, first, flags)
        return flags

    def _pairs(self, n: int, first: int) -> tuple[Ints, Ints]:
        rows, codes = self.view(n)
        start = int(np.searchsorted(rows, np.int32(first))) if first else 0
        return rows[start:], codes[start:]


Column = Keywords | Numbers | Lists


def is_number(value: Value) -> TypeGuard[int | float]:
    """Return whether a value is a number; booleans are not."""
    return isinstance(value, int | float) and not isinstance(value, bool)


def as_floats(values: Sequence[Value]) -> npt.NDArray[np.float64]:
    """Return the float nearest to each value, NaN where the value is no number."""
    return np.array([float(value) if is_number(value) else np.nan for value in values], np.float64)


def _key(value: Value) -> Value | tuple[bool]:
    return (value,) if isinstance(value, bool) else value


def _chosen(chosen: Mask, codes: Ints) -> Mask:
    """Return `chosen[codes]`. A single choice, the usual filter, is compared instead, which is many times as fast."""
    choices = np.flatnonzero(chosen)
    return codes == np.int32(choices[0]) if len(choices) == 1 else chosen.take(codes)
