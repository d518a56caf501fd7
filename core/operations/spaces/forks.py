"""Fork a space, compare the fork with its origin, and merge it back or drop it."""

import uuid
from collections.abc import Iterator, Sequence
from typing import cast

import msgspec

from muisti.core.model.errors import (
    AlreadyExists,
    Conflict,
    InvalidInput,
    MergeConflict,
    ModelMismatch,
    NotFound,
    QuotaExceeded,
)
from muisti.core.model.fields import LINKS
from muisti.core.model.ids import id_text
from muisti.core.model.outcomes import Comparison, Divergence, Strategy, Written
from muisti.core.model.spaces import DEFAULT, Space, check_name
from muisti.core.model.values import LIMIT_MAX, FieldChange, Memory
from muisti.core.operations.spaces.checkpoints import (
    TURNS_MAX,
    Checkpoints,
    check_size,
    cursor_of,
    position,
)
from muisti.core.read.diff import differences
from muisti.core.read.reading import find_space
from muisti.core.store.database import Refusal, Refused, Rows, Statement, written
from muisti.core.store.sql import chunks, forks, memories, operations, quotas, spaces, version_rows
from muisti.core.store.sql.spaces import SpaceRow, space_row
from muisti.core.write.intake import allowed as allowed_now

SHOWN = 100  # conflicts listed in a refusal

_NEW = Statement("SELECT count(*) FROM turns")


class _Both(msgspec.Struct, frozen=True):
    """The two spaces of a merge: `space` is the source, `target` receives its changes."""

    space: SpaceRow
    target: SpaceRow

    @property
    def guards(self) -> list[Statement]:
        return [forks.refuse_moved(self.space), forks.refuse_moved(self.target)]

    def planned(self, strategy: Strategy | None, left: Sequence[bytes], ended: Sequence[bytes]) -> list[Statement]:
        """Return the statements that plan the merge.

        Memories in `left` are not merged; memories of the target in `ended` end.
        """
        plan = forks.plan(self.space, self.target, left, ended, theirs=strategy == "theirs")
        return [*self.guards, *forks.pair(self.space, self.target), plan]


def _check(both: _Both) -> None:
    """Raise unless memories of one space can be stored in the other unchanged."""
    space, target = both.space.space, both.target.space
    if space.name == target.name:
        raise InvalidInput.at("$.from", f"{space.name!r} is the space itself")
    if space.settings.embedded_fields != target.settings.embedded_fields:
        raise Conflict(f"the spaces {space.name!r} and {target.name!r} embed different fields")
    if None not in (space.generation, target.generation) and space.generation != target.generation:
        raise ModelMismatch(
            f"the spaces {space.name!r} and {target.name!r} were embedded by different models; reembed one of them"
        )


class Timeline(Checkpoints, frozen=True, kw_only=True):
    """Versions whole spaces as one caller: points of their history, and copies that are merged."""

    def fork(self, space: str, name: str) -> Space:
        """Copy all current memories of a space into a new one. They get new ids, and their history is not copied.

        The new space has the policy of the old one; copied memories are not screened again. Its quota is its own.

        Raises:
            InvalidInput, Forbidden, QuotaExceeded.
            AlreadyExists: a space of this name exists.
            TooLarge: one step cannot copy so many memories.
        """
        call = self.calls.new()
        call.caller.check_whole()
        check_name(name)
        parent = find_space(self.store.database, space)
        (count,) = self.store.database.read([spaces.memories(parent)])
        check_size(count, "delete what is not needed, or export and import it")
        batch = [
            spaces.guard(parent),
            *spaces.insert(name, str(uuid.uuid4()), parent.space.settings, call.now),
            *forks.copy(parent, name, call.now),
            quotas.refuse_more_in(name, self.store.quota),
            operations.audit(call.now, call.caller.actor, "space_forked", space=name, target=space),
        ]
        try:
            rows = written(self.store.database, batch, spaces.by_name(name), dry_run=call.dry_run)
        except Refused as refused:
            if refused.code == Refusal.SPACE_EXISTS:
                raise AlreadyExists(f"a space {name!r} exists already") from refused
            if refused.code == Refusal.QUOTA_EXCEEDED:
                raise QuotaExceeded(name, None) from refused
            raise NotFound("space", space) from refused
        if not rows:
            raise NotFound("space", name)
        return space_row(rows[0]).space

    def compare(self, space: str, other: str, *, limit: int = 50, cursor: str | None = None) -> Comparison:
        """Return what merging `other` into a space would change, by memory, in the order of the ids in `other`.

        Raises:
            InvalidInput, Forbidden, Conflict.
        """
        self.calls.caller.check_whole()
        if not 1 <= limit <= LIMIT_MAX:
            raise InvalidInput.at("$.limit", f"{limit} is not between 1 and {LIMIT_MAX}")
        both = self._both(other, space)
        beyond = b"" if cursor is None else position(cursor)
        rows = self._compared(both, beyond, limit + 1, only_conflicts=False)
        more = cursor_of(cast(bytes, rows[limit - 1][0])) if len(rows) > limit else None
        items = tuple(self._divergences(both, rows[:limit]))
        return Comparison(items=items, next_cursor=more, seq=both.target.seq, other=both.space.seq)

    def merge(self, source: str, into: str, strategy: Strategy | None = None, *, drop: bool = False) -> Written:
        """Merge into a space, in one step, the changes of another since it was forked or last merged.

        - Changes of only the target stay.
        - Different changes of both are a conflict. With `ours` the target's version is kept, with `theirs` the other
          one.
        - A space that is no fork is added. Texts that the target has already are skipped.
        - Repeating a merge merges only what is new.
        - `drop` erases the other space in the same step.
        - Merged text passes the policy of the target first, as if it were new.

        Raises:
            MergeConflict: both have changed the same memory, and no strategy is given.
            SensitiveContent, Echo: the policy refuses some of the text; nothing is merged.
            InvalidInput, Forbidden, Conflict, TooLarge, QuotaExceeded.
        """
        call = self.calls.new()
        call.caller.check_whole()
        if drop and source == DEFAULT:
            raise Conflict(f"the space {DEFAULT!r} always exists; merge it without drop")

        def attempt(target: SpaceRow) -> Written:
            both = _Both(find_space(self.store.database, source), target)
            _check(both)
            if strategy is None:
                self._refuse_conflicts(both)
            left, ended = self._addresses(both, strategy)
            planned = both.planned(strategy, left, ended)
            try:
                allowed = allowed_now(self.store, self.intake, target, planned, call, are_new=True)
            except Refused as refused:
                raise self.store.retried(refused, both.space.space.name) from refused
            end = [*forks.settle(both.space, target), chunks.torn_in_bulk(target), *allowed.end]
            if drop:
                end += spaces.delete(source)
            end.append(operations.audit(call.now, call.caller.actor, "space_merged", space=into, target=source))
            return self.store.turn(target, [*planned, *allowed.plan], "merged", call, end, allowed.flags)

        done = self.store.run(into, call, attempt)
        if drop and done.plan is None:
            self.store.indexes.drop(source)
        return done

    def _both(self, source: str, into: str) -> _Both:
        both = _Both(find_space(self.store.database, source), find_space(self.store.database, into))
        _check(both)
        return both

    def _compared(self, both: _Both, beyond: bytes, limit: int, *, only_conflicts: bool) -> Rows:
        ask = forks.compared(both.space, both.target, only_conflicts=only_conflicts, beyond=beyond, limit=limit)
        return self.store.database.rehearse([*forks.pair(both.space, both.target), ask])[-1]

    def _refuse_conflicts(self, both: _Both) -> None:
        found = [*self._divergences(both, self._compared(both, b"", SHOWN, only_conflicts=True))]
        if found:
            raise MergeConflict(both.space.space.name, both.target.space.name, found)

    def _addresses(self, both: _Both, strategy: Strategy | None) -> tuple[list[bytes], list[bytes]]:
        """Return the memories of the source that must not be merged, and those of the target that must end.

        Otherwise two memories would have the same address.

        Raises:
            MergeConflict: two memories have the same address, and no strategy is given.
            TooLarge.
        """
        left, ended = list[bytes](), list[bytes]()
        while True:
            plan = both.planned(strategy, left, ended)
            try:
                *_, count, found = self.store.database.rehearse([*plan, _NEW, forks.clash(both.target)])
            except Refused as refused:
                raise self.store.retried(refused, both.space.space.name) from refused
            check_size(count, f"a merge changes at most {TURNS_MAX:,} memories")
            if not found:
                return left, ended
            if strategy is None:
                pairs = [(cast(bytes, mine), cast(bytes, theirs)) for mine, theirs in found[:SHOWN]]
                raise MergeConflict(both.space.space.name, both.target.space.name, [*self._clashes(both, pairs)])
            if strategy == "ours":
                left += [cast(bytes, theirs) for _, theirs in found]
            else:
                ended += [cast(bytes, mine) for mine, _ in found]

    def _clashes(self, both: _Both, pairs: Sequence[tuple[bytes, bytes]]) -> Iterator[Divergence]:
        ask = [
            statement
            for mine, theirs in pairs
            for statement in (memories.living(both.target, mine), memories.living(both.space, theirs))
        ]
        rows = self.store.database.read(ask)
        for ours, theirs in zip(rows[0::2], rows[1::2], strict=True):
            if ours and theirs:
                here = version_rows.memory(ours[0], both.target.space.name)
                there = version_rows.memory(theirs[0], both.space.space.name)
                yield Divergence(id=here.id, other=there.id, conflict=True, ours=here, theirs=there, here=(), there=())

    def _divergences(self, both: _Both, rows: Rows) -> Iterator[Divergence]:
        found = cast(list[tuple[bytes, bytes, int | None, int | None, int | None, int, int]], rows)
        wanted = sorted({one for row in found for one in row[2:5] if one is not None})
        (read,) = self.store.database.read([memories.by_rows(wanted)]) if wanted else ([],)
        by_row = {cast(int, row[0]): row for row in read}

        def one(row: int | None, space: SpaceRow) -> Memory | None:
            return None if row is None or row not in by_row else version_rows.memory(by_row[row], space.space.name)

        for memory_id, twin_id, base_row, mine, theirs, there, here in found:
            base, other, own = one(base_row, both.space), one(mine, both.space), one(theirs, both.target)
            yield Divergence(
                id=id_text(twin_id),
                other=id_text(memory_id),
                conflict=bool(there and here),
                ours=own,
                theirs=other,
                here=() if base is None or own is None else _fields(base, own),
                there=() if base is None or other is None else _fields(base, other),
            )


def _fields(base: Memory, now: Memory) -> tuple[FieldChange, ...]:
    """Return the changed fields, without ids and links, which always differ between two spaces."""
    return tuple(one for one in differences(base, now) if one.field not in LINKS)
