"""Write memories: add, change, supersede, delete, restore and import them, and undo changes.

An add reads from top to bottom: `add` repeats an attempt, and `_adding` accepts, prepares and compares drafts, and
builds the batch. `Transactions.commit` stores it and answers.
"""

from collections.abc import Mapping, Sequence
from typing import cast

from msgspec.structs import replace

from muisti.core.identity.caller import Caller
from muisti.core.model.choices import OnConflict
from muisti.core.model.collisions import AddressTaken, Similar
from muisti.core.model.errors import NotFound
from muisti.core.model.ids import id_text
from muisti.core.model.messages import restated
from muisti.core.model.operations import Imported
from muisti.core.model.outcomes import Flag, Likeness, Undo, Written
from muisti.core.model.values import Draft, IfMatch, Memory, Name, RequestKey
from muisti.core.operations.transfer.importing.importer import Import as Import
from muisti.core.operations.transfer.importing.importer import Importer
from muisti.core.read.reading import find, find_space
from muisti.core.store.database import Ended as Ended
from muisti.core.store.database import Outcome as Outcome
from muisti.core.store.database import Refused, Row, Statement
from muisti.core.store.sql import (
    changes,
    conflicts,
    inserting,
    memories,
    operations,
    quotas,
    spaces,
    undo,
    version_rows,
)
from muisti.core.store.sql.inserting import NewVersion
from muisti.core.store.sql.spaces import SpaceRow, space_row
from muisti.core.support.waiting import Overtaken, WouldWait, without_waiting
from muisti.core.write.calls import Begun as Begun
from muisti.core.write.calls import Call, Part
from muisti.core.write.conflicts.check import NOT_CHECKED, Checked, Checker
from muisti.core.write.derived_texts import retitled
from muisti.core.write.intake import Accepted
from muisti.core.write.lifecycle import Lifecycle, check_ordinary, check_version
from muisti.core.write.prepare import again, draft_of, ready
from muisti.core.write.transactions import CHANGED
from muisti.core.write.undo import Undoer

QUICK_TEXT = 2_000  # characters of a memory that is added on the event loop
QUICK_CHANGES = 64  # changes by which an index may be behind for that


class Write(Lifecycle, frozen=True, kw_only=True):
    """Writes as one caller. A call with a `request` key may be repeated without harm.

    All methods raise `NotFound` when there is no such space, and the errors of the database. They raise `RequestReused`
    when the request's key belongs to another request, and `ModelMismatch` when another model embedded the space.
    Memories of others are hidden; writing one is `Forbidden`.
    """

    checker: Checker
    undoer: Undoer
    importer: Importer

    def add(
        self,
        space: str,
        drafts: Sequence[Draft],
        *,
        on_conflict: OnConflict = "reject",
        request: RequestKey | None = None,
        path: str = "$",
    ) -> Written:
        """Store all drafts or none. A single draft may supersede the memory that would refuse it.

        `path` locates the list of drafts in the request; it is `$` for a single one. A memory that the caller may not
        read never refuses a draft that resembles it; a review shows both to those who may.

        Raises:
            InvalidInput, Forbidden, Duplicate, Contradiction, AddressTaken, QuotaExceeded.
        """
        call = self.calls.new(request)

        def attempt(found: SpaceRow) -> Written:
            if on_conflict == "supersede":
                return self._add_or_supersede(found, drafts[0], call)
            return self.store.commit(self._adding(found, drafts, on_conflict, call, path))

        known = self.store.known(space) if on_conflict == "keep" and call.request is None else None
        written: Written | None = None
        if known is not None:
            try:
                written = attempt(known)
            except CHANGED:
                self.store.forget(space)
        try:
            written = written or self.store.run(space, call, attempt)
        except Similar as refusal:
            raise call.caller.redacted(refusal) from None
        return replace(written, similar=call.caller.shown(written.similar))

    def expect(self, writes: int) -> None:
        """Announce that `writes` more adds (fewer when negative) are about to begin. Begun adds wait for them."""
        self.store.database.expect(writes)

    def begin_add(self, space: str, draft: Draft, on_conflict: OnConflict, ended: Ended) -> Begun:
        """Begin to add a draft on an event loop, without waiting for the disk.

        Another thread calls `ended` with the outcome, which `end_add` takes.

        Raises:
            WouldWait: this may take more than a millisecond or two; `add` the draft on a thread.
            InvalidInput, Forbidden, Duplicate, Contradiction.
        """
        with without_waiting():
            begun = self._begin_add(space, [draft], on_conflict, [self.calls.new()])
        if not self.store.database.queue(begun.batch, ended):
            raise WouldWait
        return begun

    def begin_adds(
        self, space: str, added: Sequence[tuple["Write", Draft]], on_conflict: OnConflict, ended: Ended
    ) -> list[Begun]:
        """Begin to add drafts of several calls in one batch, for callers who may do the same.

        Each is a change of its own, and has its own `end_add`.

        Raises:
            WouldWait, and what `begin_add` raises for any of the drafts: begin each add on its own.
        """
        calls, drafts = [write.calls.new() for write, _ in added], [draft for _, draft in added]
        with without_waiting():
            begun = self._begin_add(space, drafts, on_conflict, calls)
        last, apart = len(calls) - 1, begun.checked.apart([part.memory for part in begun.parts])
        each = [
            replace(begun, parts=[part], call=call, checked=checked, beyond=place - last, shared=True)
            for place, (part, call, checked) in enumerate(zip(begun.parts, calls, apart, strict=True))
        ]
        if begun.flags or not self.store.database.queue(begun.batch, ended):
            raise WouldWait
        return each

    def end_add(self, begun: Begun, outcome: Outcome) -> Written:
        """Return or raise what `add` would.

        Raises:
            Overtaken: the space has changed since `begin_add`, and nothing is stored; `add` the draft.
        """
        try:
            if isinstance(outcome, Refused):
                if begun.shared:
                    raise Overtaken  # perhaps by another call: each is stored on its own
                raise self.store.explained(begun, outcome) from outcome
            if isinstance(outcome, Exception):
                raise outcome
        except CHANGED as changed:
            self.store.forget(begun.space.space.name)
            raise Overtaken from changed
        return self.store.concluded(begun, outcome)

    def put(self, space: str, draft: Draft, *, if_match: IfMatch = None, request: RequestKey | None = None) -> Written:
        """Store a draft at its category and key, and replace the memory that has this address.

        Raises:
            InvalidInput, Forbidden, Stale, QuotaExceeded.
            NotFound: `if_match` is given, and no memory has the address.
        """
        call = self.calls.new(request)
        category, key = draft.category, draft.key
        assert category is not None and key is not None
        call.caller.check(category)  # before the reply says whether a memory has the address

        def attempt(found: SpaceRow) -> Written:
            (rows,) = self.store.database.read([memories.at_address(found, category, key)])
            if not rows:
                if if_match is not None:
                    raise NotFound("entry", f"{category}/{key}")
                try:
                    return self.store.commit(self._adding(found, [draft], "keep", call, "$"))
                except AddressTaken:
                    raise Overtaken from None
            before = version_rows.memory(rows[0], space)
            check_version(before, if_match)
            is_over = memories.is_expired(before, call.now)
            accepted = self.intake.replacing(found, draft, before, call, is_over=is_over)
            return self._replace(found, rows[0], before, accepted, call, created=is_over)

        return self.store.run(space, call, attempt)

    def update(
        self,
        space: str,
        name: Name,
        changes: Mapping[str, object],
        *,
        if_match: IfMatch = None,
        request: RequestKey | None = None,
    ) -> Written:
        """Change the given fields. Without `if_match`, a concurrent change is kept and this one is applied to it.

        Of a turn, `user` and `system` are fields too (core/model/messages.py).

        Raises:
            InvalidInput, Forbidden, NotFound, Stale, AddressTaken, QuotaExceeded.
        """
        call = self.calls.new(request)
        if "category" in changes:
            call.caller.check(changes["category"])

        def attempt(found: SpaceRow) -> Written:
            row, before = find(self.store.database, found, name, call.caller, call.now)
            check_version(before, if_match)
            check_ordinary(before)
            stated = draft_of(before)
            accepted = self.intake.changed(found, replace(stated, **restated(stated, changes)), before, call)
            if accepted.draft == stated:
                return self.store.leave(found, before, call, accepted.flags)
            return self._replace(found, row, before, accepted, call)

        return self._situated(space, self.store.run(space, call, attempt), call)

    def delete(self, space: str, name: Name, *, if_match: IfMatch = None, request: RequestKey | None = None) -> Written:
        """End a memory. Its versions stay readable.

        Raises:
            NotFound, Stale.
        """
        call = self.calls.new(request)

        def attempt(found: SpaceRow) -> Written:
            _, memory = find(self.store.database, found, name, call.caller, call.now)
            check_version(memory, if_match)
            check_ordinary(memory)
            statements = [
                inserting.refuse_stale(memory),
                inserting.end(found, memory),
                changes.record(found, "deleted", call.caller, memory),
                operations.audit(call.now, call.caller.actor, "memory_deleted", space=space, target=memory.id),
            ]
            parts = [*retitled(self.store.database, found, [(memory, None)], call, 1), Part(memory, statements)]
            return self.store.write(found, parts, call, embedded=False)

        return self.store.run(space, call, attempt)

    def undo(self, space: str, which: Undo, *, request: RequestKey | None = None) -> Written:
        """Undo changes; see `Undoer.undo`."""
        call = self.calls.new(request)
        return self._situated(space, self.undoer.undo(space, which, call), call)

    def last_call(self, space: str) -> tuple[int, str | None]:
        """Return when the caller's last change that is not undone came, in microseconds, and its request; 0 if none."""
        found = find_space(self.store.database, space)
        (rows,) = self.store.database.read([undo.last_change(found, self.calls.caller, 0, ())])
        return (cast(int, rows[0][2]), cast(str | None, rows[0][0])) if rows else (0, None)

    def begin_import(
        self, space: str, *, atomic: bool = True, dry_run: bool = False, digest: str | None = None
    ) -> Import:
        """Begin to import an export, or memories of another system; see `Importer.begin`."""
        return self.importer.begin(space, self.calls.caller, atomic=atomic, dry_run=dry_run, digest=digest)

    def check_import(self, space: str) -> None:
        """Raise what `begin_import` would, for an import that is to be a task."""
        self.importer.check(space, self.calls.caller)

    def undo_import(self, space: str, import_id: int) -> Imported:
        """Delete the memories that an import has added; see `Importer.undo`."""
        return self.importer.undo(space, import_id, self.calls.new())

    def _begin_add(self, space: str, drafts: Sequence[Draft], on_conflict: OnConflict, calls: Sequence[Call]) -> Begun:
        """Prepare to `add` the draft of each call, unless that may take long or the cached space is too old."""
        known, call = self.store.known(space), calls[0]
        if known is None or any(one.dry_run or one.fenced is not call.fenced for one in calls):
            raise WouldWait
        if any(len(draft.content) > QUICK_TEXT for draft in drafts):
            raise WouldWait
        if not self.store.database.local or not call.caller.sees_all or on_conflict == "supersede":
            raise WouldWait
        if on_conflict != "keep":
            (found,) = self.store.database.read([spaces.by_name(space)])
            known = space_row(found[0]) if found else None
            if known is None or not self.store.indexes.is_at_hand(known, QUICK_CHANGES):
                raise WouldWait
        try:
            return self._adding(known, drafts, on_conflict, call, "$", callers=[one.caller for one in calls])
        except CHANGED:
            self.store.forget(space)
            raise WouldWait from None

    def _add_or_supersede(self, space: SpaceRow, draft: Draft, call: Call) -> Written:
        """Store a draft. Supersede the memory that would refuse it, if there is one."""
        try:
            return self.store.commit(self._adding(space, [draft], "reject", call, "$", echoes=False))
        except (Similar, AddressTaken) as refusal:
            closest = next((one.id for one in refusal.found if call.caller.shows(one.category)), None)
            if closest is None:
                raise
        (rows,) = self.store.database.read([memories.living(space, version_rows.raw(closest))])
        before = version_rows.memory(rows[0], space.space.name) if rows else None
        if before is None or before.superseded_by is not None:
            raise Overtaken
        return self._put_in_place(space, rows[0], before, draft, call)

    def _adding(
        self,
        space: SpaceRow,
        drafts: Sequence[Draft],
        on_conflict: OnConflict,
        call: Call,
        path: str,
        *,
        echoes: bool = True,
        callers: Sequence[Caller] = (),
    ) -> Begun:
        """Prepare to add drafts: accept them, cut and embed their texts, compare them, and build the batch.

        `callers` are those of each draft, of the same rights as the caller of `call`; none for that caller only.
        """
        places = ["$"] * len(drafts) if path == "$" else [f"{path}[{position}]" for position in range(len(drafts))]
        accepted = self.intake.batch(space, drafts, call, places, echoes=echoes)
        made, flags = list[Memory](), list[Flag]()
        for one in accepted:
            made.append(one.first(space, id_text(self.store.ids.new(call.now)), call.now))
            flags += one.flags
        versions = ready(made, space, self.store.models)
        checked = self._checked(space, versions, on_conflict, call)
        is_like = any(checked.found) or any(checked.within) or any(checked.hidden)
        refuses, own, last = on_conflict == "reject" and call.caller.reads, call.caller.own_category, len(made) - 1
        parts: list[Part] = []
        for position, new in enumerate(versions):
            statements = [*accepted[position].statements]
            if refuses:
                statements.append(inserting.refuse_duplicate(space, new.memory, new.content_hash, call.now, own))
            caller = callers[position] if callers else call.caller
            statements += self.store.guarded_insertion(space, new, "created", caller, last - position)
            if position == last:
                statements.append(quotas.refuse_more(space, self.store.quota))
            against = checked.to_review(position, made, on_conflict) if is_like else ()
            statements += _pairs(space, new, against, on_conflict, call)
            parts.append(Part(new.memory, statements, places[position], position))
        return self.store.begin(space, parts, call, created=True, checked=checked, flags=tuple(flags))

    def _checked(self, space: SpaceRow, versions: Sequence[NewVersion], on_conflict: OnConflict, call: Call) -> Checked:
        """Return what the new memories resemble, or raise if one must be refused. A dry run always compares."""
        if on_conflict == "keep" and not call.dry_run:
            return NOT_CHECKED
        checked = self.checker.check(space, versions, call.now, call.caller)
        try:
            if on_conflict == "reject" and (any(checked.found) or any(checked.within)):
                checked.refuse()
        except Similar:
            if self.store.is_known(call):
                raise Overtaken from None  # they resemble themselves: the same request was faster
            raise
        return checked

    def _replace(
        self, space: SpaceRow, row: Row, before: Memory, accepted: Accepted, call: Call, *, created: bool = False
    ) -> Written:
        new = again(accepted.next(before, call.now), before, cast(int, row[0]), space, self.store.models)
        statements = [
            inserting.refuse_stale(before),
            *accepted.statements,
            inserting.end(space, before),
            *self.store.guarded_insertion(space, new, "updated", call.caller),
            quotas.refuse_larger(space, self.store.quota, new.memory),
        ]
        embedded = new.passages is not None
        titles = retitled(self.store.database, space, [(before, new.memory)], call, 1)
        parts = [*titles, Part(new.memory, statements)]
        return self.store.write(space, parts, call, created=created, embedded=embedded, flags=accepted.flags)


def _pairs(
    space: SpaceRow, new: NewVersion, against: Sequence[Likeness], on_conflict: OnConflict, call: Call
) -> list[Statement]:
    """Return the statements that open a review of a new memory with each memory of `against`.

    With `review`, memories with the same text are included, and with `reject` those that the caller may not read.
    Other values of `on_conflict` refuse or keep those.
    """
    actor = call.caller.actor
    found = [conflicts.open_pair(space, one, new.memory, call.now, actor) for one in against] if against else []
    same = on_conflict == "review" or (on_conflict == "reject" and not call.caller.sees_all)
    return [*found, conflicts.open_same(space, new.memory, call.now, actor)] if same else found
