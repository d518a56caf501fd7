"""Leases: which of the processes that share a database does a work of the background."""

from typing import cast

from muisti.core.store.database import Database
from muisti.core.store.sql import leases

SECOND_US = 1_000_000


class Leases:
    """The leases of a database. Thread-safe.

    A lease spares work and keeps processes out of each other's way. It is no lock: a process that was stopped for
    longer than its lease goes on where it was. What is done under it must be right when two do it at once.
    """

    def __init__(self, database: Database) -> None:
        self._database = database

    def take(self, name: str, owner: str, seconds: float) -> float:
        """Lease a work for so many seconds, or prolong the lease.

        Gives 0 when it is the owner's now, else the seconds until another try makes sense.
        """
        (rows,) = self._database.read([leases.state(name)])
        held, wait = cast(tuple[str, int], rows[0]) if rows else ("", 0)
        if held != owner and wait > 0:
            return wait / SECOND_US
        *_, ((now_held,),) = self._database.write(leases.take(name, owner, int(seconds * SECOND_US)))
        return 0.0 if now_held == owner else seconds

    def give_back(self, name: str, owner: str, *, rest: float = 0.0) -> None:
        """End a lease that is still the owner's; the work is due again in `rest` seconds."""
        self._database.write([leases.give_back(name, owner, int(rest * SECOND_US))])
