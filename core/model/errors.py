"""Errors of the core: everything that it can refuse to do.

    MuistiError
    ├── InvalidInput          the caller can fix a field; `problems` says which and how
    │   └── SensitiveContent  a field contains a secret or personal data, which the space refuses
    ├── NotFound              no such space, memory or entry
    ├── Forbidden             the caller may not write this
    ├── Conflict              the request conflicts with stored data
    │   ├── Similar           a current memory is like a new one
    │   │   ├── Duplicate     it says the same
    │   │   └── Contradiction it says the contrary
    │   ├── Echo              the author has just retrieved what the new memory says, and the space refuses echoes
    │   ├── AddressTaken      the category and key belong to another current memory
    │   ├── PlaceTaken        a session, conversation or topic has the name, or the turn is there with other content
    │   ├── ConversationClosed  the conversation takes no turns until it is reopened
    │   ├── ChangedSince      others have changed what is to be undone
    │   ├── NotUndone         undo does not take back such a call, or only as a whole
    │   ├── MergeConflict     two spaces have changed the same memories
    │   ├── AlreadyExists     a space or checkpoint of this name exists
    │   ├── ModelMismatch     the space was embedded by another model
    │   ├── RecallDropped     the probes of a space have less recall with another model
    │   └── RequestReused     an idempotency key was used again with another body
    ├── QuotaExceeded         the space would exceed its quota
    ├── TooLarge              the database takes less in one request; send less at a time
    ├── Stale                 the memory has changed since the version that the caller names
    ├── EpochGone             the caller's point of history belongs to a space that has been replaced
    ├── PastRetention         the point of history is older than what the space keeps
    ├── PointAhead            the point of history is in the future
    ├── NotYetReplicated      the point of history has not been replicated here yet; safe to retry
    ├── Busy                  too many requests are waiting; safe to retry
    ├── StoreUnavailable      the database did not answer; safe to retry
    │   ├── StoreFailing      the file cannot be read or written
    │   ├── StoreFull         the disk is full
    │   ├── StoreReplaced     its file was deleted, moved or replaced while it was open
    │   ├── StoreReadOnly     its file can only be read
    │   └── DatabaseDown      the database of the space did not answer; other spaces may be elsewhere
    ├── SpaceMoving           the space is on its way to another database; safe to retry
    ├── ModelUnavailable      the model did not embed a text; safe to retry
    ├── StoreCorrupt          the file is damaged, or no database of Muisti
    └── SchemaTooNew          a newer Muisti has written this database

Clients may rely on `code`; the message may change. Conflicts of a new memory with stored ones are in
`core.model.collisions`.
"""

from collections.abc import Sequence
from typing import ClassVar

import msgspec

from muisti.core.model.outcomes import Divergence, Instead, LaterChange, Usage

PROBLEMS = 100  # fields that a refusal of a batch names at most
TAKE_THE_REST = "atomic=false stores those (on the command line --each)"
NAMED = 5  # ids that a message names at most


class MuistiError(Exception):
    """Base class of all errors of the core. Each concrete class has a stable `code`."""

    code: ClassVar[str] = "internal"


class Problem(msgspec.Struct, frozen=True):
    """One bad field: `path` is a JSON path such as `$.memories[3].key`, `message` says what to do."""

    path: str
    message: str


def placed(message: str) -> tuple[str, str]:
    """Split msgspec's message into the fault and the JSON path at which it is.

    >>> placed("Expected `int`, got `str` - at `$.limit`"), placed("Expected `int`")
    (('Expected `int`, got `str`', '$.limit'), ('Expected `int`', '$'))
    """
    fault, mark, place = message.rpartition(" - at `")
    path = place.removeprefix("key` in `").removesuffix("`")
    return (fault, path) if mark and place.endswith("`") and path.startswith("$") else (message, "$")


class InvalidInput(MuistiError):
    """One or more fields of the request are invalid."""

    code = "invalid_input"

    def __init__(self, problems: Sequence[Problem]) -> None:
        super().__init__("; ".join(f"{p.path}: {p.message}" for p in problems))
        self.problems = tuple(problems)

    @classmethod
    def at(cls, path: str, message: str) -> "InvalidInput":
        """Make the refusal of a single field."""
        return cls([Problem(path, message)])


class SensitiveContent(InvalidInput):
    """A text looks like a secret or like personal data. The message names its field and kind, and never shows the text.

    `refused` counts the memories of a batch that contain such text, `of` all memories of the batch.
    """

    code = "sensitive_content"

    def __init__(self, problems: Sequence[Problem], refused: int = 1, of: int = 1) -> None:
        super().__init__(problems[:PROBLEMS])
        self.refused, self.of, self._unnamed = refused, of, max(0, len(problems) - PROBLEMS)

    def __str__(self) -> str:
        message = super().__str__()
        if self.of == 1:
            return message
        more = f"; and {self._unnamed:,} more" if self._unnamed else ""
        rest = f"{self.of - self.refused:,} of {self.of:,} memories contain nothing of the kind"
        return f"{message}{more}; {rest}: {TAKE_THE_REST}"


class NotFound(MuistiError):
    """The thing does not exist, or is deleted. With an empty `name` the message says that there is none of its kind."""

    code = "not_found"

    def __init__(self, kind: str, name: str, hint: str = "") -> None:
        named = f" {name!r}" if name else ""
        super().__init__(f"no {kind}{named}{hint and '; '}{hint}")
        self.kind, self.name = kind, name


class Forbidden(MuistiError):
    """The caller may not write this."""

    code = "forbidden"


class Conflict(MuistiError):
    """The request conflicts with stored data."""

    code = "conflict"


class PlaceTaken(Conflict):
    """A session, conversation or topic of this name exists, or the turn of the conversation has another content."""

    code = "place_taken"

    def __init__(self, kind: str, name: str, turn: int | None = None) -> None:
        told = f"a {kind} {name!r} exists already; choose another name, or change that one"
        if turn is not None:
            told = (
                f"turn {turn} of conversation {name!r} is there with another content; nothing was stored: "
                "send the next turn, or PATCH that one to correct it"
            )
        super().__init__(told)
        self.kind, self.name, self.turn = kind, name, turn


class ConversationClosed(Conflict):
    """The conversation takes no more turns until it is opened again."""

    code = "conversation_closed"

    def __init__(self, name: str) -> None:
        super().__init__(f"conversation {name!r} is closed; nothing was stored: reopen it, or start another")
        self.name = name


class ChangedSince(Conflict):
    """Others have changed what is to be undone: `found`, oldest first."""

    code = "changed_since"

    def __init__(self, found: Sequence[LaterChange]) -> None:
        self.found = tuple(found)
        named = [
            f"{one.memory_id} (change {one.seq}, {one.kind}, by {one.actor or 'an unknown caller'})" for one in found
        ]
        more = f" and {len(named) - NAMED} more" if len(named) > NAMED else ""
        super().__init__(
            f"nothing was undone: later changes depend on these, of {', '.join(named[:NAMED])}{more}; "
            "undo those first, or restore single memories"
        )


class NotUndone(Conflict):
    """Undo does not take back such a call, or only as a whole, or not yet; `instead` is the way on."""

    code = "not_undone"

    def __init__(self, why: str, instead: Instead) -> None:
        super().__init__(f"nothing was undone: {why}")
        self.instead = instead


class MergeConflict(Conflict):
    """Two spaces have changed the same memories: `found`, the first of them."""

    code = "merge_conflict"

    def __init__(self, source: str, into: str, found: Sequence[Divergence]) -> None:
        self.found = tuple(found)
        named = ", ".join(one.id for one in self.found[:NAMED])
        more = " and others" if len(self.found) > NAMED else ""
        super().__init__(
            f"nothing was merged: {source!r} and {into!r} have both changed {named}{more}; change one of each, or "
            f"choose which to keep: ours ({into!r}) or theirs ({source!r})"
        )


class AlreadyExists(Conflict):
    """A space or checkpoint of this name exists."""

    code = "already_exists"


class ModelMismatch(Conflict):
    """The vectors of a space come from another model than the one in use."""

    code = "model_mismatch"


class RecallDropped(Conflict):
    """The probes of a space have less recall with another model."""

    code = "recall_dropped"

    def __init__(self, space: str, before: float, after: float) -> None:
        self.before, self.after = before, after
        super().__init__(
            f"the probes of space {space!r} had a recall of {before:.3f}, and would have {after:.3f}; the space "
            "keeps its model: use force to change it anyway"
        )


class RequestReused(Conflict):
    """The idempotency key was used for another request."""

    code = "idempotency_key_reused"

    def __init__(self, key: str) -> None:
        super().__init__(f"Idempotency-Key {key!r} was used with another request; use a new key for a new request")


class QuotaExceeded(MuistiError):
    """The space would exceed its quota. `usage` is its size now, None when the caller may not know it."""

    code = "quota_exceeded"

    def __init__(self, space: str, usage: Usage | None) -> None:
        self.space, self.usage = space, usage
        super().__init__(
            f"space {space!r} would exceed its quota{self._holds()}; nothing was stored: delete "
            "memories, or ask the operator for a larger quota"
        )

    def _holds(self) -> str:
        if self.usage is None:
            return ""
        held = (
            (self.usage.memories, self.usage.quota.memories, "memories"),
            (self.usage.bytes, self.usage.quota.bytes, "bytes"),
        )
        return ": it holds " + " and ".join(f"{n:,} of {most:,} {what}" for n, most, what in held if most is not None)


class TooLarge(MuistiError):
    """The request is larger than the database takes, or a compressed file grows too large; nothing was stored."""

    code = "too_large"


class Stale(MuistiError):
    """The caller's version is not the newest."""

    code = "stale_version"

    def __init__(self, memory_id: str, version: int) -> None:
        super().__init__(f"memory {memory_id} is at version {version}; read it again and repeat the change")
        self.version = version


class EpochGone(MuistiError):
    """The named point of history is of another epoch of the space."""

    code = "epoch_gone"


class PastRetention(MuistiError):
    """The named point of history is older than what the space keeps."""

    code = "past_retention"


class PointAhead(MuistiError):
    """The named point of history is in the future."""

    code = "point_ahead"


class NotYetReplicated(MuistiError):
    """The named point of history has not been replicated to this database yet."""

    code = "not_yet_replicated"


class Busy(MuistiError):
    """Too many requests are waiting already."""

    code = "busy"


class StoreUnavailable(MuistiError):
    """The database did not answer or is locked."""

    code = "store_unavailable"


class StoreFailing(StoreUnavailable):
    """The system refuses to read or write the database file: a failing disk, a quota, or permissions."""


class StoreFull(StoreUnavailable):
    """The disk has no space left for the database."""

    code = "store_full"


class StoreReplaced(StoreUnavailable):
    """The database file was deleted, moved, replaced or written over while it was open."""

    code = "store_replaced"


class StoreReadOnly(StoreUnavailable):
    """The database file can be read but not written."""

    code = "store_read_only"


class DatabaseDown(StoreUnavailable):
    """The database that has the space did not answer. Spaces of other databases are there."""

    code = "database_unavailable"

    def __init__(self, name: str, detail: str = "") -> None:
        super().__init__(f"the database {name!r} does not answer{detail and ': '}{detail}")
        self.name = name


class SpaceMoving(MuistiError):
    """The space is on its way to another database, and nothing was done."""

    code = "space_moving"

    def __init__(self) -> None:
        super().__init__("the space is on its way to another database, and nothing was done; try again in a moment")


class StoreCorrupt(MuistiError):
    """The database is damaged, or is no Muisti database."""

    code = "store_corrupt"


class SchemaTooNew(MuistiError):
    """The database was written by a newer Muisti."""

    code = "schema_too_new"


class ModelUnavailable(MuistiError):
    """The model did not embed a text; safe to retry. The message names no key and no text."""

    code = "model_unavailable"
