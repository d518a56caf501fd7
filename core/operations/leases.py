"""Leases decide which of the processes that share a database does a background task."""

from typing import cast

from muisti.core.operations.sql import leases
from muisti.core.store.database import Database

SECOND_US = 1_000_000


class Leases:
    """Leases of a database. Instances are thread-safe.

    A lease avoids duplicate work; it is not a lock. A process that was suspended for longer than its lease continues
    its task. So every leased task must be correct when two processes run it at the same time.
    """

    def __init__(self, database: Database) -> None:
        self._database = database

    def take(self, name: str, owner: str, seconds: float) -> float:
        """Take or extend the lease of a task for some seconds.

        Return 0 when the owner has it now, else the seconds to wait before the next try.
        """
        (rows,) = self._database.read([leases.state(name)])
        held, wait = cast(tuple[str, int], rows[0]) if rows else ("", 0)
        if held != owner and wait > 0:
            return wait / SECOND_US
        *_, ((now_held,),) = self._database.write(leases.take(name, owner, int(seconds * SECOND_US)))
        return 0.0 if now_held == owner else seconds

    def give_back(self, name: str, owner: str, *, rest: float = 0.0) -> None:
        """End a lease that the owner still has. The task is due again in `rest` seconds."""
        self._database.write([leases.give_back(name, owner, int(rest * SECOND_US))])
