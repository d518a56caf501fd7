"""Lifecycle of a memory: supersede it, or restore an earlier version."""

from typing import cast

from msgspec.structs import replace

from muisti.core.embedding.models import Models
from muisti.core.model.counts import Quota
from muisti.core.model.errors import InvalidInput, NotFound
from muisti.core.model.ids import IdSource, id_bytes, id_text
from muisti.core.model.outcomes import Flag, Written
from muisti.core.model.values import Draft, IfMatch, Memory, Name
from muisti.core.read.diff import differences
from muisti.core.read.naming import find, last_id
from muisti.core.store.database import Database, Row
from muisti.core.store.sql import changes, inserting, memories, quotas, version_rows
from muisti.core.store.sql.spaces import SpaceRow
from muisti.core.write.begun import Call
from muisti.core.write.intake import Intake
from muisti.core.write.preconditions import check_ordinary, check_version
from muisti.core.write.prepare import carried, ready, restored, superseded
from muisti.core.write.refusals import Part
from muisti.core.write.titles import retitled
from muisti.core.write.transactions import Transactions

DIED = version_rows.WIDTH  # column of `memories.last`


class Lifecycle:
    """Supersede and restore memories. Instances are thread-safe. `models` embed the texts.

    All methods raise the errors of `Writer`'s methods.
    """

    def __init__(
        self,
        database: Database,
        models: Models,
        transactions: Transactions,
        ids: IdSource,
        quota: Quota,
        intake: Intake,
    ) -> None:
        """`quota` applies to spaces without a quota of their own."""
        self._intake = intake
        self._database = database
        self._models = models
        self._transactions = transactions
        self._ids = ids
        self._quota = quota

    def supersede(self, space: str, name: Name, draft: Draft, if_match: IfMatch, call: Call) -> Written:
        """Store a new memory that supersedes a current one. The old memory stays only in the history.

        A draft without category and key takes over those of the old one.

        Raises:
            InvalidInput, Forbidden, NotFound, Stale, AddressTaken, QuotaExceeded.
        """

        def attempt(found: SpaceRow) -> Written:
            row, before = find(self._database, found, name, call.caller, call.now)
            check_version(before, if_match)
            check_ordinary(before)
            return self.put_in_place(found, row, before, draft, call)

        return self._transactions.run(space, call, attempt)

    def restore(self, space: str, name: Name, version: int | None, if_match: IfMatch, call: Call) -> Written:
        """Restore an earlier version of a memory as a new version. The memory may be deleted or superseded.

        An address means the memory that has it, expired or not, else the last one that had it. Without `version`, a
        deleted memory gets its last version, and any other memory the version before the last. Text that is not current
        in the memory passes the policy of the space first, as if it were new.

        Raises:
            InvalidInput, SensitiveContent, NotFound, Stale, AddressTaken, QuotaExceeded.
        """

        def attempt(found: SpaceRow) -> Written:
            memory_id = last_id(self._database, found, name, call.caller)
            before, is_dead, wanted = self._versions(found, memory_id, version, call)
            check_version(before, if_match)
            if wanted.document is not None:
                check_ordinary(wanted)
            current = None if is_dead or before.superseded_by is not None else before
            accepted, flags = self._intake.brought(found, wanted, current, call, is_new=False)
            after = restored(accepted, before, call.now)
            if not is_dead and not differences(before, after):
                return self._transactions.leave(found, before, call, flags)
            return self._restore(found, before, after, flags, call, is_dead=is_dead)

        return self._transactions.run(space, call, attempt)

    def put_in_place(self, space: SpaceRow, row: Row, before: Memory, draft: Draft, call: Call) -> Written:
        """Supersede `before`, the current version in `row`."""
        if draft.category is None and draft.key is None:
            draft = replace(draft, category=before.category, key=before.key)
        accepted = self._intake.new(space, draft, call, echoes=False)
        made = accepted.first(space, id_text(self._ids.new(call.now)), call.now, supersedes=before.id)
        old = superseded(before, made.id, call.now)
        (new,) = ready([made], space, self._models)
        statements = [
            inserting.refuse_stale(before),
            *accepted.statements,
            inserting.end(space, before, 1),
            *inserting.insert(space, carried(old, cast(int, row[0])), 1),
            changes.record(space, "superseded", call.caller, old, 1),
            *self._transactions.guarded_insertion(space, new, "created", call.caller),
            quotas.refuse_more(space, self._quota),
        ]
        titles = retitled(self._database, space, [(before, old), (None, made)], call, 2)
        parts, numbers = [*titles, Part(made, statements)], len(titles) + 2
        return self._transactions.commit(
            self._transactions.begin(space, parts, call, created=True, numbers=numbers, flags=accepted.flags)
        )

    def _versions(
        self, space: SpaceRow, memory_id: str, version: int | None, call: Call
    ) -> tuple[Memory, bool, Memory]:
        """Return the last version of a memory, whether it is deleted, and the version to restore."""
        raw, name = id_bytes(memory_id), space.space.name
        if raw is None:
            raise NotFound("memory", memory_id)
        named = memories.of_versions(space, [] if version is None else [(raw, version)])
        last, *chosen = self._database.read([memories.last(space, raw), *named])
        before = version_rows.memory(last[0], name) if last else None
        if before is None or not call.caller.shows(before.category):
            raise NotFound("memory", memory_id)
        is_dead = last[0][DIED] is not None
        rows = chosen[0] if chosen else last if is_dead else last[1:]
        wanted = version_rows.memory(rows[0], name) if rows else None
        if version is None and wanted is None:
            raise InvalidInput.at("$.version", "the memory has only one version, which is current")
        if wanted is None or not call.caller.shows(wanted.category):
            raise NotFound("version", f"{memory_id}.{version}")
        if wanted.superseded_by is not None:
            raise InvalidInput.at("$.version", "in that version it was superseded; restore the one before")
        return before, is_dead, wanted

    def _restore(
        self, space: SpaceRow, before: Memory, after: Memory, flags: tuple[Flag, ...], call: Call, *, is_dead: bool
    ) -> Written:
        (new,) = ready([after], space, self._models)
        if is_dead:
            head, limit = [inserting.refuse_revived(before)], quotas.refuse_more(space, self._quota)
        else:
            head = [inserting.refuse_stale(before), inserting.end(space, before)]
            limit = quotas.refuse_larger(space, self._quota, after)
        part = Part(after, [*head, *self._transactions.guarded_insertion(space, new, "restored", call.caller), limit])
        titles = retitled(self._database, space, [(None if is_dead else before, after)], call, 1)
        begun = self._transactions.begin(space, [*titles, part], call, created=False, flags=flags)
        return self._transactions.commit(begun)
