"""How far a database had come when it last answered us: what a replica must have reached before it may answer."""

import threading


class Progress:
    """The newest replication index that was seen. Thread-safe."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._newest: int | None = None
        self._replica: int = -1

    @property
    def newest(self) -> int | None:
        """What a replica must reach, None when no server has named an index."""
        return self._newest

    @property
    def behind(self) -> bool:
        """Whether the replica may have to wait before it can answer."""
        return self._newest is not None and self._replica < self._newest

    def primary_at(self, index: int | None, before: int | None) -> None:
        """The primary answered with `index`; `before` is what `newest` was when it was asked.

        A primary never goes back, so one that did is another database now, restored or made anew.
        """
        with self._lock:
            if index is None:
                return
            if before is not None and index < before and self._newest == before:
                self._newest, self._replica = index, -1
            elif self._newest is None or index > self._newest:
                self._newest = index

    def replica_at(self, index: int | None) -> None:
        """The replica answered with `index`, and what it has shown must not be unseen."""
        with self._lock:
            if index is not None:
                self._replica = index
                if self._newest is None or index > self._newest:
                    self._newest = index

    def replica_lost(self) -> None:
        """The replica does not answer; it may come back with less than it had."""
        with self._lock:
            self._replica = -1
