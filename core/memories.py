"""The memories of all spaces, as one caller reads and changes them."""

from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import cast

import msgspec
from msgspec.structs import replace

from muisti.core.identity.caller import Caller
from muisti.core.model.comparisons import Checkpoint, Comparison, Diff, Strategy
from muisti.core.model.conflicts import ConflictPage, OpenConflict
from muisti.core.model.counts import Counts, Quota, Stats, Telemetry
from muisti.core.model.errors import Forbidden, NotFound, StoreUnavailable
from muisti.core.model.events import Events
from muisti.core.model.hits import Answer
from muisti.core.model.ids import id_bytes, id_text
from muisti.core.model.imports import Imported
from muisti.core.model.lint import AT_ONCE, Limits, Report
from muisti.core.model.outcomes import Reviewed, RolledBack, Undo, Written
from muisti.core.model.spaces import Space
from muisti.core.model.terms import (
    CHECKS,
    PROMOTE_RETRIEVALS,
    PRUNE_DAYS,
    PRUNE_RETRIEVALS,
    Check,
    Decision,
    OnConflict,
    Verdict,
)
from muisti.core.model.times import Clock
from muisti.core.model.values import Address, Draft, Found, History, IfMatch, Memory, Name, Page, RequestKey, Seq
from muisti.core.quality.lint import Linter
from muisti.core.query.changes import Wanted
from muisti.core.query.filters import Filter
from muisti.core.query.points import AsOf, Point
from muisti.core.query.query import Query
from muisti.core.read import facets
from muisti.core.read.diff import compared
from muisti.core.read.feed import changes_of
from muisti.core.read.feedback import give
from muisti.core.read.listing import order_of, page, page_of
from muisti.core.read.naming import id_of, last_id, missing, named, shown
from muisti.core.read.past import AskAt, read_at
from muisti.core.read.reading import Ask, current, find_space, read
from muisti.core.read.telemetry import Retrievals
from muisti.core.search.searcher import Searcher
from muisti.core.spaces.checkpoints import Checkpoints
from muisti.core.spaces.forks import Forks
from muisti.core.store.database import Database, Rows
from muisti.core.store.database import Ended as Ended
from muisti.core.store.database import Outcome as Outcome
from muisti.core.store.sql import memories, telemetry, version_rows
from muisti.core.store.sql.spaces import SpaceRow
from muisti.core.support.waiting import WouldWait, without_waiting
from muisti.core.transfer.export import Export
from muisti.core.transfer.importing.importer import Import as Import
from muisti.core.transfer.importing.importer import Importer
from muisti.core.write.begun import Begun as Begun
from muisti.core.write.begun import Call
from muisti.core.write.decisions import Conflicts
from muisti.core.write.lifecycle import Lives
from muisti.core.write.recent_results import Served
from muisti.core.write.review import Reviewer
from muisti.core.write.undo import Undoer
from muisti.core.write.validate import check_query
from muisti.core.write.writer import Writer


class Parts(msgspec.Struct, frozen=True):
    """What all callers share."""

    database: Database
    clock: Clock
    writer: Writer
    lives: Lives
    undoer: Undoer
    checkpoints: Checkpoints
    forks: Forks
    searcher: Searcher
    retrievals: Retrievals
    served: Served
    reviewer: Reviewer
    linter: Linter
    conflicts: Conflicts
    importer: Importer
    quota: Quota


class Memories:
    """Synchronous and thread-safe; callers own the threads.

    Every method raises `NotFound` when there is no space of that name. Bad values raise `InvalidInput`, a database
    that does not answer `StoreUnavailable`. What the caller may not see is not there.
    """

    def __init__(self, parts: Parts, caller: Caller, *, dry_run: bool = False) -> None:
        """`dry_run`: whatever is written is told with its `plan`, and nothing of it stays."""
        self._parts = parts
        self._caller = caller
        self._dry_run = dry_run

    def add(
        self,
        space: str,
        drafts: Sequence[Draft],
        *,
        on_conflict: OnConflict = "reject",
        request: RequestKey | None = None,
        path: str = "$",
    ) -> Written:
        """Store all drafts or none; see `Writer.add`."""
        return self._parts.writer.add(space, drafts, on_conflict, self._call(request), path)

    def expect(self, writes: int) -> None:
        """Note that so many more adds are about to begin (fewer when negative): those that begin wait for them."""
        self._parts.database.primary.expect(writes)

    def begin_add(self, space: str, draft: Draft, on_conflict: OnConflict, ended: Ended) -> Begun | None:
        """Store a draft without waiting for the disk, when the rest takes a millisecond or two; else None.

        `ended` is told the outcome by another thread. It belongs to `end_add`.

        Raises:
            InvalidInput, Duplicate, Contradiction.
        """
        try:
            with without_waiting():
                begun = self._parts.writer.begin_add(space, draft, on_conflict, self._call(None))
        except WouldWait:
            return None
        return begun if begun is not None and self._parts.database.primary.queue(begun.batch, ended) else None

    def end_add(self, begun: Begun, outcome: Outcome) -> Written | None:
        """What `add` would give or raise; None when the space changed meanwhile, and the draft is to be added anew."""
        return self._parts.writer.end_add(begun, outcome)

    def update(
        self,
        space: str,
        name: Name,
        changes: Mapping[str, object],
        *,
        if_match: IfMatch = None,
        request: RequestKey | None = None,
    ) -> Written:
        """Change the given fields of a memory; see `Writer.update`."""
        return self._parts.writer.update(space, name, changes, if_match, self._call(request))

    def supersede(
        self,
        space: str,
        name: Name,
        draft: Draft,
        *,
        if_match: IfMatch = None,
        request: RequestKey | None = None,
    ) -> Written:
        """Put a new memory in place of a current one; see `Lives.supersede`."""
        return self._parts.lives.supersede(space, name, draft, if_match, self._call(request))

    def restore(
        self,
        space: str,
        name: Name,
        version: int | None = None,
        *,
        if_match: IfMatch = None,
        request: RequestKey | None = None,
    ) -> Written:
        """Restore a version of a memory; see `Lives.restore`."""
        return self._parts.lives.restore(space, name, version, if_match, self._call(request))

    def undo(self, space: str, which: Undo, *, request: RequestKey | None = None) -> Written:
        """Take changes back; see `Undoer.undo`."""
        return self._parts.undoer.undo(space, which, self._call(request))

    def roll_back(self, space: str, to: str) -> RolledBack:
        """Let a whole space stand as it stood; see `Checkpoints.roll_back`."""
        return self._parts.checkpoints.roll_back(space, to, self._call(None))

    def fork(self, space: str, name: str) -> Space:
        """Copy a space; see `Forks.fork`."""
        return self._parts.forks.fork(space, name, self._call(None))

    def compare(self, space: str, other: str, *, limit: int = 50, cursor: str | None = None) -> Comparison:
        """What would come of merging another space into this one; see `Forks.compare`."""
        return self._parts.forks.compare(space, other, self._call(None), limit=limit, cursor=cursor)

    def merge(self, source: str, into: str, strategy: Strategy | None = None, *, drop: bool = False) -> Written:
        """Let a space take over what another has changed; see `Forks.merge`."""
        return self._parts.forks.merge(source, into, strategy, self._call(None), drop=drop)

    def diff(
        self, space: str, since: str, until: str | None = None, *, limit: int = 50, cursor: str | None = None
    ) -> Diff:
        """What changed between two points of history; see `Checkpoints.diff`."""
        return self._parts.checkpoints.diff(space, since, until, self._caller, limit=limit, cursor=cursor)

    def create_checkpoint(self, space: str, name: str, note: str | None = None) -> tuple[Checkpoint, Seq]:
        """Name the point where the space stands; see `Checkpoints.create`."""
        return self._parts.checkpoints.create(space, name, note, self._caller, dry_run=self._dry_run)

    def list_checkpoints(self, space: str) -> tuple[list[Checkpoint], Seq]:
        """The named points of a space, newest first."""
        return self._parts.checkpoints.all(space)

    def delete_checkpoint(self, space: str, name: str) -> None:
        """Forget a named point; see `Checkpoints.delete`."""
        self._parts.checkpoints.delete(space, name, self._caller, dry_run=self._dry_run)

    def put_entry(
        self, space: str, draft: Draft, *, if_match: IfMatch = None, request: RequestKey | None = None
    ) -> Written:
        """Store a draft at its category and key; see `Writer.put`."""
        return self._parts.writer.put(space, draft, if_match, self._call(request))

    def delete(self, space: str, name: Name, *, if_match: IfMatch = None, request: RequestKey | None = None) -> Written:
        """End a memory; see `Writer.delete`."""
        return self._parts.writer.delete(space, name, if_match, self._call(request))

    def delete_entry(
        self, space: str, category: str, key: str, *, if_match: IfMatch = None, request: RequestKey | None = None
    ) -> Written:
        """End the memory at a category and key; see `Writer.delete`."""
        return self.delete(space, Address(category, key), if_match=if_match, request=request)

    def conflicts(self, space: str, *, limit: int = 50, cursor: str | None = None) -> ConflictPage:
        """Conflicts that wait for a decision; see `Conflicts.page`."""
        return self._parts.conflicts.page(space, self._caller, self._parts.clock(), limit=limit, cursor=cursor)

    def decide(self, space: str, conflict_id: str, decision: Decision) -> tuple[OpenConflict, Written]:
        """Decide a conflict; see `Conflicts.decide`."""
        return self._parts.conflicts.decide(space, conflict_id, decision, self._call(None))

    def promote(self, space: str, retrievals: int = PROMOTE_RETRIEVALS) -> Reviewed:
        """Make candidates active that were retrieved so often; see `Reviewer.promote`."""
        self._parts.retrievals.flush()
        return self._parts.reviewer.promote(space, retrievals, self._call(None))

    def prune(self, space: str, retrievals: int = PRUNE_RETRIEVALS, days: float = PRUNE_DAYS) -> Reviewed:
        """Deprecate candidates that nobody asked for; see `Reviewer.prune`."""
        self._parts.retrievals.flush()
        return self._parts.reviewer.prune(space, retrievals, days, self._call(None))

    def lint(
        self,
        space: str,
        *,
        checks: Sequence[Check] = CHECKS,
        limits: Limits | None = None,
        limit: int = AT_ONCE,
        cursor: str | None = None,
    ) -> Report:
        """What is wrong with the next memories of a space; see `Linter.lint`."""
        self._parts.retrievals.flush()
        ask = self._parts.linter.lint
        now = self._parts.clock()
        return ask(space, self._caller, now, checks=checks, limits=limits, limit=limit, cursor=cursor)

    def get(self, space: str, name: Name, *, as_of: AsOf | None = None, no_touch: bool = False) -> Found:
        """A current memory, or one that was current at a point of history.

        It counts as retrieved, unless `no_touch`; what is read of the past does not.

        Raises:
            NotFound: there is none, it is deleted, superseded or has expired.
        """
        found, point, (rows,) = self._at(space, as_of, lambda row, point: [named(row, name, point)])
        memory = shown(rows, space, name, self._caller, point.time)
        return self._touched(Found(memory=memory, seq=found.seq), no_touch or as_of is not None)

    def telemetry(self, space: str, name: Name) -> Telemetry:
        """Read how a current memory was used; asking does not count.

        Raises:
            NotFound: there is none.
        """
        memory_id = id_of(self._parts.database, space, name, self._caller, self._parts.clock())
        raw = id_bytes(memory_id)
        if raw is None:
            raise missing(name)
        actor = self._caller.actor
        found, (rows, used) = self._read(
            space, lambda row: [memories.living(row, raw), telemetry.of_memory(row, raw, actor)]
        )
        memory = current(rows, space, memory_id, self._caller, self._parts.clock())
        return telemetry.telemetry(used, memory.id, found.seq)

    def give_feedback(self, space: str, name: Name, verdict: Verdict | None) -> Telemetry:
        """Say of a memory that it was useful, or not; see `core.read.feedback`."""
        now = self._parts.clock()
        return give(self._parts.database, space, name, verdict, self._caller, now, dry_run=self._dry_run)

    def get_entry(
        self, space: str, category: str, key: str, *, as_of: AsOf | None = None, no_touch: bool = False
    ) -> Found:
        """Read the memory that is or was current at an address; see `get`."""
        return self.get(space, Address(category, key), as_of=as_of, no_touch=no_touch)

    def list_memories(
        self,
        space: str,
        *,
        filter: Filter | None = None,
        limit: int = 50,
        sort: str | None = None,
        cursor: str | None = None,
        as_of: AsOf | None = None,
    ) -> Page:
        """List memories that are or were current; `sort` is one of `SORTS`, else that of the cursor."""
        own, order = self._caller.only(filter), order_of(sort, cursor)
        found, _, (rows,) = self._at(space, as_of, lambda row, point: [page_of(row, own, limit, order, cursor, point)])
        return page(found, rows, limit, order)

    def history(self, space: str, name: Name) -> History:
        """Read all versions of a memory, of a deleted one too.

        An address names the memory that is there, expired or not, else the last that was.

        Raises:
            NotFound: there never was one.
        """
        database = self._parts.database
        memory_id = last_id(database, find_space(database, space), name, self._caller)
        raw = id_bytes(memory_id)
        if raw is None:
            raise NotFound("memory", memory_id)
        found, (rows, chain) = self._read(space, lambda row: [memories.history(row, raw), memories.chain(row, raw)])
        if self._shown(rows, space) is None:
            raise NotFound("memory", memory_id)
        versions = (version_rows.version(row, space) for row in rows)
        shown = compared([version for version in versions if self._caller.shows(version.memory.category)])
        links = tuple(id_text(cast(bytes, row[0])) for row in chain if self._caller.shows(row[1]))
        return History(versions=shown, chain=links, seq=found.seq)

    def changes(self, space: str, wanted: Wanted) -> Events:
        """Return the changes of a space; see `core.read.feed`."""
        return changes_of(self._parts.database, space, wanted, self._caller)

    def search(self, space: str, query: Query, max_age: float = 0.0) -> Answer:
        """The memories that best answer a query; see `Searcher.search`."""
        check_query(query)
        now = self._parts.clock()
        return self._noted(query, self._parts.searcher.search(space, self._own(query), now, max_age), now)

    def search_at_once(self, space: str, query: Query, max_age: float = 0.0, *, alone: bool = True) -> Answer | None:
        """Search on an event loop, when that takes a millisecond or two and waits for nobody; else return None.

        See `Searcher`.
        """
        check_query(query)
        now = self._parts.clock()
        try:
            with without_waiting():
                answer = self._parts.searcher.search_at_once(space, self._own(query), now, max_age, alone=alone)
                return None if answer is None else self._noted(query, answer, now)
        except WouldWait:
            return None

    def categories(self, space: str, *, as_of: AsOf | None = None) -> Counts:
        """Categories of active memories."""
        own = self._caller.category
        found, _, (rows,) = self._at(space, as_of, lambda row, point: [facets.categories(row, point, own)])
        return facets.counts(found, rows)

    def tags(self, space: str, *, as_of: AsOf | None = None) -> Counts:
        """Tags of active memories."""
        own = self._caller.category
        found, _, (rows,) = self._at(space, as_of, lambda row, point: [facets.tags(row, point, own)])
        return facets.counts(found, rows)

    def stats(self, space: str, *, as_of: AsOf | None = None) -> Stats:
        """Sizes and rates of a space, or of what the caller sees of it; the quota is told for now alone."""
        own, quota = self._caller.category, self._parts.quota
        found, _, results = self._at(space, as_of, lambda row, point: facets.sizes(row, point, quota, own))
        return facets.stats(found, results, whole=own is None and as_of is None)

    def _touched(self, found: Found, no_touch: bool) -> Found:
        """Note that a memory was retrieved."""
        if not no_touch:
            self._parts.retrievals.note(found.seq.epoch, [found.memory.id], self._parts.clock())
        return found

    def _noted(self, query: Query, answer: Answer, now: int) -> Answer:
        """Note to whom the hits were shown; they count as retrieved when there is evidence that they answer.

        The echo check asks what somebody has read, which is every hit. Retrievals promote and refresh memories, so
        the nearest of what is not about the query must not count.
        """
        self._parts.served.note(self._caller.actor, answer.seq.epoch, [hit.memory for hit in answer.hits], now)
        counts = answer.evidence != "none" and not query.no_touch and query.as_of is None
        if answer.hits and counts:
            self._parts.retrievals.note(answer.seq.epoch, [hit.memory.id for hit in answer.hits], now)
        return answer

    def export(self, space: str, version: str, *, vectors: bool = True) -> Export:
        """All that a space has, its history too; `version` is that of Muisti. See `Export`.

        Raises:
            Forbidden: there are memories that the caller does not see.
        """
        if not self._caller.sees_all:
            raise Forbidden("a whole space is moved by keys that see all of it, in every category")
        with suppress(StoreUnavailable):  # a count that cannot be written is no reason to read nothing
            self._parts.retrievals.flush()
        return Export(self._parts.database, space, self._parts.clock(), version, vectors=vectors)

    def begin_import(self, space: str, *, atomic: bool = True, dry_run: bool = False) -> Import:
        """Take in an export, or memories of another system; see `Importer.begin`."""
        return self._parts.importer.begin(space, self._caller, atomic=atomic, dry_run=dry_run)

    def imports(self, space: str) -> list[Imported]:
        """What was imported into a space, newest first."""
        return self._parts.importer.known(space)

    def undo_import(self, space: str, import_id: int) -> Imported:
        """Delete what an import has brought; see `Importer.undo`."""
        return self._parts.importer.undo(space, import_id, self._caller, dry_run=self._dry_run)

    def _call(self, request: RequestKey | None) -> Call:
        return Call(self._parts.clock(), None if self._dry_run else request, self._caller, self._dry_run)

    def _read(self, space: str, ask: Ask) -> tuple[SpaceRow, list[Rows]]:
        return read(self._parts.database, space, ask)

    def _at(self, space: str, as_of: AsOf | None, ask: AskAt) -> tuple[SpaceRow, Point, list[Rows]]:
        return read_at(self._parts.database, space, as_of, self._parts.clock(), ask)

    def _shown(self, rows: Rows, space: str) -> Memory | None:
        """The memory in the first of the rows, if the caller may see it."""
        memory = version_rows.memory(rows[0], space) if rows else None
        return memory if memory is not None and self._caller.shows(memory.category) else None

    def _own(self, query: Query) -> Query:
        return query if self._caller.category is None else replace(query, filter=self._caller.only(query.filter))
