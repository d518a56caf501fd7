"""Write memories: validate the request against stored memories, prepare the statements, commit them."""

from collections.abc import Mapping, Sequence
from typing import cast

from msgspec.structs import replace

from muisti.core.embedding.models import Models
from muisti.core.index.cache import Indexes
from muisti.core.model.collisions import AddressTaken, Similar
from muisti.core.model.counts import Quota
from muisti.core.model.errors import NotFound
from muisti.core.model.ids import IdSource, id_text
from muisti.core.model.messages import restated
from muisti.core.model.outcomes import Likeness, Written
from muisti.core.model.terms import OnConflict
from muisti.core.model.values import Draft, IfMatch, Memory, Name
from muisti.core.read.naming import find
from muisti.core.store.database import Database, Outcome, Refused, Row, Statement
from muisti.core.store.sql import audit, changes, conflicts, guards, inserting, memories, quotas, spaces, version_rows
from muisti.core.store.sql.inserting import NewVersion
from muisti.core.store.sql.spaces import SpaceRow, space_row
from muisti.core.support.waiting import Overtaken, WouldWait
from muisti.core.write.begun import Begun, Call
from muisti.core.write.conflicts.check import NOT_CHECKED, Checked, Checker
from muisti.core.write.intake import Accepted, Intake
from muisti.core.write.lifecycle import Lifecycle
from muisti.core.write.preconditions import check_ordinary, check_version
from muisti.core.write.prepare import again, draft_of, ready
from muisti.core.write.refusals import Part
from muisti.core.write.titles import retitled
from muisti.core.write.transactions import CHANGED, Transactions

QUICK_TEXT = 2_000  # characters of a memory that is added on the event loop
QUICK_CHANGES = 64  # changes by which an index may be behind for that


class Writer:
    """Store memories. Instances are thread-safe. `models` embed the texts.

    All methods raise `NotFound` when there is no such space, and the errors of the database. They raise `RequestReused`
    when the call's key belongs to another request, and `ModelMismatch` when another model embedded the space. Memories
    of others are hidden; writing one is `Forbidden`.
    """

    def __init__(
        self,
        database: Database,
        indexes: Indexes,
        models: Models,
        transactions: Transactions,
        lifecycle: Lifecycle,
        ids: IdSource,
        quota: Quota,
        intake: Intake,
    ) -> None:
        """`quota` applies to spaces without a quota of their own."""
        self._intake = intake
        self._database = database
        self._indexes = indexes
        self._models = models
        self._transactions = transactions
        self._lifecycle = lifecycle
        self._checker = Checker(database, indexes, models)
        self._quota = quota
        self._ids = ids

    def add(self, space: str, drafts: Sequence[Draft], on_conflict: OnConflict, call: Call, path: str) -> Written:
        """Store all drafts or none. A single draft may supersede the memory that would refuse it.

        `path` locates the list of drafts in the request; it is `$` for a single one. A memory that the caller may not
        read never refuses a draft that resembles it; a review shows both to those who may.

        Raises:
            InvalidInput, Forbidden, Duplicate, Contradiction, AddressTaken, QuotaExceeded.
        """
        try:
            written = self._add(space, drafts, on_conflict, call, path)
        except Similar as refusal:
            raise call.caller.redacted(refusal) from None
        return replace(written, similar=call.caller.shown(written.similar))

    def begin_add(self, space: str, draft: Draft, on_conflict: OnConflict, call: Call) -> Begun:
        """Prepare to `add` a draft, if that takes a millisecond or two and never blocks.

        Both functions make the same checks, so only the waiting differs.

        Raises:
            WouldWait: it may take longer, or the cached state of the space is too old.
            InvalidInput, Forbidden, Duplicate, Contradiction.
        """
        known = self._transactions.known(space)
        if known is None or call.request is not None or len(draft.content) > QUICK_TEXT or not self._database.local:
            raise WouldWait
        if not call.caller.sees_all or on_conflict == "supersede" or call.dry_run:
            raise WouldWait
        if on_conflict != "keep":
            (found,) = self._database.read([spaces.by_name(space)])
            known = space_row(found[0]) if found else None
            if known is None or not self._indexes.is_at_hand(known, QUICK_CHANGES):
                raise WouldWait
        try:
            return self._adding(known, [draft], on_conflict, call, "$")
        except CHANGED:
            self._transactions.forget(space)
            raise WouldWait from None

    def end_add(self, begun: Begun, outcome: Outcome) -> Written:
        """Return or raise what `add` would return or raise, after the outcome of the batch.

        Raises:
            Overtaken: the space has changed since `begin_add`, and nothing is stored.
        """
        try:
            if isinstance(outcome, Refused):
                raise self._transactions.explained(begun, outcome) from outcome
            if isinstance(outcome, Exception):
                raise outcome
        except CHANGED as changed:
            self._transactions.forget(begun.space.space.name)
            raise Overtaken from changed
        return self._transactions.concluded(begun, outcome)

    def update(self, space: str, name: Name, changes: Mapping[str, object], if_match: IfMatch, call: Call) -> Written:
        """Change the given fields. Without `if_match`, a concurrent change is kept and this one is applied to it.

        Of a turn, `user` and `system` are fields too (core/model/messages.py).

        Raises:
            InvalidInput, Forbidden, NotFound, Stale, AddressTaken, QuotaExceeded.
        """
        if "category" in changes:
            call.caller.check(changes["category"])

        def attempt(found: SpaceRow) -> Written:
            row, before = find(self._database, found, name, call.caller, call.now)
            check_version(before, if_match)
            check_ordinary(before)
            stated = draft_of(before)
            accepted = self._intake.changed(found, replace(stated, **restated(stated, changes)), before, call)
            if accepted.draft == stated:
                return self._transactions.leave(found, before, call, accepted.flags)
            return self._replace(found, row, before, accepted, call)

        return self._transactions.run(space, call, attempt)

    def put(self, space: str, draft: Draft, if_match: IfMatch, call: Call) -> Written:
        """Store a draft at its category and key, and replace the memory that has this address.

        Raises:
            InvalidInput, Forbidden, Stale, QuotaExceeded.
            NotFound: `if_match` is given, and no memory has the address.
        """
        category, key = draft.category, draft.key
        assert category is not None and key is not None
        call.caller.check(category)  # before the reply says whether a memory has the address

        def attempt(found: SpaceRow) -> Written:
            (rows,) = self._database.read([memories.at_address(found, category, key)])
            if not rows:
                if if_match is not None:
                    raise NotFound("entry", f"{category}/{key}")
                try:
                    return self._transactions.commit(self._adding(found, [draft], "keep", call, "$"))
                except AddressTaken:
                    raise Overtaken from None
            before = version_rows.memory(rows[0], space)
            check_version(before, if_match)
            is_over = memories.is_expired(before, call.now)
            accepted = self._intake.replacing(found, draft, before, call, is_over=is_over)
            return self._replace(found, rows[0], before, accepted, call, created=is_over)

        return self._transactions.run(space, call, attempt)

    def delete(self, space: str, name: Name, if_match: IfMatch, call: Call) -> Written:
        """End a memory. Its versions stay readable.

        Raises:
            NotFound, Stale.
        """

        def attempt(found: SpaceRow) -> Written:
            _, memory = find(self._database, found, name, call.caller, call.now)
            check_version(memory, if_match)
            check_ordinary(memory)
            return self._end(found, memory, call)

        return self._transactions.run(space, call, attempt)

    def _add(self, space: str, drafts: Sequence[Draft], on_conflict: OnConflict, call: Call, path: str) -> Written:
        def attempt(found: SpaceRow) -> Written:
            if on_conflict == "supersede":
                return self._add_or_supersede(found, drafts[0], call)
            return self._transactions.commit(self._adding(found, drafts, on_conflict, call, path))

        known = self._transactions.known(space) if on_conflict == "keep" and call.request is None else None
        if known is not None:
            try:
                return attempt(known)
            except CHANGED:
                self._transactions.forget(space)
        return self._transactions.run(space, call, attempt)

    def _add_or_supersede(self, space: SpaceRow, draft: Draft, call: Call) -> Written:
        """Store a draft. Supersede the memory that would refuse it, if there is one."""
        try:
            return self._transactions.commit(self._adding(space, [draft], "reject", call, "$", echoes=False))
        except (Similar, AddressTaken) as refusal:
            closest = next((one.id for one in refusal.found if call.caller.shows(one.category)), None)
            if closest is None:
                raise
        (rows,) = self._database.read([memories.living(space, version_rows.raw(closest))])
        before = version_rows.memory(rows[0], space.space.name) if rows else None
        if before is None or before.superseded_by is not None:
            raise Overtaken
        return self._lifecycle.put_in_place(space, rows[0], before, draft, call)

    def _end(self, space: SpaceRow, memory: Memory, call: Call) -> Written:
        statements = [
            guards.refuse_stale(memory),
            inserting.end(space, memory),
            changes.record(space, "deleted", call.caller, memory),
            audit.note(call.now, call.caller.actor, "memory_deleted", space=space.space.name, target=memory.id),
        ]
        parts = [*retitled(self._database, space, [(memory, None)], call, 1), Part(memory, statements)]
        begun = self._transactions.begin(space, parts, call, created=False, embedded=False)
        return self._transactions.commit(begun)

    def _adding(
        self,
        space: SpaceRow,
        drafts: Sequence[Draft],
        on_conflict: OnConflict,
        call: Call,
        path: str,
        *,
        echoes: bool = True,
    ) -> Begun:
        places = ["$"] * len(drafts) if path == "$" else [f"{path}[{position}]" for position in range(len(drafts))]
        accepted = self._intake.batch(space, drafts, call, places, echoes=echoes)
        made = [one.first(space, id_text(self._ids.new(call.now)), call.now) for one in accepted]
        last = len(made) - 1
        versions = ready(made, space, self._models)
        checked = self._checked(space, versions, on_conflict, call)
        parts = [
            Part(
                new.memory,
                [
                    *accepted[position].statements,
                    *self._addition(space, new, last - position, on_conflict, call),
                    *_pairs(space, new, checked.to_review(position, made, on_conflict), on_conflict, call),
                ],
                places[position],
                position,
            )
            for position, new in enumerate(versions)
        ]
        flags = tuple(flag for one in accepted for flag in one.flags)
        return self._transactions.begin(space, parts, call, created=True, checked=checked, flags=flags)

    def _checked(self, space: SpaceRow, versions: Sequence[NewVersion], on_conflict: OnConflict, call: Call) -> Checked:
        """Return what the new memories resemble, or raise if one must be refused. A dry run always compares."""
        if on_conflict == "keep" and not call.dry_run:
            return NOT_CHECKED
        checked = self._checker.check(space, versions, call.now, call.caller)
        try:
            if on_conflict == "reject":
                checked.refuse()
        except Similar:
            if self._transactions.is_known(call):
                raise Overtaken from None  # they resemble themselves: the same request was faster
            raise
        return checked

    def _addition(
        self, space: SpaceRow, new: NewVersion, offset: int, on_conflict: OnConflict, call: Call
    ) -> list[Statement]:
        refuses = on_conflict == "reject" and call.caller.reads
        own = call.caller.own_category
        refusals = [guards.refuse_duplicate(space, new.memory, new.content_hash, call.now, own)] if refuses else []
        limits = [quotas.refuse_more(space, self._quota)] if offset == 0 else []  # after the last draft of the batch
        return [*refusals, *self._transactions.guarded_insertion(space, new, "created", call.caller, offset), *limits]

    def _replace(
        self,
        space: SpaceRow,
        row: Row,
        before: Memory,
        accepted: Accepted,
        call: Call,
        *,
        created: bool = False,
    ) -> Written:
        new = again(accepted.next(before, call.now), before, cast(int, row[0]), space, self._models)
        statements = [
            guards.refuse_stale(before),
            *accepted.statements,
            inserting.end(space, before),
            *self._transactions.guarded_insertion(space, new, "updated", call.caller),
            quotas.refuse_larger(space, self._quota, new.memory),
        ]
        embedded = new.passages is not None
        titles = retitled(self._database, space, [(before, new.memory)], call, 1)
        parts = [*titles, Part(new.memory, statements)]
        return self._transactions.commit(
            self._transactions.begin(space, parts, call, created=created, embedded=embedded, flags=accepted.flags)
        )


def _pairs(
    space: SpaceRow, new: NewVersion, against: Sequence[Likeness], on_conflict: OnConflict, call: Call
) -> list[Statement]:
    """Return the statements that open a review of a new memory with each memory of `against`.

    With `review`, memories with the same text are included, and with `reject` those that the caller may not read.
    Other values of `on_conflict` refuse or keep those.
    """
    actor = call.caller.actor
    found = [conflicts.open_pair(space, one, new.memory, call.now, actor) for one in against]
    same = on_conflict == "review" or (on_conflict == "reject" and not call.caller.sees_all)
    return [*found, conflicts.open_same(space, new.memory, call.now, actor)] if same else found
