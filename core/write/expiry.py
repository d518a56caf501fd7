"""End expired memories, so that the history records when each one ended."""

from muisti.core.identity.caller import Caller
from muisti.core.model.outcomes import Written
from muisti.core.store.database import Database
from muisti.core.store.sql import changes, memories, version_rows
from muisti.core.store.sql.spaces import SpaceRow
from muisti.core.write.begun import Call
from muisti.core.write.refusals import Part
from muisti.core.write.titles import retitled
from muisti.core.write.transactions import Transactions

AT_ONCE = 100  # memories in a step
EXPIRY = Caller("expiry")  # actor of these changes


class Expirer:
    """End expired memories of all spaces. Instances are thread-safe."""

    def __init__(self, database: Database, transactions: Transactions) -> None:
        self._database = database
        self._transactions = transactions

    def step(self, space: str, now: int) -> bool:
        """End some memories of a space that have expired at `now` (microseconds). Return whether more may be left.

        Raises:
            NotFound: there is no such space.
        """
        call = Call(now, caller=EXPIRY)

        def attempt(found: SpaceRow) -> Written:
            (rows,) = self._database.read([memories.expired(found, now, AT_ONCE)])
            gone = [version_rows.memory(row, space) for row in rows]
            if not gone:
                return Written(memories=(), seq=found.seq, created=False)
            last = len(gone) - 1
            parts = retitled(self._database, found, ((one, None) for one in gone), call, len(gone))
            parts += [
                Part(one, changes.expiry(found, one, EXPIRY, last - place), position=place)
                for place, one in enumerate(gone)
            ]
            return self._transactions.commit(
                self._transactions.begin(found, parts, call, created=False, embedded=False)
            )

        return len(self._transactions.run(space, call, attempt).memories) == AT_ONCE
