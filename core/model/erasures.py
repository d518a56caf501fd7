"""Reports of erasing: what was erased, and what a second look at all places still found."""

from collections.abc import Mapping
from datetime import datetime

from msgspec import Struct

from muisti.core.model.values import Json, Seq

# Places that this process cannot check.
ELSEWHERE: Mapping[str, str] = {
    "backups made before": "they keep what they were made of; delete them when their time has come",
    "the disk below the file": "snapshots of the volume, and cells that a disk has put aside, are out of reach",
    "other processes": "each gives up what it holds in memory when it next looks at the space",
    "forks of the space": "their copies are memories of their own; purge them there, or drop the fork",
    "texts of others": "memories that only mention or repeat what was erased are memories of their own",
}


class Erasure(Struct, frozen=True, kw_only=True):
    """A report of an erasure, with the result of a second look at all places.

    `what` is the subject as the caller named it. `erased` counts rows by table. `found` counts what is left by place; 0
    means that nothing is. `unchecked` has the places that could not be checked, and why. `relatives` are ids of
    memories that remain and name an erased one as their parent or predecessor.
    """

    id: str
    space: str
    what: Mapping[str, Json]
    by: str
    began_at: datetime
    ended_at: datetime
    engine: str
    seq: Seq | None
    erased: Mapping[str, int]
    found: Mapping[str, int]
    unchecked: Mapping[str, str]
    relatives: tuple[str, ...]

    @property
    def complete(self) -> bool:
        """Return whether no checked place has anything left."""
        return not any(self.found.values())
