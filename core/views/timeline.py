"""The timeline of a space: its checkpoints, what changed between points, and its forks."""

import msgspec

from muisti.core.model.comparisons import Checkpoint, Comparison, Diff, Strategy
from muisti.core.model.outcomes import Cleared, RolledBack, Written
from muisti.core.model.spaces import Space
from muisti.core.model.values import Seq
from muisti.core.spaces.checkpoints import Checkpoints
from muisti.core.spaces.clearing import Clearer
from muisti.core.spaces.forks import Forks
from muisti.core.views.calls import Calls


class TimelineParts(msgspec.Struct, frozen=True, kw_only=True):
    """Parts from which a `Timeline` is made for a caller."""

    checkpoints: Checkpoints
    clearer: Clearer
    forks: Forks


class Timeline:
    """Versions whole spaces as one caller: points of their history, and copies that are merged."""

    __slots__ = ("_calls", "_parts")

    def __init__(self, parts: TimelineParts, calls: Calls) -> None:
        self._parts = parts
        self._calls = calls

    def create_checkpoint(self, space: str, name: str, note: str | None = None) -> tuple[Checkpoint, Seq]:
        """Name the present point of a space's history; see `Checkpoints.create`."""
        return self._parts.checkpoints.create(space, name, note, self._calls.caller, dry_run=self._calls.dry_run)

    def list_checkpoints(self, space: str) -> tuple[list[Checkpoint], Seq]:
        """Return the checkpoints of a space, newest first."""
        return self._parts.checkpoints.all(space, self._calls.caller)

    def delete_checkpoint(self, space: str, name: str) -> None:
        """Forget a named point; see `Checkpoints.delete`."""
        self._parts.checkpoints.delete(space, name, self._calls.caller, dry_run=self._calls.dry_run)

    def diff(
        self, space: str, since: str, until: str | None = None, *, limit: int = 50, cursor: str | None = None
    ) -> Diff:
        """Return what changed between two points of history; see `Checkpoints.diff`."""
        return self._parts.checkpoints.diff(space, since, until, self._calls.caller, limit=limit, cursor=cursor)

    def roll_back(self, space: str, to: str) -> RolledBack:
        """Restore a whole space as it was at a point; see `Checkpoints.roll_back`."""
        return self._parts.checkpoints.roll_back(space, to, self._calls.new())

    def clear(self, space: str, confirm: str) -> Cleared:
        """End all memories of a space; see `Clearer.clear`."""
        return self._parts.clearer.clear(space, confirm, self._calls.new())

    def fork(self, space: str, name: str) -> Space:
        """Copy a space; see `Forks.fork`."""
        return self._parts.forks.fork(space, name, self._calls.new())

    def compare(self, space: str, other: str, *, limit: int = 50, cursor: str | None = None) -> Comparison:
        """Return what merging another space into this one would change; see `Forks.compare`."""
        return self._parts.forks.compare(space, other, self._calls.new(), limit=limit, cursor=cursor)

    def merge(self, source: str, into: str, strategy: Strategy | None = None, *, drop: bool = False) -> Written:
        """Bring what another space has changed into this one; see `Forks.merge`."""
        return self._parts.forks.merge(source, into, strategy, self._calls.new(), drop=drop)
