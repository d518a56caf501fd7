"""Lifecycle of a memory: supersede it, or restore an earlier version."""

from typing import cast

import msgspec
from msgspec.structs import replace

from muisti.core.model.errors import Conflict, InvalidInput, NotFound, Stale
from muisti.core.model.ids import id_bytes, id_text
from muisti.core.model.outcomes import Flag, Written
from muisti.core.model.places import GRAPHIC, is_structural, name_of
from muisti.core.model.values import Draft, IfMatch, Memory, Name, RequestKey
from muisti.core.query.points import Point
from muisti.core.read.diff import differences
from muisti.core.read.hierarchy import situated
from muisti.core.read.reading import find, find_space, last_id
from muisti.core.store.database import Row
from muisti.core.store.sql import changes, inserting, memories, quotas, version_rows
from muisti.core.store.sql.spaces import SpaceRow
from muisti.core.write.calls import Call, Calls, Part
from muisti.core.write.derived_texts import retitled
from muisti.core.write.intake import Intake
from muisti.core.write.prepare import carried, ready, restored, superseded
from muisti.core.write.transactions import Transactions

# Checks of a stored memory before it is changed: its version, and that it has no calls of its own


def check_version(memory: Memory, if_match: IfMatch) -> None:
    """Raise `Stale` unless the version of a memory is one that the caller names."""
    if if_match is None:
        return
    is_named = memory.version == if_match if isinstance(if_match, int) else memory.etag in if_match
    if not is_named:
        raise Stale(memory.id, memory.version)


def check_ordinary(memory: Memory) -> None:
    """Raise `Conflict` for a part of a document and for an object of conversations, which have calls of their own."""
    if memory.document is not None:
        raise Conflict(f"this is a part of document {memory.document!r}; the calls of documents change and delete it")
    if is_structural(memory):
        whole = "the graph" if memory.kind in GRAPHIC else "conversations"
        raise Conflict(f"this is {memory.kind} {name_of(memory)!r}; the calls of {whole} change and delete it")


DIED = version_rows.WIDTH  # column of `memories.last`


class Lifecycle(msgspec.Struct, frozen=True, kw_only=True):
    """Supersede and restore memories as one caller; the errors are those of `Write`."""

    calls: Calls
    store: Transactions
    intake: Intake

    def supersede(
        self, space: str, name: Name, draft: Draft, *, if_match: IfMatch = None, request: RequestKey | None = None
    ) -> Written:
        """Store a new memory that supersedes a current one. The old memory stays only in the history.

        A draft without category and key takes over those of the old one.

        Raises:
            InvalidInput, Forbidden, NotFound, Stale, AddressTaken, QuotaExceeded.
        """
        call = self.calls.new(request)

        def attempt(found: SpaceRow) -> Written:
            row, before = find(self.store.database, found, name, call.caller, call.now)
            check_version(before, if_match)
            check_ordinary(before)
            return self._put_in_place(found, row, before, draft, call)

        return self.store.run(space, call, attempt)

    def restore(
        self,
        space: str,
        name: Name,
        version: int | None = None,
        *,
        if_match: IfMatch = None,
        request: RequestKey | None = None,
    ) -> Written:
        """Restore an earlier version of a memory as a new version. The memory may be deleted or superseded.

        An address means the memory that has it, expired or not, else the last one that had it. Without `version`, a
        deleted memory gets its last version, and any other memory the version before the last. Text that is not current
        in the memory passes the policy of the space first, as if it were new.

        Raises:
            InvalidInput, SensitiveContent, NotFound, Stale, AddressTaken, QuotaExceeded.
        """
        call = self.calls.new(request)

        def attempt(found: SpaceRow) -> Written:
            memory_id = last_id(self.store.database, found, name, call.caller)
            before, is_dead, wanted = self._versions(found, memory_id, version, call)
            check_version(before, if_match)
            if wanted.document is not None:
                check_ordinary(wanted)
            current = None if is_dead or before.superseded_by is not None else before
            accepted, flags = self.intake.brought(found, wanted, current, call, is_new=False)
            after = restored(accepted, before, call.now)
            if not is_dead and not differences(before, after):
                return self.store.leave(found, before, call, flags)
            return self._restore(found, before, after, flags, call, is_dead=is_dead)

        return self._situated(space, self.store.run(space, call, attempt), call)

    def _put_in_place(self, space: SpaceRow, row: Row, before: Memory, draft: Draft, call: Call) -> Written:
        """Supersede `before`, the current version in `row`."""
        if draft.category is None and draft.key is None:
            draft = replace(draft, category=before.category, key=before.key)
        accepted = self.intake.new(space, draft, call, echoes=False)
        made = accepted.first(space, id_text(self.store.ids.new(call.now)), call.now, supersedes=before.id)
        old = superseded(before, made.id, call.now)
        (new,) = ready([made], space, self.store.models)
        statements = [
            inserting.refuse_stale(before),
            *accepted.statements,
            inserting.end(space, before, 1),
            *inserting.insert(space, carried(old, cast(int, row[0])), 1),
            changes.record(space, "superseded", call.caller, old, 1),
            *self.store.guarded_insertion(space, new, "created", call.caller),
            quotas.refuse_more(space, self.store.quota),
        ]
        titles = retitled(self.store.database, space, [(before, old), (None, made)], call, 2)
        parts, numbers = [*titles, Part(made, statements)], len(titles) + 2
        return self.store.write(space, parts, call, created=True, numbers=numbers, flags=accepted.flags)

    def _versions(self, space: SpaceRow, id_: str, version: int | None, call: Call) -> tuple[Memory, bool, Memory]:
        """Return the last version of a memory, whether it is deleted, and the version to restore."""
        raw, name = id_bytes(id_), space.space.name
        if raw is None:
            raise NotFound("memory", id_)
        named = memories.of_versions(space, [] if version is None else [(raw, version)])
        last, *chosen = self.store.database.read([memories.last(space, raw), *named])
        before = version_rows.memory(last[0], name) if last else None
        if before is None or not call.caller.shows(before.category):
            raise NotFound("memory", id_)
        is_dead = last[0][DIED] is not None
        rows = chosen[0] if chosen else last if is_dead else last[1:]
        wanted = version_rows.memory(rows[0], name) if rows else None
        if version is None and wanted is None:
            raise InvalidInput.at("$.version", "the memory has only one version, which is current")
        if wanted is None or not call.caller.shows(wanted.category):
            raise NotFound("version", f"{id_}.{version}")
        if wanted.superseded_by is not None:
            raise InvalidInput.at("$.version", "in that version it was superseded; restore the one before")
        return before, is_dead, wanted

    def _restore(
        self, space: SpaceRow, before: Memory, after: Memory, flags: tuple[Flag, ...], call: Call, *, is_dead: bool
    ) -> Written:
        (new,) = ready([after], space, self.store.models)
        if is_dead:
            head, limit = [inserting.refuse_revived(before)], quotas.refuse_more(space, self.store.quota)
        else:
            head = [inserting.refuse_stale(before), inserting.end(space, before)]
            limit = quotas.refuse_larger(space, self.store.quota, after)
        part = Part(after, [*head, *self.store.guarded_insertion(space, new, "restored", call.caller), limit])
        titles = retitled(self.store.database, space, [(None if is_dead else before, after)], call, 1)
        return self.store.write(space, [*titles, part], call, flags=flags)

    def _situated(self, space: str, written: Written, call: Call) -> Written:
        """Return what was written, turns with their session and topic."""
        if not any(one.kind == "exchange" for one in written.memories):
            return written
        database = self.store.database
        found = situated(database, find_space(database, space), written.memories, Point(None, call.now))
        return replace(written, memories=tuple(found))
