"""The write pipeline: check, prepare, one atomic batch, then tell the index."""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, cast

from core import answers
from core.conflicts.check import NOT_CHECKED, Checked, Checker
from core.embed import Encoder
from core.errors import (
    AddressTaken,
    ModelMismatch,
    NotFound,
    QuotaExceeded,
    RequestReused,
    Similar,
    Stale,
    StoreUnavailable,
)
from core.ids import IdSource, id_bytes, id_text
from core.index.cache import Indexes
from core.prepare import again, changed, draft_of, new_memory, ready
from core.refusals import Overtaken, Part, explained, part_of
from core.store import audit, memories, quotas, requests, spaces
from core.store.database import Database, Outcome, Refused, Row, Rows, Statement
from core.store.memories import NewVersion
from core.store.spaces import SpaceRow, space_row
from core.validate import check_draft
from core.values import LOCAL, Draft, Memory, OnConflict, Quota, RequestKey, Seq, Written

TRIES = 16  # of a change that others overtake
QUICK_TEXT = 2_000  # characters of a memory that is added at once
QUICK_CHANGES = 64  # that an index may be behind for it

# What a write ends with when its space is not as it was when it was read: look again.
CHANGED = (Overtaken, NotFound, ModelMismatch)

IfMatch = Collection[str] | None  # etags, one of which must be the current one; None when any will do


@dataclass(frozen=True, slots=True)
class Call:
    """When a write is asked for, by whom, and the key that makes its repetition harmless. `now` in microseconds."""

    now: int
    request: RequestKey | None = None
    by: str = LOCAL


@dataclass(frozen=True, slots=True)
class Begun:
    """A write that is prepared: its batch, of which `head` statements come before those of the parts."""

    space: SpaceRow
    head: int
    batch: Sequence[Statement]
    parts: Sequence[Part]
    call: Call
    created: bool
    checked: Checked


class Writer:
    """Stores memories. Thread-safe; `encoder` is None when embeddings are off.

    All methods raise `NotFound` when there is no such space, `RequestReused` when the key of the call belongs to
    another request, `ModelMismatch` when another model embedded the space, and what the database raises.
    """

    def __init__(
        self, database: Database, indexes: Indexes, encoder: Encoder | None, retention_us: int, quota: Quota
    ) -> None:
        """`retention_us` is how long the answer of a request with a key is kept, `quota` that of spaces without one."""
        self._database = database
        self._indexes = indexes
        self._encoder = encoder
        self._checker = Checker(database, indexes, encoder)
        self._retention_us = retention_us
        self._quota = quota
        self._ids = IdSource()
        self._spaces: dict[str, SpaceRow] = {}  # as last read; the guard of a batch tells when one has changed

    def add(self, space: str, drafts: Sequence[Draft], on_conflict: OnConflict, call: Call, path: str) -> Written:
        """Store all drafts or none. `path` is where a list of drafts stands in the request, `$` for a single one.

        Raises:
            InvalidInput, Duplicate, Contradiction, AddressTaken, QuotaExceeded.
        """

        def attempt(found: SpaceRow) -> Written:
            return self._commit(self._adding(found, drafts, on_conflict, call, path))

        known = self._known(space) if on_conflict == "keep" and call.request is None else None
        if known is not None:
            try:
                return attempt(known)
            except CHANGED:
                self._spaces.pop(space, None)
        return self._retry(space, call, attempt)

    def begin_add(self, space: str, draft: Draft, on_conflict: OnConflict, call: Call) -> Begun | None:
        """Prepare to `add` a draft, when that takes a millisecond or two and waits for nobody; else None.

        Raises:
            InvalidInput, Duplicate, Contradiction.
        """
        known = self._known(space)
        if known is None or call.request is not None or len(draft.content) > QUICK_TEXT or not self._database.local:
            return None
        if on_conflict == "reject":
            (found,) = self._database.read([spaces.by_name(space)])
            known = space_row(found[0]) if found else None
            if known is None or not self._indexes.is_at_hand(known, QUICK_CHANGES):
                return None
        try:
            return self._adding(known, [draft], on_conflict, call, "$")
        except CHANGED:
            self._spaces.pop(space, None)
            return None

    def end_add(self, begun: Begun, outcome: Outcome) -> Written | None:
        """What `add` would give or raise after the outcome of the batch; None when the space has changed meanwhile."""
        try:
            if isinstance(outcome, Refused):
                raise self._explained(begun, outcome) from outcome
            if isinstance(outcome, Exception):
                raise outcome
        except CHANGED:
            self._spaces.pop(begun.space.space.name, None)
            return None
        return self._concluded(begun, outcome)

    def update(
        self, space: str, memory_id: str, changes: Mapping[str, object], if_match: IfMatch, call: Call
    ) -> Written:
        """Change the given fields. Without `if_match` a change that meets another is made upon that one.

        Raises:
            InvalidInput, NotFound, Stale, AddressTaken, QuotaExceeded.
        """

        def attempt(found: SpaceRow) -> Written:
            row, before = self._current(found, memory_id, if_match, call.now)
            draft = replace(draft_of(before), **cast(dict[str, Any], changes))
            if draft == draft_of(before):
                return self._leave(found, before, call)
            return self._replace(found, row, before, draft, call)

        return self._retry(space, call, attempt)

    def put(self, space: str, draft: Draft, if_match: IfMatch, call: Call) -> Written:
        """Store a draft at its category and key, in place of what is there.

        Raises:
            InvalidInput, Stale, QuotaExceeded, NotFound when `if_match` is given and nothing is there.
        """
        category, key = draft.category, draft.key
        assert category is not None and key is not None

        def attempt(found: SpaceRow) -> Written:
            (rows,) = self._database.read([memories.at_address(found, category, key)])
            if not rows:
                if if_match is not None:
                    raise NotFound("entry", f"{category}/{key}")
                try:
                    return self._commit(self._adding(found, [draft], "keep", call, "$"))
                except AddressTaken:
                    raise Overtaken from None
            before = memories.memory(rows[0], space)
            _check(before, if_match)
            return self._replace(found, rows[0], before, draft, call, created=memories.is_expired(before, call.now))

        return self._retry(space, call, attempt)

    def delete(self, space: str, memory_id: str, if_match: IfMatch, call: Call) -> Written:
        """End a memory. Its versions stay readable.

        Raises:
            NotFound, Stale.
        """

        def attempt(found: SpaceRow) -> Written:
            _, memory = self._current(found, memory_id, if_match, call.now)
            return self._end(found, memory, call)

        return self._retry(space, call, attempt)

    def delete_entry(self, space: str, category: str, key: str, if_match: IfMatch, call: Call) -> Written:
        """End the memory at an address, as `delete` does."""

        def attempt(found: SpaceRow) -> Written:
            (rows,) = self._database.read([memories.at_address(found, category, key)])
            memory = memories.memory(rows[0], space) if rows else None
            if memory is None or memories.is_expired(memory, call.now):
                raise NotFound("entry", f"{category}/{key}")
            _check(memory, if_match)
            return self._end(found, memory, call)

        return self._retry(space, call, attempt)

    def _known(self, name: str) -> SpaceRow | None:
        """The space as it was read before, if that is enough to add to it."""
        known = self._spaces.get(name)
        return known if known is not None and (known.generation is not None or self._encoder is None) else None

    def _retry(self, name: str, call: Call, attempt: Callable[[SpaceRow], Written]) -> Written:
        for _ in range(TRIES):
            space, known = self._open(name, call)
            if known is not None:
                return self._replay(space, call, known)
            try:
                return attempt(space)
            except Overtaken:
                continue
        raise StoreUnavailable("others change the same memory all the time; try again")

    def _open(self, name: str, call: Call) -> tuple[SpaceRow, Row | None]:
        """The space, and the stored answer when this call was answered before."""
        ask = [spaces.by_name(name)]
        if call.request is not None:
            ask.append(requests.known(call.request, call.now))
        found, *answers = self._database.read(ask)
        if not found:
            raise NotFound("space", name)
        known = answers[0][0] if answers and answers[0] else None
        space = self._spaces[name] = space_row(found[0])
        return space, known

    def _replay(self, space: SpaceRow, call: Call, known: Row) -> Written:
        assert call.request is not None
        body_hash, answer, seq = cast(tuple[bytes, bytes, str], known)
        if body_hash != call.request.body_hash:
            raise RequestReused(call.request.key)
        stored = answers.read(answer)
        rows = self._database.read(memories.of_versions(space, stored.versions))
        epoch, number = seq.split(":")
        return Written(
            memories=tuple(memories.memory(row, space.space.name) for found in rows for row in found),
            seq=Seq(epoch, int(number)),
            created=stored.created,
            replayed=True,
            similar=stored.similar,
            checked_at=stored.checked_at,
        )

    def _current(self, space: SpaceRow, memory_id: str, if_match: IfMatch, now: int) -> tuple[Row, Memory]:
        raw = id_bytes(memory_id)
        (rows,) = self._database.read([memories.current(space, raw, now)]) if raw is not None else ([],)
        if not rows:
            raise NotFound("memory", memory_id)
        memory = memories.memory(rows[0], space.space.name)
        _check(memory, if_match)
        return rows[0], memory

    def _end(self, space: SpaceRow, memory: Memory, call: Call) -> Written:
        key = _raw(memory.id)
        statements = [
            memories.refuse_stale(key, memory.version),
            memories.end(space, key),
            memories.record(space, "deleted", key, memory.version),
            audit.note(call.now, call.by, "memory_deleted", space=space.space.name, target=memory.id),
        ]
        return self._commit(self._begun(space, [Part(memory, statements)], call, created=False, embedded=False))

    def _adding(
        self, space: SpaceRow, drafts: Sequence[Draft], on_conflict: OnConflict, call: Call, path: str
    ) -> Begun:
        places = ["$"] * len(drafts) if path == "$" else [f"{path}[{position}]" for position in range(len(drafts))]
        for draft, place in zip(drafts, places, strict=True):
            check_draft(draft, call.now, place)
        made = [new_memory(draft, space.space.name, id_text(self._ids.new(call.now)), call.now) for draft in drafts]
        last = len(made) - 1
        versions = ready(made, space, self._encoder)
        checked = self._checked(space, versions, call) if on_conflict == "reject" else NOT_CHECKED
        parts = [
            Part(
                new.memory,
                self._addition(space, new, last - position, on_conflict, call.now),
                places[position],
                position,
            )
            for position, new in enumerate(versions)
        ]
        return self._begun(space, parts, call, created=True, checked=checked)

    def _checked(self, space: SpaceRow, versions: Sequence[NewVersion], call: Call) -> Checked:
        """What the new memories are like, unless one of them must be refused for it."""
        checked = self._checker.check(space, versions, call.now)
        try:
            checked.refuse()
        except Similar:
            if call.request is not None and any(self._database.read([requests.known(call.request, call.now)])[0]):
                raise Overtaken from None  # they are like themselves: the same request was faster
            raise
        return checked

    def _addition(
        self, space: SpaceRow, new: NewVersion, offset: int, on_conflict: OnConflict, now: int
    ) -> list[Statement]:
        refusals = [memories.refuse_duplicate(space, new.content_hash, now)] if on_conflict == "reject" else []
        limits = [quotas.refuse_more(space, self._quota)] if offset == 0 else []  # behind the last of the batch
        return [*refusals, *self._birth(space, new, "created", offset), *limits]

    def _leave(self, space: SpaceRow, memory: Memory, call: Call) -> Written:
        """Nothing to change; a call with a key is remembered all the same."""
        unchanged = Written(memories=(memory,), seq=space.seq, created=False)
        if call.request is None:
            return unchanged
        part = Part(memory, [memories.refuse_stale(_raw(memory.id), memory.version)])
        head = [*requests.refuse_known(call.request, call.now), spaces.guard(space)]
        self._write(self._prepared(space, head, [part], call, created=False))
        return unchanged

    def _replace(
        self, space: SpaceRow, row: Row, before: Memory, draft: Draft, call: Call, *, created: bool = False
    ) -> Written:
        check_draft(draft, call.now)
        new = again(changed(before, draft, call.now), before, cast(int, row[0]), space, self._encoder)
        raw = _raw(before.id)
        statements = [
            memories.refuse_stale(raw, before.version),
            memories.end(space, raw),
            *self._birth(space, new, "updated", 0),
            quotas.refuse_larger(space, self._quota, raw, new.memory.version),
        ]
        embedded = new.passages is not None
        begun = self._begun(space, [Part(new.memory, statements)], call, created=created, embedded=embedded)
        return self._commit(begun)

    def _birth(self, space: SpaceRow, new: NewVersion, kind: str, offset: int) -> list[Statement]:
        memory, raw = new.memory, _raw(new.memory.id)
        statements: list[Statement] = []
        if memory.category is not None and memory.key is not None:
            statements.append(memories.refuse_address(space, memory.category, memory.key, raw))
        if memory.parent_id is not None:
            statements.append(memories.refuse_orphan(space, _raw(memory.parent_id)))
        generation = None if self._encoder is None else self._encoder.identity if new.passages is not None else None
        statements += memories.insert(space, new, generation, offset)
        statements.append(memories.record(space, kind, raw, memory.version, offset))
        return statements

    def _begun(
        self,
        space: SpaceRow,
        parts: Sequence[Part],
        call: Call,
        *,
        created: bool,
        embedded: bool = True,
        checked: Checked = NOT_CHECKED,
    ) -> Begun:
        """A write of the parts, each with a number of its own in the space's history."""
        head = [] if call.request is None else requests.refuse_known(call.request, call.now)
        if embedded and self._encoder is not None:
            head += self._model(space, self._encoder, call.now)
        else:
            head.append(spaces.guard(space))
        head += spaces.advance(space, len(parts), call.now)
        return self._prepared(space, head, parts, call, created=created, checked=checked)

    def _prepared(
        self,
        space: SpaceRow,
        head: Sequence[Statement],
        parts: Sequence[Part],
        call: Call,
        *,
        created: bool,
        checked: Checked = NOT_CHECKED,
    ) -> Begun:
        """A write of the parts after `head`; a call with a key is remembered in the same batch."""
        batch = [*head, *(statement for part in parts for statement in part.statements)]
        if call.request is not None:
            written = [part.memory for part in parts]
            answer = answers.remember(written, created=created, similar=checked.similar, checked_at=checked.at)
            batch.append(requests.remember(space, call.request, answer, call.now + self._retention_us))
        return Begun(space, len(head), batch, parts, call, created, checked)

    def _commit(self, begun: Begun) -> Written:
        return self._concluded(begun, self._write(begun))

    def _write(self, begun: Begun) -> list[Rows]:
        """Run the batch, and say what a refusal of it means."""
        try:
            return self._database.write(begun.batch)
        except Refused as refused:
            raise self._explained(begun, refused) from refused

    def _explained(self, begun: Begun, refused: Refused) -> Exception:
        if refused.code == "quota_exceeded":
            (rows,) = self._database.read([quotas.usage(begun.space, self._quota)])
            return QuotaExceeded(begun.space.space.name, quotas.used(rows[0]) if rows else None)
        part = part_of(refused.statement - begun.head, begun.parts)
        return explained(refused, self._database, begun.space, part, begun.call.now)

    def _concluded(self, begun: Begun, results: Sequence[Rows]) -> Written:
        """What was written, of which the index must hear. The last row of the head is the number in the history."""
        number = cast(int, results[begun.head - 1][0][0])
        self._indexes.note(begun.space, number)
        return Written(
            memories=tuple(part.memory for part in begun.parts),
            seq=Seq(begun.space.space.epoch, number),
            created=begun.created,
            similar=begun.checked.similar,
            checked_at=begun.checked.at,
        )

    def _model(self, space: SpaceRow, encoder: Encoder, now: int) -> list[Statement]:
        """What sees to it that the space is still this one, and the model's."""
        guard = spaces.guard_model(space, encoder.identity)
        if space.generation is not None:
            return [guard]
        return [
            spaces.register_generation(encoder.identity, encoder.name, encoder.dimensions, now),
            spaces.adopt_generation(space, encoder.identity),
            guard,
        ]


def _check(memory: Memory, if_match: IfMatch) -> None:
    if if_match is not None and memory.etag not in if_match:
        raise Stale(memory.id, memory.version)


def _raw(memory_id: str) -> bytes:
    raw = id_bytes(memory_id)
    assert raw is not None
    return raw
