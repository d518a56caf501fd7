"""Feedback of callers on memories that they were given: useful or not useful.

The last verdict of each caller counts. Verdicts are stored apart from memories, as retrieval counts are. They change
the rank within bounds (`core.search.factors.feedback_factor`).
"""

from muisti.core.identity.caller import Caller
from muisti.core.model.counts import Telemetry
from muisti.core.model.terms import Verdict
from muisti.core.model.values import Name
from muisti.core.query.points import Point
from muisti.core.read.naming import missing, named, shown
from muisti.core.read.reading import read
from muisti.core.store.database import Database, Refused, written
from muisti.core.store.sql import spaces, telemetry, version_rows


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
