"""Keep what was counted over a whole graph, until its space changes: lists and figures of the present."""

from collections import OrderedDict
from collections.abc import Callable, Hashable
from typing import Any, TypeVar

from muisti.core.graph.sql import graph_rows
from muisti.core.graph.sql.graph_rows import Shown
from muisti.core.store.database import Database
from muisti.core.store.sql.spaces import SpaceRow
from muisti.core.support.memo import erasures, holds_texts
from muisti.core.support.waiting import Lock

MOST = 64  # results in memory

T = TypeVar("T")


class Kept:
    """Results of spaces and of what their callers see, the last used ones. Thread-safe."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._found: OrderedDict[Hashable, Any] = OrderedDict()
        self._lock = Lock()
        holds_texts(self, "forget")

    def of(self, space: SpaceRow, shown: Shown, what: Hashable, count: Callable[[], T]) -> T:
        """Return what `count` has returned of this state of the space; of a past point it counts each time."""
        if shown.point.number is not None:
            return count()
        state, expired = self._database.read([graph_rows.state(space), graph_rows.expired(space, shown.point.time)])
        key = (space.id, space.seq, *state[0], *expired[0], shown.category, what)
        with self._lock:
            if key in self._found:
                self._found.move_to_end(key)
                return self._found[key]
        before = erasures()
        found = count()
        with self._lock:
            if before == erasures():  # else it may hold what was erased while it was counted
                self._found[key] = found
            while len(self._found) > MOST:
                self._found.popitem(last=False)
        return found

    def forget(self) -> None:
        """Drop all: something was erased."""
        with self._lock:
            self._found.clear()
