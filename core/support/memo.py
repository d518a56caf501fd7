"""Memoisation of functions of a word."""

from collections.abc import Callable
from typing import Generic, TypeVar

V = TypeVar("V")


class Memo(dict[str, V], Generic[V]):
    """Cache of values by word, which is cleared when it is full. Words longer than `longest` are not kept.

    A look-up takes a third of the time of `functools.lru_cache`. Thread-safe: two threads may compute the same word.
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
