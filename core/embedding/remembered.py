"""Vectors of the last questions, so that a question that is asked again costs a slow model nothing."""

import threading
from collections import OrderedDict

from muisti.core.kernels import Floats


class Remembered:
    """Vectors by text; the least recently used go first. Thread-safe."""

    def __init__(self, most: int = 4_096) -> None:
        self._most = most
        self._lock = threading.Lock()
        self._vectors: OrderedDict[str, Floats] = OrderedDict()

    def get(self, text: str) -> Floats | None:
        """Return the vector of a text, None for one that is not remembered."""
        with self._lock:
            vector = self._vectors.get(text)
            if vector is not None:
                self._vectors.move_to_end(text)
            return vector

    def put(self, text: str, vector: Floats) -> Floats:
        """Remember the vector of a text, read-only from now on, and return it."""
        vector.flags.writeable = False
        with self._lock:
            self._vectors[text] = vector
            if len(self._vectors) > self._most:
                self._vectors.popitem(last=False)
        return vector

    def clear(self) -> None:
        """Forget all."""
        with self._lock:
            self._vectors.clear()
