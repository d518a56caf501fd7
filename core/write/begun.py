"""Writes in progress: the call that asks for one, and its prepared batch."""

from collections.abc import Sequence
from time import perf_counter
from typing import cast

import msgspec

from muisti.core.identity.caller import OWNER, Caller
from muisti.core.model.outcomes import Flag, Tally
from muisti.core.model.values import RequestKey
from muisti.core.store.database import Rows, Statement
from muisti.core.store.sql.spaces import SpaceRow
from muisti.core.tasks.fenced_commit import UNFENCED, FencedCommit
from muisti.core.write.conflicts.check import NOT_CHECKED, Checked
from muisti.core.write.refusals import Part


class Call(msgspec.Struct, frozen=True):
    """Time and caller of a write, and the key that makes repeating it harmless. `now` is in microseconds.

    With `dry_run`, the batch is run, reported and rolled back in one step; it has no key. `fenced` is what the batch
    commits for the task that the write is part of; a write that changes nothing commits it alone.
    """

    now: int
    request: RequestKey | None = None
    caller: Caller = OWNER
    dry_run: bool = False
    fenced: FencedCommit = UNFENCED


class Begun(msgspec.Struct, frozen=True):
    """A prepared write. The first `head` statements of its batch precede the statements of the parts.

    `numbers` counts the changes of the parts, `beyond` those that their last statements make in bulk. `tally` is the
    position of the statements that count changes of a whole space. `embedded`: the versions have new texts. `at` is in
    seconds of `perf_counter`.
    """

    space: SpaceRow
    head: int
    batch: Sequence[Statement]
    parts: Sequence[Part]
    call: Call
    created: bool
    checked: Checked = NOT_CHECKED
    ended: tuple[str, ...] = ()
    tally: int | None = None
    numbers: int = 0
    flags: tuple[Flag, ...] = ()
    beyond: int = 0
    embedded: bool = False
    at: float = msgspec.field(default_factory=perf_counter)

    def tallied(self, results: Sequence[Rows]) -> Tally | None:
        """Return the changes of a whole space, as the results of the batch count them; None for memories by name."""
        if self.tally is None:
            return None
        added, changed, ended = (cast(int, rows[0][0]) for rows in results[self.tally : self.tally + 3])
        return Tally(added, changed, ended)
