"""Which index goes first when memory is short: the one whose loss costs least for the memory that it frees.

GreedyDual: an index that is used gets a credit, its cost to load again by byte, above the credit of what went last. So
the credit of an index that nobody uses is overtaken. Where all cost the same by byte, the least recently used goes
first. `python -m loadtests.simulation --only eviction` compares both.
"""

import heapq
from collections.abc import Hashable
from typing import Generic, TypeVar

K = TypeVar("K", bound=Hashable)

SPARE = 64  # entries of the heap that may be outdated, besides one for each key


class Credits(Generic[K]):
    """Credits of keys. Not thread-safe."""

    def __init__(self) -> None:
        self._floor = 0.0  # the highest credit of any key that was the cheapest
        self._turn = 0  # orders keys of one credit by their last use
        self._rates: dict[K, float] = {}
        self._credits: dict[K, tuple[float, int]] = {}
        self._heap: list[tuple[float, int, K]] = []

    def put(self, key: K, cost: float, size: int) -> None:
        """Note a key with its cost, in any unit, and its bytes as they are now. This counts as a use."""
        self._rates[key] = cost / max(size, 1)
        is_new = key not in self._credits
        self.use(key)
        if is_new:
            heapq.heappush(self._heap, (*self._credits[key], key))
        if len(self._heap) > 2 * len(self._credits) + SPARE:
            self._heap = [(*credit, one) for one, credit in self._credits.items()]
            heapq.heapify(self._heap)

    def use(self, key: K) -> None:
        self._turn += 1
        self._credits[key] = (self._floor + self._rates[key], self._turn)

    def drop(self, key: K) -> None:
        self._rates.pop(key, None)
        self._credits.pop(key, None)

    def pop_cheapest(self) -> K:
        """Remove the key that is worth least, and return it.

        Raises:
            IndexError: there is none.
        """
        while True:
            credit, turn, key = self._heap[0]
            now_is = self._credits.get(key)
            if now_is == (credit, turn):
                heapq.heappop(self._heap)
                self._floor = max(self._floor, credit)
                self.drop(key)
                return key
            if now_is is None:
                heapq.heappop(self._heap)
            else:
                heapq.heapreplace(self._heap, (*now_is, key))
