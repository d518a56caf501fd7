"""How far a database had come when it last answered us: what a replica must have reached before it may answer.

Two numbers tell. The count of writes is ours, in the database itself: it holds whatever becomes of the servers. The
replication index is the server's, and lets a replica wait by itself; but a primary that was killed numbers anew.
"""

import threading

import msgspec


class Reached(msgspec.Struct, frozen=True):
    """How far a database has come: writes counted, and the index of whoever wrote, when it has named one."""

    count: int = 0
    index: int | None = None


class Progress:
    """The furthest that was seen. Thread-safe."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._newest = Reached()
        self._replica = Reached()
        self._shown = 0  # the count that the replica told last, wherever it is now

    @property
    def newest(self) -> Reached:
        """What a replica must reach."""
        return self._newest

    @property
    def behind(self) -> bool:
        """Whether the replica may have to wait before it can answer."""
        return self._replica != self._newest

    @property
    def lag(self) -> int:
        """Writes that we know of and the replica has not yet shown."""
        return max(0, self._newest.count - self._shown)

    def primary_at(self, reached: Reached, before: Reached) -> None:
        """The primary answered; `before` is what `newest` was when it was asked.

        A primary never counts backwards, so one that does is another database now: a copy of earlier days.
        """
        with self._lock:
            if reached.count >= self._newest.count or (reached.count < before.count and self._newest == before):
                self._newest = reached

    def replica_at(self, reached: Reached) -> bool:
        """Whether a replica that has come so far has come far enough; what it then shows must not be unseen."""
        with self._lock:
            self._shown = reached.count
            if reached.count < self._newest.count:
                return False
            self._newest = self._replica = Reached(reached.count, self._newest.index)
            return True

    def replica_lost(self) -> None:
        """The replica does not answer; it may come back with less than it had."""
        with self._lock:
            self._replica = Reached(-1)
