"""A bounded memory of what was computed from a filter: the entries used least recently go first."""

import threading
from collections import OrderedDict
from collections.abc import Callable
from typing import Generic, TypeVar

V = TypeVar("V")

ENTRY = 400  # bytes of an entry beside its arrays: the key, the objects and their places


class Remembered(Generic[V]):
    """Immutable values by key, of at most `limit()` bytes in all. Thread-safe."""

    def __init__(self, limit: Callable[[], int]) -> None:
        self._limit = limit
        self._lock = threading.Lock()
        self._values: OrderedDict[bytes, tuple[V, int]] = OrderedDict()
        self._nbytes = 0

    @property
    def nbytes(self) -> int:
        return self._nbytes

    def __len__(self) -> int:
        return len(self._values)

    def get(self, key: bytes) -> V | None:
        """Return the value of a key, None when it was never put or has gone."""
        with self._lock:
            found = self._values.get(key)
            if found is None:
                return None
            self._values.move_to_end(key)
            return found[0]

    def put(self, key: bytes, value: V, nbytes: int) -> None:
        """Remember a value whose arrays take so many bytes, in place of an earlier one of the key.

        A value larger than the limit is not kept.
        """
        size, limit = nbytes + ENTRY, self._limit()
        with self._lock:
            _, before = self._values.pop(key, (None, 0))
            self._nbytes -= before
            if size > limit:
                return
            self._values[key] = (value, size)
            self._nbytes += size
            while self._nbytes > limit:
                _, (_, gone) = self._values.popitem(last=False)
                self._nbytes -= gone
