"""Describe a call: the caller, the time, and whether it is a dry run. The views of a caller share this."""

import msgspec

from muisti.core.identity.caller import Caller
from muisti.core.model.times import Clock
from muisti.core.model.values import RequestKey
from muisti.core.tasks.claim import UNFENCED, FencedCommit
from muisti.core.write.begun import Call


class Calls(msgspec.Struct, frozen=True):
    """Stamp each call of one caller with the time. With `dry_run`, writes are rolled back.

    `fenced` is what the one write of these calls commits for a task.
    """

    caller: Caller
    clock: Clock
    dry_run: bool = False
    fenced: FencedCommit = UNFENCED

    def new(self, request: RequestKey | None = None) -> Call:
        """Return a call made now. A dry run never counts as a repetition of a request."""
        return Call(
            self.clock(),
            None if self.dry_run else request,
            self.caller,
            self.dry_run,
            UNFENCED if self.dry_run else self.fenced,
        )
