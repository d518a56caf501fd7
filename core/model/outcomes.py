"""Outcomes of writes and reads: changes, similar memories, conflicts, differences and counts. Frozen, without I/O."""

from collections.abc import Mapping
from datetime import datetime
from typing import Literal

import msgspec
from msgspec import Struct

from muisti.core.model.choices import ChangeKind, Type, Verdict
from muisti.core.model.values import FieldChange, Memory, Seq, Stretch

# Events of the change feed


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


LikenessKind = Literal["duplicate", "conflict", "possible_conflict", "similar", "address"]
ReviewKind = Literal["duplicate", "conflict", "possible_conflict"]  # kinds of pairs that wait for a decision
DifferenceKind = Literal["negation", "opposite", "number", "date", "name"]
FlagCode = Literal["redacted", "suspected", "trust_lowered", "echo"]


class Difference(msgspec.Struct, frozen=True):
    """A difference between two memories that are otherwise alike: the words of each, None where one has none."""

    kind: DifferenceKind
    existing: str | None
    new: str | None


class Likeness(msgspec.Struct, frozen=True, kw_only=True):
    """A current memory that is like a new one. `content` is its beginning.

    A `duplicate` says the same, a `conflict` the contrary, a `possible_conflict` perhaps the contrary, a `similar` one
    nearly the same. An `address` only has the same category and key. `similarity` is the cosine of both texts, None
    where they were not compared.
    """

    id: str
    kind: LikenessKind
    similarity: float | None
    differs: tuple[Difference, ...]
    content: str
    category: str | None
    key: str | None


class Flag(msgspec.Struct, frozen=True, kw_only=True):
    """A difference between what a write was asked to store and what it stored.

    `path` is the JSON path in the request, `kind` what was recognised there, `ids` are the memories that are the
    reason.
    """

    code: FlagCode
    path: str
    kind: str | None = None
    ids: tuple[str, ...] = ()


class TypeSuggestion(msgspec.Struct, frozen=True, kw_only=True):
    """A type that would suit a memory, by its id. Its content reads like a standing instruction about its `scope`.

    `scope` is a stretch of the content, None where the instruction applies to everything.
    """

    id: str
    type: Type
    scope: Stretch | None


class Tally(msgspec.Struct, frozen=True):
    """Counts of the memories that one step added or restored, changed, and ended."""

    added: int
    changed: int
    ended: int

    @property
    def changes(self) -> int:
        return self.added + self.changed + self.ended


class Undo(msgspec.Struct, frozen=True, kw_only=True):
    """The changes to undo: the `last` ones of a request, of memories of an author, or otherwise of the caller.

    Without `last` it is the whole request, that of the caller's last change if none is named; of an author one change.
    """

    last: int | None = None
    author: str | None = None
    request: str | None = None


class LaterChange(msgspec.Struct, frozen=True):
    """A change to a memory after one that is to be undone. `actor` made it, None where that is not known."""

    seq: int
    kind: str
    memory_id: str
    actor: str | None


class Instead(msgspec.Struct, frozen=True, kw_only=True):
    """The way on from an undo that is refused: a request, an import or a task that can be taken back or ended.

    `last` is the number of changes that are left of the request.
    """

    request: str | None = None
    last: int | None = None
    import_id: int | None = None
    task: str | None = None


class Planned(msgspec.Struct, frozen=True):
    """A change that a write would make: its kind, the memory, and the version that it would make or end."""

    kind: str
    memory_id: str
    version: int


class Shift(msgspec.Struct, frozen=True):
    """A probe whose expected memory would change its rank. Ranks count from 1; None is beyond the first 100."""

    id: str
    query: str
    before: int | None
    after: int | None


class Plan(msgspec.Struct, frozen=True):
    """The result of a dry run: the number of changes that the write would make, and the first of them.

    `probes` are those whose ranks would change. It is None when checking takes too long, or the caller may not know.
    """

    changes: int
    items: tuple[Planned, ...]
    probes: tuple[Shift, ...] | None = ()


class Written(msgspec.Struct, frozen=True, kw_only=True):
    """The outcome of a write. `replayed` is true when an earlier request with the same key did the work.

    `similar` are memories like the one that was added. The check for them has seen all changes up to `checked_at`, None
    when there was no check. `commit` is the time until all was durable in milliseconds, 0 when nothing was stored.
    `ended` are the ids of memories that an undo deleted. With a `plan` nothing was stored. `flags` are the differences
    to what was requested. `degraded` says in words what searches cannot do yet with the texts. `tally` counts the
    memories that one step changed in a whole space. `undone` says in words which changes an undo took back.
    """

    memories: tuple[Memory, ...]
    seq: Seq
    created: bool
    replayed: bool = False
    similar: tuple[Likeness, ...] = ()
    checked_at: Seq | None = None
    commit: float = 0.0
    ended: tuple[str, ...] = ()
    plan: Plan | None = None
    flags: tuple[Flag, ...] = ()
    degraded: tuple[str, ...] = ()
    tally: Tally | None = None
    undone: str = ""


class RolledBack(msgspec.Struct, frozen=True, kw_only=True):
    """The outcome of rolling a space back to `to`. Rolling back to `before`, the point before it, undoes it."""

    to: Seq
    before: Seq
    written: Written


class Cleared(msgspec.Struct, frozen=True, kw_only=True):
    """The outcome of clearing a space. Rolling back to `before`, the point before it, undoes it."""

    ended: int
    before: Seq
    written: Written


class Reviewed(msgspec.Struct, frozen=True, kw_only=True):
    """The outcome of a review of candidates: the memories that changed, and counts by status before and after.

    `more` is true when the review reached its limit, so another may find more.
    """

    written: Written
    before: Mapping[str, int]
    after: Mapping[str, int]
    more: bool


class OpenConflict(Struct, frozen=True, kw_only=True):
    """Two current memories, the later of which repeats or contradicts the other.

    `similarity` is the cosine of both texts when they were compared; `differs` has the words in which they differ.
    """

    id: int
    kind: ReviewKind
    similarity: float | None
    opened_at: datetime
    actor: str
    existing: Memory
    new: Memory
    differs: tuple[Difference, ...]


class ConflictPage(Struct, frozen=True, kw_only=True):
    """A page of open conflicts, newest first. `next_cursor` is None on the last."""

    items: tuple[OpenConflict, ...]
    next_cursor: str | None
    seq: Seq


# Differences between two points of a space, or between two spaces

Strategy = Literal["ours", "theirs"]


class Checkpoint(msgspec.Struct, frozen=True, kw_only=True):
    """A named point of a space's history, and who named it."""

    name: str
    seq: int
    created_at: datetime
    actor: str
    note: str | None


class MemoryChange(msgspec.Struct, frozen=True, kw_only=True):
    """A change of a memory between two points; `before` and `after` are None where it was not current."""

    id: str
    change: Literal["added", "changed", "ended"]
    before: Memory | None
    after: Memory | None
    fields: tuple[FieldChange, ...]


class Diff(msgspec.Struct, frozen=True, kw_only=True):
    """A page of memories that changed between two points, ordered by id. `next_cursor` is None on the last page."""

    items: tuple[MemoryChange, ...]
    next_cursor: str | None
    since: Seq
    until: Seq


class Divergence(msgspec.Struct, frozen=True, kw_only=True):
    """A memory that differs between a space and another that is to be merged into it.

    `ours` is the memory of the space and `theirs` that of the other; None where there is none. `here` and `there` are
    the fields that each has changed since both were the same. `conflict` is true when both have changed the memory, or
    two memories have the same address.
    """

    id: str
    other: str
    conflict: bool
    ours: Memory | None
    theirs: Memory | None
    here: tuple[FieldChange, ...]
    there: tuple[FieldChange, ...]


class Comparison(msgspec.Struct, frozen=True, kw_only=True):
    """A page of memories that differ between a space, at `seq`, and another, at `other`; no cursor on the last page."""

    items: tuple[Divergence, ...]
    next_cursor: str | None
    seq: Seq
    other: Seq


# Counts, sizes and rates


class Telemetry(msgspec.Struct, frozen=True, kw_only=True):
    """Retrieval and feedback counts of a memory: how often searches and reads returned it, and what callers thought.

    Retrievals are best-effort: they are counted in batches and are no change of the memory. `useful` and `not_useful`
    are how many callers gave that verdict; `feedback` is the verdict of the caller who asks.
    """

    memory_id: str
    retrieval_count: int
    last_retrieved_at: datetime | None
    useful: int
    not_useful: int
    feedback: Verdict | None
    seq: Seq


class Count(msgspec.Struct, frozen=True, kw_only=True):
    """A name and how many current memories have it."""

    name: str
    count: int


class Counts(msgspec.Struct, frozen=True, kw_only=True):
    """Names and their counts, most frequent first."""

    items: tuple[Count, ...]
    seq: Seq


class Quota(msgspec.Struct, frozen=True, kw_only=True):
    """Limits on what a space may hold; None for no limit."""

    memories: int | None = None
    bytes: int | None = None


class Usage(msgspec.Struct, frozen=True, kw_only=True):
    """The size of a space, counting memories that are not deleted and the bytes that callers stated, and its quota."""

    memories: int
    bytes: int
    quota: Quota


class SpaceUse(msgspec.Struct, frozen=True, kw_only=True):
    """The size of a space by its counters, and its last change, None before the first."""

    memories: int
    bytes: int
    last_change_at: datetime | None


class Stats(msgspec.Struct, frozen=True, kw_only=True):
    """Sizes of a space. `by` counts current memories by kind, type, status and importance; bytes are of content.

    `by_day` counts changes of the last 30 days by day in UTC and kind. `usage` is of the whole space, None for those of
    one category.
    """

    memories: int
    versions: int
    passages: int
    tokens: int
    content_bytes: int
    expired: int
    changes: int
    changes_last_day: int
    by: Mapping[str, Mapping[str, int]]
    by_day: Mapping[str, Mapping[str, int]]
    last_change_at: datetime | None
    usage: Usage | None
    seq: Seq


class Warmed(msgspec.Struct, frozen=True, kw_only=True):
    """Index and model of a space, loaded so that the next search need not wait.

    `loaded` is False where the index was in memory. `fits` is False where it takes more than the limit of all indexes
    and will be the only one. `model` is the name of the model that is ready, None when none is on board.
    """

    loaded: bool
    fits: bool
    seconds: float
    model: str | None
    seq: Seq


class Ending(msgspec.Struct, frozen=True, kw_only=True):
    """Counts of what a deletion ends, or would end, by kind, and the point of history after it."""

    counts: Mapping[str, int]
    seq: Seq
    plan: Plan | None = None
    commit: float = 0.0

    @property
    def total(self) -> int:
        return sum(self.counts.values())
