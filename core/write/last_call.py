"""Find the last call of a caller in a space: the request or the import that an undo takes back by default.

Calls count in the order in which they were answered: a task by the point at which it began. A call that undo
cannot take back, such as a purge, is refused by name: its caller does not mean the call before.
"""

from collections.abc import Mapping
from typing import cast

import msgspec

from muisti.core.identity.caller import Caller
from muisti.core.model.errors import NotUndone
from muisti.core.model.outcomes import Instead
from muisti.core.model.times import to_us
from muisti.core.store.database import Database, Row
from muisti.core.store.sql import undo
from muisti.core.store.sql.spaces import SpaceRow

TASKS = 16  # of a caller that are looked at
DONE: Mapping[str, str] = {  # calls that undo does not take back; {} is the target
    "key_created": "created a key of the server: revoking the key takes that back",
    "key_revoked": "revoked a key of the server, which is final",
    "key_rotated": "rotated a key of the server, which is final",
    "keys_cleared": "deleted the keys of the server, which is final",
    "memory_erased": "erased memories for good, and nothing brings them back",
    "conflict_kept": "kept both memories of a conflict, which changed neither",
    "quota_set": "set the quota of the space: setting it again takes that back",
    "policy_set": "set the policy of the space: setting it again takes that back",
    "space_forked": "copied a space: deleting the copy takes that back",
    "checkpoint_created": "created the checkpoint {!r}: deleting it takes that back",
    "checkpoint_deleted": "deleted the checkpoint {!r}: creating it again names the point of now",
    "probe_added": "added a probe: deleting it takes that back",
    "probe_deleted": "deleted a probe: adding it again takes that back",
    "feedback_given": "gave a verdict on a memory: the verdict null takes that back",
    "webhook_created": "created a webhook: deleting it takes that back",
    "webhook_deleted": "deleted a webhook, whose secret is gone",
    "generation_built": "built vectors of another model: dropping these takes that back",
    "generation_switched": "switched the model of the space: switching back takes that back",
    "generation_dropped": "dropped vectors of a model: building them again takes that back",
}


class LastCall(msgspec.Struct, frozen=True):
    """A call, by its request or by the number of its import. `seq` and `at` place it among other calls."""

    seq: int
    at: int
    request: str | None = None
    import_id: int | None = None


class LastCalls:
    """Find last calls. Thread-safe."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def find(self, space: SpaceRow, caller: Caller) -> LastCall | None:
        """Return the caller's last call that can be taken back; None when there is none.

        Raises:
            NotUndone: a later call of the caller still runs as a task, or changed no memory.
        """
        found = self._changed(space, caller)
        imports, tasks = self._database.read([
            undo.imported(space, caller.actor),
            undo.running(space, caller.actor),
        ])  # fmt: skip
        for number, seq, at in cast(list[tuple[int, int, int]], imports):
            if found is None or seq >= found.seq:
                found = LastCall(seq, at, import_id=number)
        for id_, kind, _, done, total, seq in cast(list[tuple[str, str, bool, int, int, int]], tasks):
            if found is None or seq >= found.seq:
                of = f" ({done:,} of {total:,} done)" if total else ""
                raise NotUndone(f"your last call is a task that still runs: {kind}{of}", Instead(task=id_))
        since = to_us(space.space.created_at) if found is None else found.at
        (rows,) = self._database.read([undo.beside(space, caller.actor, since)])
        if rows:
            raise NotUndone(f"your last call {_done(rows[0])}", self._instead(space, caller, found))
        return found

    def _instead(self, space: SpaceRow, caller: Caller, before: LastCall | None) -> Instead:
        if before is None or before.request is None:
            return Instead(import_id=None if before is None else before.import_id)
        (rows,) = self._database.read([undo.size(space, caller.actor, before.request)])
        return Instead(request=before.request, last=cast(int, rows[0][0]))

    def _changed(self, space: SpaceRow, caller: Caller) -> LastCall | None:
        """Return the last request whose changes are not taken back."""
        found, without = None, list[str]()
        while len(without) < TASKS:
            (rows,) = self._database.read([
                undo.last_change(space, caller, 0 if found is None else found.seq, without)
            ])  # fmt: skip
            if not rows:
                break
            request, seq, at = cast(tuple[str | None, int, int], rows[0])
            if request is None:
                return LastCall(seq, at)
            (tasks,) = self._database.read([undo.task_of(space, caller.actor, request)])
            if not tasks:
                return LastCall(seq, at, request)
            began = cast(int, tasks[0][-1])
            if found is None or began >= found.seq:
                found = LastCall(began, at, request)
            without.append(request)
        return found


def _done(row: Row) -> str:
    action, target = cast(tuple[str, str | None], row)
    return DONE[action].format(target)
