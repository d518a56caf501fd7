"""Write memories: add, change, supersede, delete, restore and import them, and undo changes."""

from collections.abc import Mapping, Sequence

import msgspec

from muisti.core.model.imports import Imported
from muisti.core.model.outcomes import Undo, Written
from muisti.core.model.terms import OnConflict
from muisti.core.model.values import Draft, IfMatch, Name, RequestKey
from muisti.core.operations.transfer.importing.importer import Import as Import
from muisti.core.operations.transfer.importing.importer import Importer
from muisti.core.query.points import Point
from muisti.core.read.hierarchy import situated
from muisti.core.read.reading import find_space
from muisti.core.store.database import Database
from muisti.core.store.database import Ended as Ended
from muisti.core.store.database import Outcome as Outcome
from muisti.core.support.waiting import WouldWait, without_waiting
from muisti.core.views.calls import Calls
from muisti.core.write.begun import Begun as Begun
from muisti.core.write.begun import Call
from muisti.core.write.lifecycle import Lifecycle
from muisti.core.write.undo import Undoer
from muisti.core.write.writer import Writer


class WriteParts(msgspec.Struct, frozen=True, kw_only=True):
    """Parts from which a `Write` is made for a caller."""

    database: Database
    writer: Writer
    lifecycle: Lifecycle
    undoer: Undoer
    importer: Importer


class Write:
    """Writes as one caller. A call with a `request` key may be repeated without harm."""

    __slots__ = ("_calls", "_parts")

    def __init__(self, parts: WriteParts, calls: Calls) -> None:
        self._parts = parts
        self._calls = calls

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
        return self._parts.writer.add(space, drafts, on_conflict, self._calls.new(request), path)

    def begin_add(self, space: str, draft: Draft, on_conflict: OnConflict, ended: Ended) -> Begun:
        """Begin to add a draft on an event loop, without waiting for the disk.

        Another thread calls `ended` with the outcome, which `end_add` takes.

        Raises:
            WouldWait: this may take more than a millisecond or two; `add` the draft on a thread.
            InvalidInput, Forbidden, Duplicate, Contradiction.
        """
        with without_waiting():
            begun = self._parts.writer.begin_add(space, draft, on_conflict, self._calls.new())
        if not self._parts.database.primary.queue(begun.batch, ended):
            raise WouldWait
        return begun

    def end_add(self, begun: Begun, outcome: Outcome) -> Written:
        """Return or raise what `add` would.

        Raises:
            Overtaken: the space has changed since `begin_add`, and nothing is stored; `add` the draft.
        """
        return self._parts.writer.end_add(begun, outcome)

    def put(self, space: str, draft: Draft, *, if_match: IfMatch = None, request: RequestKey | None = None) -> Written:
        """Store a draft at its category and key; see `Writer.put`."""
        return self._parts.writer.put(space, draft, if_match, self._calls.new(request))

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
        call = self._calls.new(request)
        return self._situated(space, self._parts.writer.update(space, name, changes, if_match, call), call)

    def supersede(
        self,
        space: str,
        name: Name,
        draft: Draft,
        *,
        if_match: IfMatch = None,
        request: RequestKey | None = None,
    ) -> Written:
        """Put a new memory in place of a current one; see `Lifecycle.supersede`."""
        return self._parts.lifecycle.supersede(space, name, draft, if_match, self._calls.new(request))

    def restore(
        self,
        space: str,
        name: Name,
        version: int | None = None,
        *,
        if_match: IfMatch = None,
        request: RequestKey | None = None,
    ) -> Written:
        """Restore a version of a memory; see `Lifecycle.restore`."""
        call = self._calls.new(request)
        return self._situated(space, self._parts.lifecycle.restore(space, name, version, if_match, call), call)

    def delete(self, space: str, name: Name, *, if_match: IfMatch = None, request: RequestKey | None = None) -> Written:
        """End a memory; see `Writer.delete`."""
        return self._parts.writer.delete(space, name, if_match, self._calls.new(request))

    def undo(self, space: str, which: Undo, *, request: RequestKey | None = None) -> Written:
        """Undo changes; see `Undoer.undo`."""
        call = self._calls.new(request)
        return self._situated(space, self._parts.undoer.undo(space, which, call), call)

    def begin_import(self, space: str, *, atomic: bool = True, dry_run: bool = False) -> Import:
        """Begin to import an export, or memories of another system; see `Importer.begin`."""
        return self._parts.importer.begin(space, self._calls.caller, atomic=atomic, dry_run=dry_run)

    def check_import(self, space: str) -> None:
        """Raise what `begin_import` would, for an import that is to be a task."""
        self._parts.importer.check(space, self._calls.caller)

    def undo_import(self, space: str, import_id: int) -> Imported:
        """Delete the memories that an import has added; see `Importer.undo`."""
        return self._parts.importer.undo(space, import_id, self._calls.new())

    def _situated(self, space: str, written: Written, call: Call) -> Written:
        """Return what was written, turns with their session and topic."""
        if not any(one.kind == "exchange" for one in written.memories):
            return written
        database = self._parts.database.primary
        found = situated(database, find_space(database, space), written.memories, Point(None, call.now))
        return msgspec.structs.replace(written, memories=tuple(found))
