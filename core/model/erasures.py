"""Reports of erasing: what was erased, and what a second look at all places still found."""

from collections.abc import Mapping
from datetime import datetime

from msgspec import Struct

from muisti.core.model.values import Json, Seq

# Places that this process cannot check.
ELSEWHERE: Mapping[str, str] = {
    "backups made before": "they keep their contents; delete them when they are no longer needed",
    "the disk below the file": "snapshots of the volume and remapped blocks of the disk cannot be checked",
    "other processes": "each drops the memories from its index when it next reads the space",
    "forks of the space": "their copies are separate memories; purge them there, or drop the fork",
    "texts of others": "memories that mention or repeat the erased text are separate memories",
}


class Erasure(Struct, frozen=True, kw_only=True):
    """A report of an erasure, with the result of a second look at all places.

    `what` is the subject as the caller named it. `erased` counts rows by table. `found` counts what is left by place; 0
    means that nothing is. `unchecked` has the places that could not be checked, and why. `relatives` are ids of
    memories that remain and name an erased one as their parent, predecessor or source.
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
