"""Forgets what lies before the time that a space remembers: versions that had died by then, and their changes.

First the space says from which point on it can be shown; from then on nobody sees what lies before, and that is erased
piece by piece, whenever there is time.
"""

from typing import cast

from muisti.core.store.database import Database, Refused
from muisti.core.store.sql import retention, spaces
from muisti.core.store.sql.spaces import SpaceRow

AT_ONCE = 200  # versions, and as many changes, in a step


def forget(database: Database, space: SpaceRow, before: int) -> bool:
    """Erase some of what had died by `before`, in microseconds; whether there is more.

    What somebody has pinned, and what stood then or came later, is kept.
    """
    edge, pinned = database.read([retention.edge(space, before), retention.pinned(space)])
    point = cast(int, edge[0][0]) if edge else 0
    if pinned and pinned[0][0] is not None:
        point = min(point, cast(int, pinned[0][0]))
    try:
        if point > space.kept_from:
            database.write([spaces.guard(space), *retention.move(space, point)])
        *_, more = database.write([spaces.guard(space), *retention.erase(space, AT_ONCE)])
    except Refused:  # the space was made anew
        return False
    return bool(more[0][0])
