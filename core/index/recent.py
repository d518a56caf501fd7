"""A cache of recently fetched memories, from which searches that allow some age are answered without the database."""

import threading
import time
from collections import OrderedDict
from collections.abc import Mapping, Sequence

from muisti.core.model.values import Memory

CHARACTERS = 2_000_000  # of content kept for one space


class Recent:
    """Memories by version id, which never change, and the last known change number of the space with its time.

    Thread-safe.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._memories: OrderedDict[int, Memory] = OrderedDict()
        self._characters = 0
        self._seen: tuple[int, float] = (-1, 0.0)

    @property
    def nbytes(self) -> int:
        return 4 * self._characters

    def note(self, number: int, found: Mapping[int, Memory], asked_at: float) -> None:
        """Remember memories, and that the space was at change `number` at `asked_at` (monotonic clock) or later."""
        with self._lock:
            if number > self._seen[0] or asked_at > self._seen[1]:
                self._seen = (number, asked_at)
            for version, memory in found.items():
                if self._memories.setdefault(version, memory) is memory:
                    self._characters += len(memory.content)
            while self._characters > CHARACTERS:
                _, gone = self._memories.popitem(last=False)
                self._characters -= len(gone.content)

    def forget(self) -> None:
        """Drop all memories and the change number."""
        with self._lock:
            self._memories.clear()
            self._characters, self._seen = 0, (-1, 0.0)

    def known(self, number: int, versions: Sequence[int], max_age: float) -> dict[int, Memory] | None:
        """Return the memories of `versions` if the space was at `number` at most `max_age` seconds ago, else None.

        The result is None also when a version is not in the cache.
        """
        with self._lock:
            seen, at = self._seen
            if seen != number or time.monotonic() - at > max_age:
                return None
            if any(version not in self._memories for version in versions):
                return None
            for version in versions:
                self._memories.move_to_end(version)
            return {version: self._memories[version] for version in versions}
