"""The part of a batch that a write commits for its task."""

from collections.abc import Sequence

import msgspec

from muisti.core.model.tasks import TaskOver
from muisti.core.store.database import Refusal, Refused, Statement

_OVER = (Refusal.TASK_LOST, Refusal.TASK_CANCELLED)


class FencedCommit(msgspec.Struct, frozen=True):
    """Statements that begin a batch, and refuse it when its task is over, and statements that end the batch.

    The latter store the states of items and the counters, and prolong the lease.
    """

    before: Sequence[Statement] = ()
    after: Sequence[Statement] = ()


UNFENCED = FencedCommit()  # of a write that is part of no task


def over(refused: Refused) -> TaskOver | None:
    """Return the error that explains the refusal of a fenced commit, or None when something else refused it."""
    return TaskOver(cancelled=refused.code == Refusal.TASK_CANCELLED) if refused.code in _OVER else None
