"""Review candidates: those that are retrieved become active, others are deprecated. Nothing is deleted."""

from collections import Counter
from collections.abc import Callable
from typing import cast

from muisti.core.model.errors import InvalidInput
from muisti.core.model.outcomes import Reviewed, Written
from muisti.core.model.terms import Status
from muisti.core.model.times import DAY_US
from muisti.core.model.values import Memory
from muisti.core.store.database import Database, Row, Statement
from muisti.core.store.sql import inserting, telemetry, version_rows
from muisti.core.store.sql.spaces import SpaceRow
from muisti.core.write.begun import Call
from muisti.core.write.prepare import carried, reviewed
from muisti.core.write.refusals import Part
from muisti.core.write.transactions import Transactions

AT_ONCE = 500  # memories: some thousand statements, and tens of milliseconds

_Ask = Callable[[SpaceRow], Statement]


class Reviewer:
    """Review the candidates of all spaces. Instances are thread-safe."""

    def __init__(self, database: Database, transactions: Transactions) -> None:
        self._database = database
        self._transactions = transactions

    def promote(self, space: str, retrievals: int, call: Call) -> Reviewed:
        """Activate candidates that were retrieved at least `retrievals` times: some hundreds, oldest first.

        Raises:
            InvalidInput.
        """
        _check(retrievals, 0.0)
        own = call.caller.category
        return self._review(
            space, lambda row: telemetry.proved(row, own, call.now, retrievals, AT_ONCE), "active", call
        )

    def prune(self, space: str, retrievals: int, days: float, call: Call) -> Reviewed:
        """Deprecate candidates older than `days` that were retrieved less often: some hundreds, oldest first.

        Guards and memories of high importance are never deprecated.

        Raises:
            InvalidInput.
        """
        _check(retrievals, days)
        own, before = call.caller.category, call.now - int(days * DAY_US)
        return self._review(
            space,
            lambda row: telemetry.neglected(row, own, call.now, retrievals, before, AT_ONCE),
            "deprecated",
            call,
        )

    def _review(self, name: str, ask: _Ask, status: Status, call: Call) -> Reviewed:
        before: Counter[str] = Counter()

        def attempt(space: SpaceRow) -> Written:
            rows, counts = self._database.read([ask(space), telemetry.by_status(space, call.caller.category)])
            before.clear()
            before.update({str(name): cast(int, number) for name, number in counts})
            if not rows:
                return self._transactions.nothing(space, call)
            parts = [
                self._turned(space, row, status, call, len(rows) - 1 - position) for position, row in enumerate(rows)
            ]
            return self._transactions.commit(
                self._transactions.begin(space, parts, call, created=False, embedded=False)
            )

        written = self._transactions.run(name, call, attempt)
        number = len(written.memories)
        after = before + Counter({status: number})
        after["candidate"] -= number
        return Reviewed(written=written, before=dict(before), after=+after, more=number == AT_ONCE)

    def _turned(self, space: SpaceRow, row: Row, status: Status, call: Call, offset: int) -> Part:
        before: Memory = version_rows.memory(row, space.space.name)
        after = reviewed(before, status, call.now)
        born = self._transactions.guarded_insertion(
            space, carried(after, cast(int, row[0])), "updated", call.caller, offset
        )
        return Part(after, [inserting.refuse_stale(before), inserting.end(space, before, offset), *born])


def _check(retrievals: int, days: float) -> None:
    if not 0 <= retrievals <= 1_000_000:
        raise InvalidInput.at("$.retrievals", f"{retrievals} is not between 0 and 1,000,000")
    if not 0 <= days <= 36_500:
        raise InvalidInput.at("$.days", f"{days:g} is not between 0 and 36,500")
