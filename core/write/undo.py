"""Undo changes: each memory gets the state that it had before the first of them."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from itertools import compress
from typing import cast

import msgspec
from msgspec.structs import replace

from muisti.core.identity.caller import Caller
from muisti.core.model.choices import BATCH_MAX, UNDO_MAX
from muisti.core.model.errors import (
    ChangedSince,
    InvalidInput,
    NotFound,
    NotUndone,
    Problem,
    SensitiveContent,
    TooLarge,
)
from muisti.core.model.ids import id_text
from muisti.core.model.outcomes import Flag, Instead, LaterChange, Undo, Written
from muisti.core.model.times import to_us
from muisti.core.model.values import Memory, Seq
from muisti.core.read.diff import differences
from muisti.core.store.database import Database, Row, Rows, Statement
from muisti.core.store.sql import (
    changes,
    chunks,
    forks,
    hierarchy,
    inserting,
    memories,
    operations,
    quotas,
    redaction,
    undo,
    version_rows,
)
from muisti.core.store.sql.changes import Change
from muisti.core.store.sql.spaces import SpaceRow
from muisti.core.store.sql.version_rows import raw
from muisti.core.write.calls import Call, Part
from muisti.core.write.derived_texts import FOLLOWER, retitled
from muisti.core.write.import_undo import ImportUndoer, stay
from muisti.core.write.intake import Intake, place_of
from muisti.core.write.prepare import ready, repeated
from muisti.core.write.transactions import Transactions

# Find the last call of a caller in a space: the request or the import that an undo takes back by default

TASKS = 16  # of a caller that are looked at
DONE: Mapping[str, str] = {  # calls that undo does not take back; {} is the target
    "key_created": "created a key of the server: revoking the key takes that back",
    "key_revoked": "revoked a key of the server, which is final",
    "key_rotated": "rotated a key of the server, which is final",
    "keys_cleared": "deleted the keys of the server, which is final",
    "memory_erased": "erased memories for good, and nothing brings them back",
    "conflict_kept": "kept both memories of a conflict, which changed neither",
    "quota_set": "set the quota of the space: setting it again takes that back",
    "policy_set": "set the policy of the space: setting it again takes that back",
    "space_forked": "copied a space: deleting the copy takes that back",
    "checkpoint_created": "created the checkpoint {!r}: deleting it takes that back",
    "checkpoint_deleted": "deleted the checkpoint {!r}: creating it again names the point of now",
    "probe_added": "added a probe: deleting it takes that back",
    "probe_deleted": "deleted a probe: adding it again takes that back",
    "feedback_given": "gave a verdict on a memory: the verdict null takes that back",
    "webhook_created": "created a webhook: deleting it takes that back",
    "webhook_deleted": "deleted a webhook, whose secret is gone",
    "generation_built": "built vectors of another model: dropping these takes that back",
    "generation_switched": "switched the model of the space: switching back takes that back",
    "generation_dropped": "dropped vectors of a model: building them again takes that back",
}


class LastCall(msgspec.Struct, frozen=True):
    """A call, by its request or by the number of its import. `seq` and `at` place it among other calls."""

    seq: int
    at: int
    request: str | None = None
    import_id: int | None = None


class LastCalls(msgspec.Struct, frozen=True):
    """Find last calls. Thread-safe."""

    database: Database

    def find(self, space: SpaceRow, caller: Caller) -> LastCall | None:
        """Return the caller's last call that can be taken back; None when there is none.

        Raises:
            NotUndone: a later call of the caller still runs as a task, or changed no memory.
        """
        found = self._changed(space, caller)
        imports, tasks = self.database.read([
            undo.imported(space, caller.actor),
            undo.running(space, caller.actor),
        ])  # fmt: skip
        for number, seq, at in cast(list[tuple[int, int, int]], imports):
            if found is None or seq >= found.seq:
                found = LastCall(seq, at, import_id=number)
        for id_, kind, _, done, total, seq in cast(list[tuple[str, str, bool, int, int, int]], tasks):
            if found is None or seq >= found.seq:
                of = f" ({done:,} of {total:,} done)" if total else ""
                raise NotUndone(f"your last call is a task that still runs: {kind}{of}", Instead(task=id_))
        since = to_us(space.space.created_at) if found is None else found.at
        (rows,) = self.database.read([undo.beside(space, caller.actor, since, DONE)])
        if rows:
            raise NotUndone(f"your last call {_done(rows[0])}", self._instead(space, caller, found))
        return found

    def _instead(self, space: SpaceRow, caller: Caller, before: LastCall | None) -> Instead:
        if before is None or before.request is None:
            return Instead(import_id=None if before is None else before.import_id)
        (rows,) = self.database.read([undo.size(space, caller.actor, before.request)])
        return Instead(request=before.request, last=cast(int, rows[0][0]))

    def _changed(self, space: SpaceRow, caller: Caller) -> LastCall | None:
        """Return the last request whose changes are not taken back."""
        found, without = None, list[str]()
        while len(without) < TASKS:
            (rows,) = self.database.read([
                undo.last_change(space, caller, 0 if found is None else found.seq, without)
            ])  # fmt: skip
            if not rows:
                break
            request, seq, at = cast(tuple[str | None, int, int], rows[0])
            if request is None:
                return LastCall(seq, at)
            (tasks,) = self.database.read([undo.task_of(space, caller.actor, request)])
            if not tasks:
                return LastCall(seq, at, request)
            began = cast(int, tasks[0][-1])
            if found is None or began >= found.seq:
                found = LastCall(began, at, request)
            without.append(request)
        return found


def _done(row: Row) -> str:
    action, target = cast(tuple[str, str | None], row)
    return DONE[action].format(target)


DIED = version_rows.WIDTH  # column of `memories.last`


class _Touched(msgspec.Struct, frozen=True):
    """A memory now and before the changes, where None means that it did not exist. `is_dead`: it is deleted now."""

    last: Memory
    is_dead: bool
    before: Memory | None

    @property
    def is_done(self) -> bool:
        """Return whether the memory already has its earlier state."""
        if self.is_dead or self.before is None:
            return self.is_dead and self.before is None
        return not differences(self.last, self.before)

    @property
    def leaves(self) -> bool:
        """Return whether the memory leaves its session and conversation when it gets its earlier state."""
        before, last = self.before, self.last
        return not self.is_dead and (
            before is None or (before.session, before.conversation) != (last.session, last.conversation)
        )


class Undoer(msgspec.Struct, frozen=True):
    """Undo changes in all spaces. Instances are thread-safe. `models` embed the texts."""

    store: Transactions
    intake: Intake

    def undo(self, space: str, which: Undo, call: Call) -> Written:
        """Undo the changes that `which` names, all or none. Changes that were undone before are skipped.

        Without a name it is the caller's last call; see `last_call`. Of an import all memories end.

        The reply has the memories in their new current versions, and the ids of memories that ended. Text that becomes
        current again passes the policy of the space first, as if it were new.

        Raises:
            InvalidInput, NotFound: there is nothing to undo.
            NotUndone: a change belongs to an import, or the caller's last call cannot be taken back.
            TooLarge: the request made more changes than one step undoes.
            SensitiveContent: the policy refuses text that would become current; the paths name the memories.
            ChangedSince: later changes depend on these.
            AddressTaken, QuotaExceeded, RequestReused, ModelMismatch.
        """
        most = BATCH_MAX if which.request is None else UNDO_MAX
        if which.last is not None and not 1 <= which.last <= most:
            raise InvalidInput.at("$.last", f"{which.last} is not between 1 and {most:,}")

        def attempt(found: SpaceRow) -> Written:
            own = LastCalls(self.store.database).find(found, call.caller) if which == Undo() else None
            if own is not None and own.import_id is not None:
                return ImportUndoer(self.store).take_back(found, own.import_id, call)
            chosen = self._chosen(found, which, own, call)
            touched = self._touched(found, chosen)
            merged = [one.memory_id for one in chosen if one.kind == "merged"]
            written = self._take_back(found, [one.seq for one in chosen], touched, merged, call)
            return replace(written, undone=f"{in_words(chosen)}{written.undone}")

        return self.store.run(space, call, attempt)

    def _chosen(self, space: SpaceRow, which: Undo, own: LastCall | None, call: Call) -> list[Change]:
        """Return the changes to undo, in their order; `own` is the last call of the caller."""
        (rows,) = self.store.database.read([self._asked(space, which, own, call.caller)])
        if len(rows) > UNDO_MAX:
            request = changes.change(rows[0]).request or ""
            (((first,),),) = self.store.database.read([changes.first_of(space, request)])
            point = Seq(space.space.epoch, cast(int, first) - 1)
            raise TooLarge(
                f"nothing was undone: the request made more than {UNDO_MAX:,} changes, and an undo takes all or "
                f"none of them back; a roll-back to {point} takes them back with all later changes"
            )
        found = {one.seq: one for one in map(changes.change, rows) if call.caller.shows(one.category)}
        if found and which.last is not None and which.author is None:
            requests = {one.request for one in found.values() if one.request is not None}
            (rows,) = self.store.database.read([changes.followed(space, [*requests], FOLLOWER, min(found))])
            found |= {one.seq: one for one in map(changes.change, rows)}
        twins = [one.twin for one in found.values() if one.twin is not None and one.twin not in found]
        if twins:
            (rows,) = self.store.database.read([changes.numbered(space, twins)])
            found |= {one.seq: one for one in map(changes.change, rows)}
        if not found:
            raise NotFound("change to undo", "")
        self._check_imports(space, [*found])
        return sorted(found.values())

    def _asked(self, space: SpaceRow, which: Undo, own: LastCall | None, caller: Caller) -> Statement:
        """Return the statement that selects the changes; one more than `UNDO_MAX` of a whole request."""
        if own is not None and own.request is not None:
            # A client may choose the id of its request, so others may have used the same one.
            return changes.of_call(space, own.request, (caller.actor, FOLLOWER), UNDO_MAX + 1)
        if which.request is not None:
            whole = which.last is None or which.last == UNDO_MAX
            return changes.of_request(space, which.request, UNDO_MAX + 1 if whole else which.last or 1)
        if which.author is not None:
            return changes.of_author(space, which.author, which.last or 1)
        return changes.made_by(space, caller.actor, which.last or 1)

    def _check_imports(self, space: SpaceRow, seqs: Sequence[int]) -> None:
        """Raise `NotUndone` for changes of an import, which must be undone together."""
        (rows,) = self.store.database.read([undo.holding_changes(space, seqs)])
        if rows:
            number, memories = cast(tuple[int, int], rows[0])
            told = f"the change is part of import {number}, which brought {memories:,} memories and is taken back whole"
            raise NotUndone(told, Instead(import_id=number))

    def _touched(self, space: SpaceRow, chosen: Sequence[Change]) -> list[_Touched]:
        first: dict[bytes, Change] = {}
        for one in chosen:
            first.setdefault(one.memory_id, one)
        answers = self.store.database.read([each for one in first.values() for each in _ask(space, one)])
        self._check_kept(space, [one for one, before in zip(first.values(), answers[1::3], strict=True) if not before])
        name = space.space.name
        touched = [
            _Touched(
                last=version_rows.memory(last[0], name),
                is_dead=last[0][DIED] is not None,
                before=version_rows.memory(before[0], name) if before else None,
            )
            for last, before in zip(answers[0::3], answers[1::3], strict=True)
        ]
        # A title that only followed turns follows them again when it has changed since.
        own = {one.seq for one in chosen}
        told = {id_text(one.memory_id) for one in chosen if (one.actor, one.kind) != (FOLLOWER, "updated")}
        left = [
            one.last.id in told or one.last.kind not in ("conversation", "topic") or {row[0] for row in later} <= own
            for one, later in zip(touched, answers[2::3], strict=True)
        ]
        self._check(space, chosen, [*compress(answers[2::3], left)])
        return [*compress(touched, left)]

    def _check_kept(self, space: SpaceRow, without: Sequence[Change]) -> None:
        """Raise `NotUndone` when a version was redacted to which one of these changes would go back."""
        later = [(one.memory_id, one.version) for one in without if one.version > 1]
        if later and self.store.database.read([redaction.redacted(space, later)])[0]:
            raise NotUndone("the version before this change was redacted, so nothing can take its place", Instead())

    def _check(self, space: SpaceRow, chosen: Sequence[Change], later: Sequence[Rows]) -> None:
        """Raise `ChangedSince` when a memory was changed later by changes that are not chosen."""
        known = {one.seq for one in chosen}
        seqs = sorted({cast(int, row[0]) for rows in later for row in rows} - known)
        (rows,) = self.store.database.read([changes.numbered(space, seqs[:BATCH_MAX])]) if seqs else ([],)
        found = [changes.change(row) for row in rows]
        if found:
            raise ChangedSince([LaterChange(one.seq, one.kind, id_text(one.memory_id), one.actor) for one in found])

    def _take_back(
        self, space: SpaceRow, seqs: Sequence[int], touched: Sequence[_Touched], merged: Sequence[bytes], call: Call
    ) -> Written:
        """Commit the undo of the changes `seqs`; those of the memories `merged` came from a merge."""
        todo = [one for one in touched if not one.is_done]
        if not todo:
            raise NotFound("change to undo", "")
        leaving = [raw(one.last.id) for one in todo if one.leaves]
        (rows,) = self.store.database.read([hierarchy.holding(space, leaving)])
        created = {raw(one.last.id) for one in todo if one.before is None}
        stays = {id_text(row[0]): f"{row[1]} {row[2]}" for row in rows if row[0] in created}
        todo = [one for one in todo if one.last.id not in stays]
        if not todo:
            raise NotFound("change to undo", "", f"what is left is used by others{stay(stays.values())}")
        offsets: Mapping[str, int] = {one.last.id: len(todo) - 1 - place for place, one in enumerate(todo)}
        revived, flags = self._revived(space, todo, call)
        sizes = {one.last.id for one in todo if not one.is_dead}
        turned = [(None if one.is_dead else one.last, one.before) for one in todo]
        titles = retitled(self.store.database, space, turned, call, len(todo), {one.last.id for one in touched})
        # Memories that end come first, because an address may pass from one memory to another.
        parts = [*titles]
        parts += [Part(one.last, list(_ended(space, one, offsets, call)), told=False) for one in todo]
        if leaving:
            parts.insert(0, Part(todo[0].last, [hierarchy.refuse_holding(space, leaving, len(rows))], told=False))
        for new in ready(revived, space, self.store.models):
            inserted = self.store.guarded_insertion(space, new, "undone", call.caller, offsets[new.memory.id])
            limits = [quotas.refuse_larger(space, self.store.quota, new.memory)] if new.memory.id in sizes else []
            parts.append(Part(new.memory, [*inserted, *limits]))
        tail = [changes.undo(space, seqs)]
        tail += [forks.reopen(space, merged[at : at + BATCH_MAX]) for at in range(0, len(merged), BATCH_MAX)]
        if wholes := _documents(todo):
            tail.append(chunks.torn(space, wholes))
        if any(one.is_dead for one in todo):
            tail.insert(0, quotas.refuse_more(space, self.store.quota))
        parts.append(Part(todo[-1].last, tail, told=False))
        ended = tuple(one.last.id for one in todo if one.before is None)
        numbers = len(titles) + len(todo)
        begun = self.store.begin(space, parts, call, created=False, numbers=numbers, ended=ended, flags=flags)
        return replace(self.store.commit(begun), undone=stay(stays.values()))

    def _revived(self, space: SpaceRow, todo: Sequence[_Touched], call: Call) -> tuple[list[Memory], tuple[Flag, ...]]:
        """Return the versions that become current, redacted as the policy demands, and flags for redacted text."""
        problems, flags, revived = list[Problem](), list[Flag](), list[Memory]()
        for one in todo:
            if one.before is None:
                continue
            current = None if one.is_dead or one.last.superseded_by is not None else one.last
            try:
                accepted, redactions = self.intake.brought(
                    space, one.before, current, call, place_of(one.last.id), is_new=False
                )
            except SensitiveContent as refusal:
                problems += refusal.problems
            else:
                revived.append(repeated(accepted, one.last, call.now))
                flags += redactions
        if problems:
            raise SensitiveContent(problems)
        return revived, tuple(flags)


def in_words(changes: Sequence[Change]) -> str:
    """Return the number of changes, and how many there are of each kind: `3 changes (2 created, 1 updated)`."""
    kinds = Counter(one.kind.replace("_", " ") for one in changes)
    each = ", ".join(f"{count:,} {kind}" for kind, count in kinds.items())
    return f"{len(changes):,} {'change' if len(changes) == 1 else 'changes'} ({each})"


def _documents(touched: Sequence[_Touched]) -> list[bytes]:
    """Return the ids of the documents of which parts are touched."""
    parts = (one.last for one in touched if one.last.document is not None)
    ids = (memory.id if memory.kind == "document" else memory.parent_id for memory in parts)
    return [raw(one) for one in dict.fromkeys(ids) if one is not None]


def _ask(space: SpaceRow, first: Change) -> list[Statement]:
    return [
        memories.last(space, first.memory_id),
        changes.before(space, first.memory_id, first.seq),
        changes.touches(space, first.memory_id, first.seq),
    ]


def _ended(space: SpaceRow, one: _Touched, offsets: Mapping[str, int], call: Call) -> Iterator[Statement]:
    if one.is_dead:
        yield inserting.refuse_revived(one.last)
        return
    yield inserting.refuse_stale(one.last)
    yield inserting.end(space, one.last, offsets[one.last.id])
    if one.before is None:
        yield changes.record(space, "undone", call.caller, one.last, offsets[one.last.id])
        yield operations.audit(
            call.now, call.caller.actor, "memory_deleted", space=space.space.name, target=one.last.id
        )
