"""Progress of an erasure, and what each of its batches commits for a task."""

from collections.abc import Callable, Mapping

import msgspec

from muisti.core.store.free_space import Traces
from muisti.core.tasks.claim import UNFENCED, FencedCommit

OfCounts = Callable[[Mapping[str, int]], FencedCommit]  # takes the number of erased rows by table


def unfenced(counts: Mapping[str, int]) -> FencedCommit:
    """Return the fenced commit of an erasure that is part of no task."""
    return UNFENCED


class Work(msgspec.Struct):
    """Progress of an erasure."""

    memories: list[bytes] = msgspec.field(default_factory=list[bytes])
    versions: list[int] = msgspec.field(default_factory=list[int])
    erased: dict[str, int] = msgspec.field(default_factory=dict[str, int])
    relatives: set[bytes] = msgspec.field(default_factory=set[bytes])
    traces: Traces = msgspec.field(default_factory=Traces)
    number: int | None = None
    whole: bool = False  # the space itself is erased

    def count(self, name: str, more: int) -> None:
        self.erased[name] = self.erased.get(name, 0) + more
