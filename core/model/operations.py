"""Reports of operations on a whole database: erasures, webhooks, the audit log, imports, backups."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Literal

import msgspec
from msgspec import Struct

from muisti.core.model.choices import ChangeKind, Show
from muisti.core.model.errors import InvalidInput, Problem
from muisti.core.model.outcomes import Flag
from muisti.core.model.values import Json, Seq

# Backups: the description that a copy of a database carries


class Stamp(Struct, frozen=True, kw_only=True):
    """A description of a copy: when it was made (microseconds), its size, and the last change of each space."""

    made_at: int
    size: int
    spaces: dict[str, Seq]


class LineProblem(Struct, frozen=True):
    """A line that cannot be imported, counted from 1; 0 when the problem is not in one line.

    `place` is where the memory came from in its original source.
    """

    line: int
    place: str | None
    code: str
    problems: tuple[Problem, ...]


class ImportReport(Struct, frozen=True, kw_only=True):
    """A report of importing a file.

    `created` counts memories, `skipped` counts memories by reason, and `versions` counts the imported versions. `id` is
    None when nothing was imported. `good` counts the memories that could be imported, also when bad lines made the
    whole file be refused. `failures` are the first of the `failed` lines, in their order. `flags` are the first of the
    differences between the lines and what was stored. `origin` is the point of history that the file shows; `seq` is
    the last change of the space.
    """

    id: int | None
    dry_run: bool
    source: str | None
    created: int
    good: int
    versions: int
    skipped: Mapping[str, int]
    failed: int
    failures: tuple[LineProblem, ...]
    vectors_kept: int
    vectors_embedded: int
    origin: Seq | None
    seq: Seq
    flags: tuple[Flag, ...] = ()


class Imported(Struct, frozen=True):
    """An import into a space: its source, who made it, and its changes, `first` to `last`.

    `undone` is the change that undid the import, None while it is in effect.
    """

    id: int
    source: str | None
    actor: str
    at: datetime
    memories: int
    first: int
    last: int
    undone: int | None


class ImportRefused(InvalidInput):
    """Lines of a file are bad, and the caller asked to import all of it or nothing; `report` has the bad lines."""

    def __init__(self, problems: Sequence[Problem], report: ImportReport) -> None:
        super().__init__(problems)
        self.report = report


Action = Literal[
    "space_created",
    "space_deleted",
    "space_cleared",
    "key_created",
    "key_revoked",
    "key_rotated",
    "keys_cleared",
    "memory_deleted",
    "memory_erased",
    "session_deleted",
    "conversation_deleted",
    "topic_deleted",
    "document_deleted",
    "pruned",
    "conflict_kept",
    "quota_set",
    "policy_set",
    "space_rolled_back",
    "memories_cleared",
    "memories_imported",
    "import_undone",
    "space_forked",
    "space_merged",
    "checkpoint_deleted",
    "probe_deleted",
    "webhook_created",
    "webhook_deleted",
    "generation_built",
    "generation_switched",
    "generation_dropped",
    "database_added",
    "database_drained",
    "move_asked",
    "move_ended",
]


class Audited(msgspec.Struct, frozen=True, kw_only=True):
    """An entry of the audit log: who did what. `actor` is the id of a key, or the name of who acts without one."""

    number: int
    at: datetime
    actor: str
    action: Action
    space: str | None
    target: str | None


class AuditPage(msgspec.Struct, frozen=True, kw_only=True):
    """A page of the audit log, newest first. `next_cursor` is None on the last."""

    items: tuple[Audited, ...]
    next_cursor: str | None


class Kept(Struct, frozen=True, kw_only=True):
    """A webhook as it is stored; times in microseconds."""

    id: str
    url: str
    secret: str
    kinds: tuple[ChangeKind, ...]
    show: Show
    made_at: int
    actor: str
    epoch: str
    cursor: int
    attempts: int = 0
    error: str | None = None
    told_at: int | None = None
    stopped: str | None = None


class DeadLetter(Struct, frozen=True):
    """Changes from `first` to `last` that could not be delivered; `at` is the time in microseconds."""

    first: int
    last: int
    attempts: int
    error: str
    at: int


class Webhook(Struct, frozen=True):
    """A webhook, and the changes that could not be delivered, the newest first."""

    kept: Kept
    dead_letters: tuple[DeadLetter, ...] = ()

    @property
    def state(self) -> str:
        """`ok`, `retrying`, or why it has stopped."""
        return self.kept.stopped or ("retrying" if self.kept.attempts else "ok")


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
