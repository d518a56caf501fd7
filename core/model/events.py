"""Events of the change feed."""

from datetime import datetime

from msgspec import Struct

from muisti.core.model.terms import ChangeKind
from muisti.core.model.values import Memory, Seq


class Event(Struct, frozen=True, kw_only=True):
    """A change of a memory, or of the whole space when `memory_id` is None. `version` is the one it made or ended.

    `actor` made the change, with the request id `request`; None where it is not known. `before` and `after` are None
    where there is no such memory, or where the caller did not ask for it.
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
    """Changes, oldest first, complete up to `reached`; `more` is true when the space has later changes."""

    items: tuple[Event, ...]
    reached: Seq
    more: bool
