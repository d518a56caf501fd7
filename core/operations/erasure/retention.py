"""Erase history older than a space keeps: versions that were no longer current by then, and their changes.

The space first records the earliest point that can still be read. Older history is invisible from then on. It is erased
piece by piece, in the background.
"""

from typing import cast

from muisti.core.operations.erasure import sql as retention
from muisti.core.store.database import Database, Refused
from muisti.core.store.sql import spaces
from muisti.core.store.sql.spaces import SpaceRow

AT_ONCE = 200  # versions, and as many changes, in a step


def forget(database: Database, space: SpaceRow, before: int) -> bool:
    """Erase some versions that were no longer current at `before`, in microseconds. Return whether more are left.

    Versions that a checkpoint pins are kept, and so are versions that were current at that point or came later.
    """
    edge, pinned = database.read([retention.edge(space, before), retention.pinned(space)])
    point = cast(int, edge[0][0]) if edge else 0
    if pinned and pinned[0][0] is not None:
        point = min(point, cast(int, pinned[0][0]))
    try:
        if point > space.kept_from:
            database.write([spaces.guard(space), *retention.move(space, point)])
        *_, more = database.write([spaces.guard(space), *retention.erase(space, AT_ONCE)])
    except Refused:  # the space was erased and created again
        return False
    return bool(more[0][0])
