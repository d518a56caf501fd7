"""What is retrieved is counted: noted in a bounded buffer, which costs a search nothing, and written now and then.

Best-effort: what is noted and not yet written is lost with the process, and the oldest goes when too much waits.
"""

from collections import deque
from collections.abc import Iterable

from muisti.core.model.errors import MuistiError
from muisti.core.store.database import Database
from muisti.core.store.sql import telemetry
from muisti.core.support.waiting import Lock

WAITING_MAX = 10_000  # answers
WRITTEN_MAX = 1_000  # memories in one statement

_Retrieved = dict[str, tuple[int, int]]  # by the memory's id: how often, and when last


class Retrievals:
    """Counts for all spaces. Thread-safe."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._answers: deque[tuple[str, list[str], int]] = deque(maxlen=WAITING_MAX)
        self._flushing = Lock()

    def note(self, epoch: str, memory_ids: list[str], now: int) -> None:
        """Memories of a space were given to somebody; `now` in microseconds."""
        self._answers.append((epoch, memory_ids, now))

    def flush(self) -> bool:
        """Write what was noted; whether there was anything.

        Raises:
            StoreUnavailable: it could not be written. It waits for the next time.
        """
        with self._flushing:
            taken = [self._answers.popleft() for _ in range(len(self._answers))]
            if not taken:
                return False
            counted = dict[str, _Retrieved]()
            for epoch, memory_ids, now in taken:
                _count(counted.setdefault(epoch, {}), memory_ids, now)
            try:
                self._database.write(
                    [telemetry.add(epoch, part) for epoch, found in counted.items() for part in _parts(found)]
                )
            except MuistiError:
                self._answers.extendleft(reversed(taken))
                raise
            return True


def _count(found: _Retrieved, memory_ids: Iterable[str], now: int) -> None:
    for memory_id in memory_ids:
        count, last = found.get(memory_id, (0, 0))
        found[memory_id] = count + 1, max(last, now)


def _parts(found: _Retrieved) -> Iterable[_Retrieved]:
    each = [(memory_id.replace("-", ""), counted) for memory_id, counted in found.items()]
    for start in range(0, len(each), WRITTEN_MAX):
        yield dict(each[start : start + WRITTEN_MAX])
