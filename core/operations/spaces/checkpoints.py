"""Checkpoints are named points of a space's history. Compare a space with one, or roll back to it."""

import base64
import binascii
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import cast

import msgspec
from msgspec import structs

from muisti.core.identity.caller import Caller
from muisti.core.model.choices import CLEAR_PHRASE
from muisti.core.model.errors import AlreadyExists, Conflict, InvalidInput, NotFound, TooLarge
from muisti.core.model.ids import id_text
from muisti.core.model.outcomes import Checkpoint, Cleared, Diff, MemoryChange, RolledBack, Written
from muisti.core.model.times import from_us
from muisti.core.model.values import LIMIT_MAX, REASON_MAX, Memory, Seq
from muisti.core.operations.missing_vectors import embed_past
from muisti.core.query.points import Point, parse
from muisti.core.read.diff import differences
from muisti.core.read.reading import find_space, point_of, shown_at
from muisti.core.store.database import Refusal, Refused, Row, Rows, Statement, slots, written
from muisti.core.store.sql import bulk_replace, operations, version_rows
from muisti.core.store.sql.spaces import SpaceRow, guard
from muisti.core.store.sql.version_rows import COLUMNS, lived
from muisti.core.write.calls import Calls
from muisti.core.write.intake import Intake
from muisti.core.write.intake import allowed as allowed_now
from muisti.core.write.screening import Screener
from muisti.core.write.transactions import Transactions

CHECKPOINTS_MAX = 1_000  # in a space
TURNS_MAX = 50_000  # memories that one batch changes; a remote database limits a transaction to 5 s
CLEARED = TURNS_MAX  # memories that one step of `clear` ends

_NAME = re.compile(r"[a-z][a-z0-9._-]{0,62}")  # differs from every number, time and Muisti-Seq


class Checkpoints(msgspec.Struct, frozen=True, kw_only=True):
    """Points of the history of spaces, as one caller names, compares and restores them."""

    calls: Calls
    store: Transactions
    intake: Intake
    screener: Screener

    def create_checkpoint(self, space: str, name: str, note: str | None = None) -> tuple[Checkpoint, Seq]:
        """Name the current point of a space. Its memories stay readable until the checkpoint is deleted.

        Raises:
            InvalidInput, Forbidden, SensitiveContent.
            AlreadyExists: the space has a checkpoint of this name.
            Conflict: the space has `CHECKPOINTS_MAX` of them.
        """
        call = self.calls.new()
        call.caller.check_whole()
        if not _NAME.fullmatch(name):
            problem = "1 to 63 of a-z, 0-9, '.', '_', '-', the first a letter"
            raise InvalidInput.at("$.name", f"{name[:80]!r} is no name for a checkpoint: {problem}")
        if note is not None and len(note) > REASON_MAX:
            raise InvalidInput.at("$.note", f"has {len(note):,} characters; at most {REASON_MAX:,} are allowed")
        found = find_space(self.store.database, space)
        if note is not None:
            note = self.screener.text(found, note, call, "$.note")[:REASON_MAX]
        if self._named(found, name):
            raise AlreadyExists(f"space {space!r} has a checkpoint {name!r} already; delete that one first")
        (held,) = self.store.database.read([all_checkpoints(found)])
        if len(held) >= CHECKPOINTS_MAX:
            raise Conflict(f"space {space!r} has {CHECKPOINTS_MAX:,} checkpoints; delete some first")
        batch = [guard(found), insert_checkpoint(found, name, call.now, call.caller.actor, note)]
        rows = written(self.store.database, batch, checkpoint_named(found, name), dry_run=call.dry_run)
        if not rows:
            raise NotFound("checkpoint", name)
        return checkpoint_of(rows[0]), found.seq

    def list_checkpoints(self, space: str) -> tuple[list[Checkpoint], Seq]:
        """Return the checkpoints of a space, newest first, and the current point.

        Notes speak of the whole space, so a caller who sees a part of it gets none.
        """
        found = find_space(self.store.database, space)
        (rows,) = self.store.database.read([all_checkpoints(found)])
        named = [checkpoint_of(row) for row in rows]
        return [one if self.calls.caller.sees_all else structs.replace(one, note=None) for one in named], found.seq

    def delete_checkpoint(self, space: str, name: str) -> None:
        """Delete a checkpoint. Its point is then kept no longer than other history.

        Raises:
            NotFound: there is no checkpoint of this name.
        """
        call = self.calls.new()
        call.caller.check_whole()
        found = find_space(self.store.database, space)
        if not self._named(found, name):
            raise NotFound("checkpoint", name[:80])
        entry = operations.audit(call.now, call.caller.actor, "checkpoint_deleted", space=space, target=name)
        batch = [delete_checkpoint(found, name), entry]
        written(self.store.database, batch, all_checkpoints(found), dry_run=call.dry_run)

    def diff(
        self, space: str, since: str, until: str | None = None, *, limit: int = 50, cursor: str | None = None
    ) -> Diff:
        """Return the memories that were added, changed or ended between two points.

        A point is a checkpoint, a time or a change; None means now. A memory that was both added and ended in between
        is not listed. Memories are in the order of their ids.

        Raises:
            InvalidInput, PastRetention, PointAhead, EpochGone.
        """
        if not 1 <= limit <= LIMIT_MAX:
            raise InvalidInput.at("$.limit", f"{limit} is not between 1 and {LIMIT_MAX}")
        found, caller = find_space(self.store.database, space), self.calls.caller
        first = self._point(found, since, "$.since")
        last = Point(found.seq.number, first.time) if until is None else self._point(found, until, "$.until")
        start, stop = _numbers(first, last)
        if start > stop:
            raise InvalidInput.at("$.until", f"change {stop} lies before change {start}, the value of since")
        beyond = b"" if cursor is None else position(cursor)
        (touched,) = self.store.database.read(
            [touched_between(found, start, stop, beyond, limit + 1, caller.own_category)]
        )
        ids = [row[0] for row in touched[:limit] if isinstance(row[0], bytes)]
        items: list[MemoryChange] = []
        if ids:
            before, after = self.store.database.read([memories_at(found, ids, first), memories_at(found, ids, last)])
            items = list(_changes(ids, _by_id(before, space, caller), _by_id(after, space, caller)))
        more = cursor_of(ids[-1]) if len(touched) > limit else None
        epoch = found.space.epoch
        return Diff(items=tuple(items), next_cursor=more, since=Seq(epoch, start), until=Seq(epoch, stop))

    def roll_back(self, space: str, to: str) -> RolledBack:
        """Restore all memories of a space as they were at a point, in one step. Memories added since then end.

        A roll-back is a change like any other: it can be undone or rolled back, and repeating it changes nothing. Text
        that becomes current again passes the policy of the space first, as if it were new.

        Raises:
            SensitiveContent: the policy refuses some of the text; nothing is rolled back.
            InvalidInput, Forbidden, PastRetention, PointAhead, EpochGone, QuotaExceeded, ModelMismatch.
            TooLarge: one step cannot change so many memories.
        """
        call = self.calls.new()
        call.caller.check_whole()
        found = find_space(self.store.database, space)
        point = self._point(found, to, "$.to")
        seq = found.seq.number if point.number is None else point.number
        (touched,) = self.store.database.read([touched_count(found, seq)])
        check_size(touched, "roll back to a later point first, or restore single memories")
        for encoder in self.store.models.embedding(found.space):
            embed_past(self.store.database, found, encoder, self.store.models.cache, Point(seq, call.now))
        entry = operations.audit(call.now, call.caller.actor, "space_rolled_back", space=space, target=str(seq))

        def attempt(row: SpaceRow) -> Written:
            shown_at(self.store.database, row, seq)
            planned = [bulk_replace.back_to(row, seq)]
            allowed = allowed_now(self.store, self.intake, row, planned, call, are_new=False)
            ends = [entry, *allowed.end]
            return self.store.turn(row, [*planned, *allowed.plan], "rolled_back", call, ends, allowed.flags)

        try:
            done = self.store.run(space, call, attempt)
        except Refused as refused:
            if refused.code != Refusal.CONSTRAINT:
                raise
            problem = f"change {seq} is inside a step that passed an address on; name a point before or after that step"
            raise InvalidInput.at("$.to", problem) from refused
        assert done.tally is not None
        made = 0 if done.plan is not None else done.tally.changes
        return RolledBack(to=Seq(done.seq.epoch, seq), before=Seq(done.seq.epoch, done.seq.number - made), written=done)

    def clear(self, space: str, confirm: str) -> Cleared:
        """End all memories of a space, in steps of at most `CLEARED`. Rolling back to `before` undoes it.

        A dry run tries the first step.

        Raises:
            InvalidInput: `confirm` is not the phrase; nothing ends.
            NotFound, Forbidden, ModelMismatch, StoreUnavailable.
        """
        call = self.calls.new()
        call.caller.check_whole()
        if confirm != CLEAR_PHRASE:
            raise InvalidInput.at("$.confirm", f"to delete all memories of the space send {CLEAR_PHRASE!r}")
        entry = operations.audit(call.now, call.caller.actor, "memories_cleared", space=space)

        def attempt(row: SpaceRow) -> Written:
            planned = [bulk_replace.end_all(row, CLEARED)]
            return self.store.turn(row, planned, "deleted", call, [entry])

        done = self.store.run(space, call, attempt)
        before = Seq(done.seq.epoch, done.seq.number - (0 if call.dry_run else _ended(done)))
        total = step = _ended(done)
        while step == CLEARED and not call.dry_run:
            done = self.store.run(space, call, attempt)
            step = _ended(done)
            total += step
        return Cleared(ended=total, before=before, written=done)

    def _named(self, space: SpaceRow, name: str) -> Rows:
        return self.store.database.read([checkpoint_named(space, name)])[0]

    def _point(self, space: SpaceRow, text: str, path: str) -> Point:
        """Return the point that a checkpoint, a time or a change names."""
        rows = self._named(space, text)
        if rows:
            seq = checkpoint_of(rows[0]).seq
            return Point(seq, self.calls.clock())
        if _NAME.fullmatch(text) and ":" not in text:
            raise NotFound("checkpoint", text)
        try:
            as_of = parse(text)
        except InvalidInput as error:
            raise InvalidInput.at(path, error.problems[0].message) from None
        assert as_of is not None
        return point_of(self.store.database, space.space.name, as_of, self.calls.clock())


def check_size(counted: Rows, advice: str) -> None:
    """Raise `TooLarge` when a step would change too many memories."""
    count = counted[0][0]
    assert isinstance(count, int)
    if count > TURNS_MAX:
        raise TooLarge(f"{count:,} memories would change; at most {TURNS_MAX:,} can change in one step: {advice}")


def _numbers(first: Point, last: Point) -> tuple[int, int]:
    assert first.number is not None and last.number is not None
    return first.number, last.number


def _by_id(rows: Rows, space: str, caller: Caller) -> dict[bytes, Memory]:
    """Return the memories that the caller sees, by id, without superseded ones."""
    found = [(row[1], version_rows.memory(row, space)) for row in rows]
    return {
        memory_id: one
        for memory_id, one in found
        if isinstance(memory_id, bytes) and one.superseded_by is None and caller.shows(one.category)
    }


def _changes(
    ids: Sequence[bytes], before: Mapping[bytes, Memory], after: Mapping[bytes, Memory]
) -> Iterator[MemoryChange]:
    for memory_id in ids:
        old, new = before.get(memory_id), after.get(memory_id)
        fields = () if old is None or new is None else differences(old, new)
        if (old is None) != (new is None) or fields:
            kind = "added" if old is None else "ended" if new is None else "changed"
            yield MemoryChange(id=id_text(memory_id), change=kind, before=old, after=new, fields=fields)


def cursor_of(memory_id: bytes) -> str:
    """Return the cursor of the page that follows a memory, in the order of ids."""
    return base64.urlsafe_b64encode(memory_id).decode()


def position(cursor: str) -> bytes:
    """Return the id that a cursor contains.

    Raises:
        InvalidInput: the cursor is not one of ours.
    """
    try:
        raw = base64.b64decode(cursor.encode("ascii"), altchars=b"-_", validate=True)
    except (binascii.Error, UnicodeEncodeError):
        raw = b""
    if len(raw) != 16:
        raise InvalidInput.at("$.cursor", f"{cursor[:80]!r} is no cursor; take next_cursor of the page before")
    return raw


def _ended(done: Written) -> int:
    assert done.tally is not None
    return done.tally.ended


# The SQL of checkpoints, and of the changes between two points of a space's history


def checkpoint_of(row: Row) -> Checkpoint:
    """Read a row of `checkpoint_named` or `all_checkpoints`."""
    name, seq, created_at, actor, note = cast(tuple[str, int, int, str, str | None], row)
    return Checkpoint(name=name, seq=seq, created_at=from_us(created_at), actor=actor, note=note)


def insert_checkpoint(space: SpaceRow, name: str, now: int, actor: str, note: str | None) -> Statement:
    """Name the current point of a space; nothing happens when the name is taken."""
    return Statement(
        "INSERT INTO checkpoints SELECT id, ?, seq, ?, ?, ? FROM spaces WHERE id = ? "
        "ON CONFLICT (space_id, name) DO NOTHING",
        (name, now, actor, note, space.id),
    )


def checkpoint_named(space: SpaceRow, name: str) -> Statement:
    return Statement(
        "SELECT name, seq, created_at, actor, note FROM checkpoints WHERE space_id = ? AND name = ?", (space.id, name)
    )


def all_checkpoints(space: SpaceRow) -> Statement:
    """Select all checkpoints of a space, newest first."""
    return Statement(
        "SELECT name, seq, created_at, actor, note FROM checkpoints WHERE space_id = ? ORDER BY seq DESC, name",
        (space.id,),
    )


def delete_checkpoint(space: SpaceRow, name: str) -> Statement:
    return Statement("DELETE FROM checkpoints WHERE space_id = ? AND name = ?", (space.id, name))


def touched_between(
    space: SpaceRow, after: int, upto: int, beyond: bytes, limit: int, category: str | None
) -> Statement:
    """Select the ids after `beyond` of memories with a version that began or ended between two changes, in order.

    With `category`, a folded one, only versions of that category count.
    """
    own, args = ("", ()) if category is None else (" AND category_folded = ?", (category,))
    return Statement(
        f"""SELECT memory_id FROM (
            SELECT memory_id FROM versions WHERE space_id = ? AND born > ? AND born <= ?{own}
            UNION SELECT memory_id FROM versions WHERE space_id = ? AND died > ? AND died <= ?{own}
        ) WHERE memory_id > ? ORDER BY memory_id LIMIT ?""",
        (*(space.id, after, upto, *args) * 2, beyond, limit),
    )


def touched_count(space: SpaceRow, after: int) -> Statement:
    """Count the memories that changed after a change."""
    return Statement(
        "SELECT count(*) FROM (SELECT memory_id FROM versions WHERE space_id = ? AND born > ? "
        "UNION SELECT memory_id FROM versions WHERE space_id = ? AND died > ?)",
        (space.id, after) * 2,
    )


def memories_at(space: SpaceRow, ids: Sequence[bytes], point: Point) -> Statement:
    """Select the versions of given memories that were valid at a point, in no order."""
    then, args = lived(point)
    return Statement(
        f"SELECT {COLUMNS} FROM versions v WHERE v.memory_id IN {slots(ids)} AND +v.space_id = ? AND {then}",
        (*ids, space.id, *args),
    )
