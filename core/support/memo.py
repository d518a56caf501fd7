"""What is worked out once for each word, and remembered."""

from collections.abc import Callable
from typing import Generic, TypeVar

V = TypeVar("V")


class Memo(dict[str, V], Generic[V]):
    """A value by word. It begins anew when it is full; words longer than `longest` are not kept.

    A plain look-up is a third of `functools.lru_cache`'s. Thread-safe: two threads may work out the same word.
    """

    def __init__(self, work_out: Callable[[str], V], most: int, longest: int) -> None:
        super().__init__()
        self._work_out, self._most, self._longest = work_out, most, longest

    def __missing__(self, word: str) -> V:
        found = self._work_out(word)
        if len(word) <= self._longest:
            if len(self) >= self._most:
                self.clear()
            self[word] = found
        return found
