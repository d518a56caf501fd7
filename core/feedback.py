"""What callers say of a memory that they were given: that it was useful, or that it was not.

One verdict of each caller counts, the last. It is kept apart from the memory, as retrievals are, and ranks within
bounds (`core.decay.feedback_factor`).
"""

from core.caller import Caller
from core.counts import Telemetry
from core.errors import NotFound
from core.ids import id_bytes
from core.reading import current, read
from core.store import feedback, memories, spaces, telemetry
from core.store.database import Database, Refused
from core.store.trial import written
from core.terms import Verdict


def give(
    database: Database,
    space: str,
    memory_id: str,
    verdict: Verdict | None,
    caller: Caller,
    now: int,
    *,
    dry_run: bool = False,
) -> Telemetry:
    """Note a verdict of the caller on a current memory, None to take it back; what is known of the memory then.

    Raises:
        NotFound: there is no such memory for the caller.
    """
    raw = id_bytes(memory_id)
    if raw is None:
        raise NotFound("memory", memory_id)
    found, (rows,) = read(database.primary, space, lambda row: [memories.living(row, raw)])
    memory = current(rows, space, memory_id, caller, now)
    said = [spaces.guard(found), *feedback.give(found, raw, caller.actor, verdict, now)]
    try:
        used = written(database, said, telemetry.of_memory(found, raw, caller.actor), dry_run=dry_run)
    except Refused as refused:  # it was deleted meanwhile
        raise NotFound("memory", memory_id) from refused
    return telemetry.telemetry(used, memory.id, found.seq)
