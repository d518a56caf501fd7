"""Clear a space: all its current memories end, and a rollback brings them back."""

from muisti.core.model.errors import InvalidInput
from muisti.core.model.outcomes import Cleared, Written
from muisti.core.model.terms import CLEAR_PHRASE
from muisti.core.model.values import Seq
from muisti.core.operations.spaces.checkpoints import TURNS_MAX, check_whole
from muisti.core.store.sql import audit, bulk_replace
from muisti.core.store.sql.spaces import SpaceRow
from muisti.core.write.begun import Call
from muisti.core.write.transactions import Transactions


class Clearer:
    """Thread-safe."""

    def __init__(self, transactions: Transactions) -> None:
        self._transactions = transactions

    def clear(self, space: str, confirm: str, call: Call) -> Cleared:
        """End all memories of a space, in steps of at most `TURNS_MAX`. Rolling back to `before` undoes it.

        A dry run tries the first step.

        Raises:
            InvalidInput: `confirm` is not the phrase; nothing ends.
            NotFound, Forbidden, ModelMismatch, StoreUnavailable.
        """
        check_whole(call.caller)
        if confirm != CLEAR_PHRASE:
            raise InvalidInput.at("$.confirm", f"to delete all memories of the space send {CLEAR_PHRASE!r}")
        entry = audit.note(call.now, call.caller.actor, "memories_cleared", space=space)

        def attempt(row: SpaceRow) -> Written:
            planned = [bulk_replace.end_all(row, TURNS_MAX)]
            return self._transactions.turn(row, planned, "deleted", call, [entry])

        done = self._transactions.run(space, call, attempt)
        before = Seq(done.seq.epoch, done.seq.number - (0 if call.dry_run else _ended(done)))
        total = step = _ended(done)
        while step == TURNS_MAX and not call.dry_run:
            done = self._transactions.run(space, call, attempt)
            step = _ended(done)
            total += step
        return Cleared(ended=total, before=before, written=done)


def _ended(done: Written) -> int:
    assert done.tally is not None
    return done.tally.ended
