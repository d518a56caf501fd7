"""Events of the change feed."""

from datetime import datetime

from msgspec import Struct

from muisti.core.model.terms import ChangeKind
from muisti.core.model.values import Memory, Seq


class Event(Struct, frozen=True, kw_only=True):
    """A change of a memory, or, without one, of the space. `version` is the one that it made or ended.

    `actor` made it, with `request`; None where that was not told. `before` and `after` are None where there is no such
    memory, or where it is not shown.
    """

    seq: int
    at: datetime
    kind: ChangeKind
    memory_id: str | None
    version: int | None
    actor: str | None
    request: str | None
    before: Memory | None
    after: Memory | None


class Events(Struct, frozen=True, kw_only=True):
    """Changes, oldest first. All up to `reached` have been told; `more` when the space has gone further."""

    items: tuple[Event, ...]
    reached: Seq
    more: bool
