"""Checkpoints are named points of a space's history. Compare a space with one, or roll back to it."""

import base64
import binascii
import re
from collections.abc import Callable, Iterator, Mapping, Sequence

from msgspec import structs

from muisti.core.embedding.models import Models
from muisti.core.identity.caller import Caller
from muisti.core.model.comparisons import Checkpoint, Diff, MemoryChange
from muisti.core.model.errors import AlreadyExists, Conflict, Forbidden, InvalidInput, NotFound, TooLarge
from muisti.core.model.ids import id_text
from muisti.core.model.outcomes import RolledBack, Written
from muisti.core.model.values import LIMIT_MAX, REASON_MAX, Memory, Seq
from muisti.core.operations.embedding import embed_past
from muisti.core.operations.spaces import sql as checkpoints
from muisti.core.query.points import Point, parse
from muisti.core.read.diff import differences
from muisti.core.read.past import point_of, shown_at
from muisti.core.read.reading import find_space
from muisti.core.store.database import Database, Refusal, Refused, Rows
from muisti.core.store.sql import audit, bulk_replace, version_rows
from muisti.core.store.sql.spaces import SpaceRow, guard
from muisti.core.store.sql.trial import written
from muisti.core.write.arrivals import Arrivals
from muisti.core.write.begun import Call
from muisti.core.write.screening import Screener
from muisti.core.write.transactions import Transactions

CHECKPOINTS_MAX = 1_000  # in a space
TURNS_MAX = 50_000  # memories that one batch changes; a remote database limits a transaction to 5 s

_NAME = re.compile(r"[a-z][a-z0-9._-]{0,62}")  # differs from every number, time and Muisti-Seq


class Checkpoints:
    """Checkpoints of all spaces. Instances are thread-safe. `models` embed the texts.

    All methods raise `NotFound` when there is no such space.
    """

    def __init__(
        self,
        database: Database,
        models: Models,
        transactions: Transactions,
        arrivals: Arrivals,
        screener: Screener,
        clock: Callable[[], int],
    ) -> None:
        self._arrivals = arrivals
        self._screener = screener
        self._database = database.primary
        self._models = models
        self._transactions = transactions
        self._clock = clock

    def create(
        self, space: str, name: str, note: str | None, caller: Caller, *, dry_run: bool = False
    ) -> tuple[Checkpoint, Seq]:
        """Name the current point of a space. Its memories stay readable until the checkpoint is deleted.

        Raises:
            InvalidInput, Forbidden, SensitiveContent.
            AlreadyExists: the space has a checkpoint of this name.
            Conflict: the space has `CHECKPOINTS_MAX` of them.
        """
        check_whole(caller)
        if not _NAME.fullmatch(name):
            problem = "1 to 63 of a-z, 0-9, '.', '_', '-', the first a letter"
            raise InvalidInput.at("$.name", f"{name[:80]!r} is no name for a checkpoint: {problem}")
        if note is not None and len(note) > REASON_MAX:
            raise InvalidInput.at("$.note", f"has {len(note):,} characters; at most {REASON_MAX:,} are allowed")
        found, now = find_space(self._database, space), self._clock()
        if note is not None:
            note = self._screener.text(found, note, Call(now, caller=caller), "$.note")[:REASON_MAX]
        if self._named(found, name):
            raise AlreadyExists(f"space {space!r} has a checkpoint {name!r} already; delete that one first")
        (held,) = self._database.read([checkpoints.all_of(found)])
        if len(held) >= CHECKPOINTS_MAX:
            raise Conflict(f"space {space!r} has {CHECKPOINTS_MAX:,} checkpoints; delete some first")
        batch = [guard(found), checkpoints.insert(found, name, now, caller.actor, note)]
        rows = written(self._database, batch, checkpoints.named(found, name), dry_run=dry_run)
        if not rows:
            raise NotFound("checkpoint", name)
        return checkpoints.checkpoint(rows[0]), found.seq

    def all(self, space: str, caller: Caller) -> tuple[list[Checkpoint], Seq]:
        """Return the checkpoints of a space, newest first, and the current point.

        Notes speak of the whole space, so a caller who sees a part of it gets none.
        """
        found = find_space(self._database, space)
        (rows,) = self._database.read([checkpoints.all_of(found)])
        named = [checkpoints.checkpoint(row) for row in rows]
        return [one if caller.sees_all else structs.replace(one, note=None) for one in named], found.seq

    def delete(self, space: str, name: str, caller: Caller, *, dry_run: bool = False) -> None:
        """Delete a checkpoint. Its point is then kept no longer than other history.

        Raises:
            NotFound: there is no checkpoint of this name.
        """
        check_whole(caller)
        found = find_space(self._database, space)
        if not self._named(found, name):
            raise NotFound("checkpoint", name[:80])
        entry = audit.note(self._clock(), caller.actor, "checkpoint_deleted", space=space, target=name)
        written(self._database, [checkpoints.delete(found, name), entry], checkpoints.all_of(found), dry_run=dry_run)

    def diff(
        self, space: str, since: str, until: str | None, caller: Caller, *, limit: int = 50, cursor: str | None = None
    ) -> Diff:
        """Return the memories that were added, changed or ended between two points.

        A point is a checkpoint, a time or a change; None means now. A memory that was both added and ended in between
        is not listed. Memories are in the order of their ids.

        Raises:
            InvalidInput, PastRetention, PointAhead, EpochGone.
        """
        if not 1 <= limit <= LIMIT_MAX:
            raise InvalidInput.at("$.limit", f"{limit} is not between 1 and {LIMIT_MAX}")
        found = find_space(self._database, space)
        first = self._point(found, since, "$.since")
        last = Point(found.seq.number, first.time) if until is None else self._point(found, until, "$.until")
        start, stop = _numbers(first, last)
        if start > stop:
            raise InvalidInput.at("$.until", f"change {stop} lies before change {start}, the value of since")
        beyond = b"" if cursor is None else position(cursor)
        (touched,) = self._database.read(
            [checkpoints.touched(found, start, stop, beyond, limit + 1, caller.own_category)]
        )
        ids = [row[0] for row in touched[:limit] if isinstance(row[0], bytes)]
        items: list[MemoryChange] = []
        if ids:
            before, after = self._database.read(
                [checkpoints.memories_at(found, ids, first), checkpoints.memories_at(found, ids, last)]
            )
            items = list(_changes(ids, _by_id(before, space, caller), _by_id(after, space, caller)))
        more = cursor_of(ids[-1]) if len(touched) > limit else None
        epoch = found.space.epoch
        return Diff(items=tuple(items), next_cursor=more, since=Seq(epoch, start), until=Seq(epoch, stop))

    def roll_back(self, space: str, to: str, call: Call) -> RolledBack:
        """Restore all memories of a space as they were at a point, in one step. Memories added since then end.

        A roll-back is a change like any other: it can be undone or rolled back, and repeating it changes nothing. Text
        that becomes current again passes the policy of the space first, as if it were new.

        Raises:
            SensitiveContent: the policy refuses some of the text; nothing is rolled back.
            InvalidInput, Forbidden, PastRetention, PointAhead, EpochGone, QuotaExceeded, ModelMismatch.
            TooLarge: one step cannot change so many memories.
        """
        check_whole(call.caller)
        found = find_space(self._database, space)
        point = self._point(found, to, "$.to")
        seq = found.seq.number if point.number is None else point.number
        (touched,) = self._database.read([checkpoints.touched_count(found, seq)])
        check_size(touched, "roll back to a later point first, or restore single memories")
        for encoder in self._models.embedding(found.space):
            embed_past(self._database, found, encoder, self._models.cache, Point(seq, call.now))
        entry = audit.note(call.now, call.caller.actor, "space_rolled_back", space=space, target=str(seq))

        def attempt(row: SpaceRow) -> Written:
            shown_at(self._database, row, seq)
            planned = [bulk_replace.back_to(row, seq)]
            allowed = self._arrivals.allowed(row, planned, call, are_new=False)
            ends = [entry, *allowed.end]
            return self._transactions.turn(row, [*planned, *allowed.plan], "rolled_back", call, ends, allowed.flags)

        try:
            done = self._transactions.run(space, call, attempt)
        except Refused as refused:
            if refused.code != Refusal.CONSTRAINT:
                raise
            problem = f"change {seq} is inside a step that passed an address on; name a point before or after that step"
            raise InvalidInput.at("$.to", problem) from refused
        assert done.tally is not None
        made = 0 if done.plan is not None else done.tally.changes
        return RolledBack(to=Seq(done.seq.epoch, seq), before=Seq(done.seq.epoch, done.seq.number - made), written=done)

    def _named(self, space: SpaceRow, name: str) -> Rows:
        return self._database.read([checkpoints.named(space, name)])[0]

    def _point(self, space: SpaceRow, text: str, path: str) -> Point:
        """Return the point that a checkpoint, a time or a change names."""
        rows = self._named(space, text)
        if rows:
            seq = checkpoints.checkpoint(rows[0]).seq
            return Point(seq, self._clock())
        if _NAME.fullmatch(text) and ":" not in text:
            raise NotFound("checkpoint", text)
        try:
            as_of = parse(text)
        except InvalidInput as error:
            raise InvalidInput.at(path, error.problems[0].message) from None
        assert as_of is not None
        return point_of(self._database, space.space.name, as_of, self._clock())


def check_whole(caller: Caller) -> None:
    """Raise `Forbidden` unless the caller sees all of a space."""
    if not caller.sees_all:
        raise Forbidden("this needs a key that sees the whole space; this key sees a part of it")


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
