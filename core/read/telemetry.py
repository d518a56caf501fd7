"""Count retrievals: a bounded buffer makes this free for a search, and a background task writes the counts.

Counts are best-effort. Unwritten ones are lost when the process ends, and the oldest are dropped from a full buffer.
"""

from collections import deque
from collections.abc import Iterable

from muisti.core.identity.caller import Caller
from muisti.core.model.choices import Verdict
from muisti.core.model.errors import MuistiError
from muisti.core.model.outcomes import Telemetry
from muisti.core.model.values import Name
from muisti.core.query.points import Point
from muisti.core.read.reading import missing, named, read, shown
from muisti.core.store.database import Database, Refused, written
from muisti.core.store.sql import spaces, telemetry, version_rows
from muisti.core.support.waiting import Lock

# Feedback of callers on memories that they were given: useful or not useful


def give(
    database: Database,
    space: str,
    name: Name,
    verdict: Verdict | None,
    caller: Caller,
    now: int,
    *,
    dry_run: bool = False,
) -> Telemetry:
    """Store a verdict of the caller on a current memory, or remove it with None. Return the memory's telemetry.

    Raises:
        NotFound: the caller sees no such memory.
    """
    found, (rows,) = read(database.primary, space, lambda row: [named(row, name, Point(None, now))])
    memory = shown(rows, space, name, caller, now)
    raw = version_rows.raw(memory.id)
    said = [spaces.guard(found), *telemetry.give_verdict(found, raw, caller.actor, verdict, now)]
    try:
        used = written(database, said, telemetry.of_memory(found, raw, caller.actor), dry_run=dry_run)
    except Refused as refused:  # deleted meanwhile
        raise missing(name) from refused
    return telemetry.telemetry(used, memory.id, found.seq)


WAITING_MAX = 10_000  # results of reads
WRITTEN_MAX = 1_000  # memories in one statement

_Retrieved = dict[str, tuple[int, int]]  # by memory id: number of retrievals and time of the last


class Retrievals:
    """Retrieval counts of all spaces. Instances are thread-safe."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._answers: deque[tuple[str, list[str], int]] = deque(maxlen=WAITING_MAX)
        self._flushing = Lock()

    def note(self, epoch: str, memory_ids: list[str], now: int) -> None:
        """Count a retrieval of some memories of a space. `now` is in microseconds."""
        self._answers.append((epoch, memory_ids, now))

    def flush(self) -> bool:
        """Write the counts. Return whether there were any.

        Raises:
            StoreUnavailable: the counts could not be written. They stay in the buffer.
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
    each = sorted((memory_id.replace("-", ""), counted) for memory_id, counted in found.items())  # as in the table
    for start in range(0, len(each), WRITTEN_MAX):
        yield dict(each[start : start + WRITTEN_MAX])
