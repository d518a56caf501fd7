"""Who calls, when, and whether anything stays: what the views of a caller share."""

import msgspec

from muisti.core.identity.caller import Caller
from muisti.core.model.times import Clock
from muisti.core.model.values import RequestKey
from muisti.core.write.begun import Call


class Calls(msgspec.Struct, frozen=True):
    """Stamps each call of one caller with the time. With `dry_run` nothing that is written stays."""

    caller: Caller
    clock: Clock
    dry_run: bool = False

    def new(self, request: RequestKey | None = None) -> Call:
        """Return a call that is made now. A dry run is never a repetition of a request."""
        return Call(self.clock(), None if self.dry_run else request, self.caller, self.dry_run)
