"""A write from its statements to its answer: one atomic batch, what its refusal means, then the index is told."""

from collections.abc import Callable, Sequence
from time import perf_counter
from typing import cast

from msgspec.structs import replace

from muisti.core.conflicts.check import NOT_CHECKED, Checked
from muisti.core.embedding.encoder import Encoder, check_model
from muisti.core.identity.caller import Caller
from muisti.core.index.cache import Indexes
from muisti.core.model.conversations import is_structural, name_of, place_of
from muisti.core.model.counts import Quota
from muisti.core.model.errors import (
    Conflict,
    Echo,
    ModelMismatch,
    NotFound,
    QuotaExceeded,
    RequestReused,
    SensitiveContent,
    Stale,
    StoreUnavailable,
)
from muisti.core.model.outcomes import Flag, Plan, Shift, Tally, Written
from muisti.core.model.terms import BATCH_MAX, ChangeKind
from muisti.core.model.values import IfMatch, Memory, Seq
from muisti.core.store.database import Database, Refused, Row, Rows, Statement
from muisti.core.store.refusal_codes import Refusal
from muisti.core.store.sql import (
    bulk_replace,
    changes,
    guards,
    inserting,
    memories,
    quotas,
    requests,
    spaces,
    version_rows,
)
from muisti.core.store.sql.inserting import NewVersion
from muisti.core.store.sql.spaces import SpaceRow, space_row
from muisti.core.support.meters import Counter
from muisti.core.support.waiting import Overtaken
from muisti.core.write import answers
from muisti.core.write.begun import Begun, Call
from muisti.core.write.refusals import Part, explained, part_of

TRIES = 16  # of a change that others overtake

# What a write ends with when its space, or its policy, is not as it was when it was read: look again.
CHANGED = (Overtaken, NotFound, ModelMismatch, SensitiveContent, Echo)


# Of a space, a batch, the time, and the seconds that the batch takes.
Foresee = Callable[[SpaceRow, Sequence[Statement], int, float], tuple[Shift, ...] | None]


def check(memory: Memory, if_match: IfMatch) -> None:
    """Raise `Stale` unless the memory is in a version that the caller names."""
    if if_match is None:
        return
    is_named = memory.version == if_match if isinstance(if_match, int) else memory.etag in if_match
    if not is_named:
        raise Stale(memory.id, memory.version)


def check_ordinary(memory: Memory) -> None:
    """Raise `Conflict` for an object of the hierarchy of conversations, which has calls of its own."""
    if is_structural(memory):
        raise Conflict(f"this is {memory.kind} {name_of(memory)!r}; the calls of conversations change and delete it")


class Transactions:
    """Thread-safe. What is written with a key is written once, and answered again as often as it is asked.

    `encoder` is None when embeddings are off.
    """

    def __init__(
        self,
        database: Database,
        indexes: Indexes,
        encoder: Encoder | None,
        retention_us: int,
        quota: Quota,
        changes: Counter,
        foresee: Foresee,
    ) -> None:
        """`retention_us` is how long the answer of a request with a key is kept, `quota` that of spaces without one.

        `changes` counts what is written. `foresee` tells what a batch would do to the probes of a space.
        """
        self._database = database
        self._indexes = indexes
        self._encoder = encoder
        self._retention_us = retention_us
        self._quota = quota
        self._changes = changes
        self._foresee = foresee
        self._spaces: dict[str, SpaceRow] = {}  # as last read; the guard of a batch tells when one has changed

    def known(self, name: str) -> SpaceRow | None:
        """The space as it was read before, if that is enough to add to it."""
        known = self._spaces.get(name)
        return known if known is not None and (known.generation is not None or self._encoder is None) else None

    def forget(self, name: str) -> None:
        """What is known of a space holds no more."""
        self._spaces.pop(name, None)

    def run(self, name: str, call: Call, attempt: Callable[[SpaceRow], Written]) -> Written:
        """The answer of an attempt that nobody overtakes, or that which the key of the call has already.

        Raises:
            NotFound, RequestReused, StoreUnavailable, and what an attempt raises.
        """
        for _ in range(TRIES):
            space, known = self._open(name, call)
            if known is not None:
                return self._replay(space, call, known)
            try:
                return attempt(space)
            except Overtaken:
                continue
        raise StoreUnavailable("others change the same memory all the time; try again")

    def is_known(self, call: Call) -> bool:
        """Whether the call was answered before."""
        return call.request is not None and any(self._database.read([requests.known(call.request, call.now)])[0])

    def begin(
        self,
        space: SpaceRow,
        parts: Sequence[Part],
        call: Call,
        *,
        created: bool,
        embedded: bool = True,
        numbers: int | None = None,
        checked: Checked = NOT_CHECKED,
        ended: tuple[str, ...] = (),
        flags: tuple[Flag, ...] = (),
    ) -> Begun:
        """A write of the parts, of which each is one change of the space unless `numbers` says how many they are.

        `embedded`: with new vectors.
        """
        head = [] if call.request is None else requests.refuse_known(call.request, call.now)
        if embedded and self._encoder is not None:
            head += self._model(space, self._encoder, call.now)
        else:
            head.append(spaces.guard_policy(space))
        numbers = numbers or len(parts)
        head += spaces.advance(space, numbers, call.now)
        return self._prepared(
            Begun(space, len(head), head, parts, call, created, checked, ended, numbers=numbers, flags=flags)
        )

    def birth(
        self, space: SpaceRow, new: NewVersion, kind: ChangeKind, caller: Caller, offset: int = 0
    ) -> list[Statement]:
        """Store a version as a change of its own, unless another memory has its address or its parent is not there."""
        memory = new.memory
        statements: list[Statement] = []
        if memory.category is not None and memory.key is not None and memory.superseded_by is None:
            statements.append(guards.refuse_address(space, memory))
        if memory.parent_id is not None:
            statements.append(guards.refuse_orphan(space, memory.parent_id))
        if memory.kind != "memory" and memory.superseded_by is None and (place := place_of(memory)) is not None:
            statements.append(guards.refuse_place(space, memory, place))
        return [*statements, *self.insertion(space, new, kind, caller, offset)]

    def insertion(
        self, space: SpaceRow, new: NewVersion, kind: ChangeKind, caller: Caller, offset: int = 0
    ) -> list[Statement]:
        """Store a version as a change of its own; other statements guard its address, place and parent."""
        generation = None if self._encoder is None or new.passages is None else self._encoder.identity
        inserted = inserting.insert(space, new, generation, offset)
        return [*inserted, changes.record(space, kind, caller, new.memory, offset)]

    def leave(self, space: SpaceRow, memory: Memory, call: Call, flags: tuple[Flag, ...] = ()) -> Written:
        """Nothing to change; a call with a key is remembered all the same."""
        plan = Plan(0, ()) if call.dry_run else None
        unchanged = Written(memories=(memory,), seq=space.seq, created=False, plan=plan, flags=flags)
        if call.request is None:
            return unchanged
        part = Part(memory, [guards.refuse_stale(memory)])
        head = [*requests.refuse_known(call.request, call.now), spaces.guard(space)]
        self._write(self._prepared(Begun(space, len(head), head, [part], call, created=False, flags=flags)))
        return unchanged

    def nothing(self, space: SpaceRow, call: Call) -> Written:
        """There is nothing to do, for a call without a key."""
        return Written(memories=(), seq=space.seq, created=False, plan=Plan(0, ()) if call.dry_run else None)

    def commit(self, begun: Begun) -> Written:
        """Run the batch, and raise what its refusal means. A dry run tells what it would have done.

        Memories that have expired give up their addresses to it.
        """
        while True:
            try:
                return (
                    self._planned(begun)
                    if begun.call.dry_run
                    else self.concluded(begun, self._database.write(begun.batch))
                )
            except Refused as refused:
                vacated = self._vacated(begun, refused)
                if vacated is None:
                    raise self._meaning(begun, refused) from refused
                begun = vacated

    def turn(
        self,
        space: SpaceRow,
        planned: Sequence[Statement],
        kind: ChangeKind,
        call: Call,
        end: Sequence[Statement],
        flags: tuple[Flag, ...] = (),
    ) -> Written:
        """Let many memories become what other versions say, as the statements plan it; `end` comes behind.

        See `core.store.sql.bulk_replace`.

        Raises:
            ModelMismatch: another model embedded the space.
        """
        if self._encoder is not None and space.space.generation is not None:
            check_model(self._encoder, space.space.name, space.space.generation)
        head = [] if self._encoder is None else self._model(space, self._encoder, call.now)
        head = [*head, spaces.guard_policy(space), *planned, *bulk_replace.advance(space, call.now)]
        quota = quotas.refuse_more(space, self._quota)
        does = [*bulk_replace.take(space, kind, call.caller, call.now), quota, *end]
        tally = len(head) + len(does)
        batch = [*head, *does, *bulk_replace.tally(), bulk_replace.clear()]
        return self.commit(Begun(space, len(head), batch, (), call, False, NOT_CHECKED, tally=tally, flags=flags))

    def retried(self, refused: Refused, space: str) -> Exception:
        """What a refusal of a look ahead means: `Overtaken` when looking again will tell."""
        return Overtaken() if refused.code == Refusal.STALE else NotFound("space", space)

    def explained(self, begun: Begun, refused: Refused) -> Exception:
        """What the caller is told of a refusal; `Overtaken` when looking again will tell."""
        return Overtaken() if self._vacated(begun, refused) is not None else self._meaning(begun, refused)

    def _meaning(self, begun: Begun, refused: Refused) -> Exception:
        if refused.code == Refusal.QUOTA_EXCEEDED:
            (rows,) = self._database.read([quotas.usage(begun.space, self._quota)])
            told = rows and begun.call.caller.sees_all  # what a whole space holds is told to those who see all of it
            return QuotaExceeded(begun.space.space.name, quotas.used(rows[0]) if told else None)
        part = part_of(refused.statement - begun.head, begun.parts) if begun.parts else None
        return explained(refused, self._database, begun.space, part, begun.call.now)

    def _vacated(self, begun: Begun, refused: Refused) -> Begun | None:
        """The write that ends before all else the expired memory that holds an address; None when none stands there."""
        if refused.code != Refusal.ADDRESS_TAKEN or not begun.parts:
            return None
        memory = part_of(refused.statement - begun.head, begun.parts).memory
        if memory.category is None or memory.key is None:
            return None
        space, call, number = begun.space, begun.call, begun.numbers
        (rows,) = self._database.read([memories.at_address(space, memory.category, memory.key)])
        held = version_rows.memory(rows[0], space.space.name) if rows else None
        if held is None or not memories.is_expired(held, call.now):
            return None
        if any(part.memory.id == held.id for part in begun.parts):  # it ends there already
            return None
        gone = Part(held, changes.expiry(space, held, call.caller, number), told=False)
        head = [*begun.batch[: begun.head - 2], *spaces.advance(space, number + 1, call.now)]
        batch = [*head, *gone.statements, *begun.batch[begun.head :]]
        return replace(begun, batch=batch, parts=[gone, *begun.parts], numbers=number + 1)

    def concluded(self, begun: Begun, results: Sequence[Rows]) -> Written:
        """What was written, of which the index must hear. The last row of the head is the number in the history."""
        number = cast(int, results[begun.head - 1][0][0])
        self._indexes.note(begun.space, number)
        tally = _tally(begun, results)
        self._changes.add(by=len(begun.parts) if tally is None else tally.changes)
        return Written(
            memories=tuple(part.memory for part in begun.parts if part.told),
            seq=Seq(begun.space.space.epoch, number),
            created=begun.created,
            similar=begun.checked.similar,
            checked_at=begun.checked.at,
            commit=1000 * (perf_counter() - begun.at),
            ended=begun.ended,
            flags=begun.flags,
            tally=tally,
        )

    def _planned(self, begun: Begun) -> Written:
        """What `concluded` would tell, at the point of history that the store stays at."""
        stands, made = spaces.number(begun.space), changes.last(begun.space, BATCH_MAX)
        began = perf_counter()
        try:
            (((number,),), *results) = self._database.rehearse([stands, *begun.batch, made])
        except Refused as refused:
            raise Refused(refused.code, refused.statement - 1) from refused
        took = perf_counter() - began
        after = cast(int, results[begun.head - 1][0][0])
        number = cast(int, number)
        told = begun.call.caller.sees_all
        shifts = self._foresee(begun.space, begun.batch, begun.call.now, took) if told else None
        planned = [changes.planned(row) for row in reversed(results[-1]) if cast(int, row[0]) > number]
        return Written(
            memories=tuple(part.memory for part in begun.parts if part.told),
            seq=Seq(begun.space.space.epoch, number),
            created=begun.created,
            similar=begun.checked.similar,
            checked_at=begun.checked.at,
            ended=begun.ended,
            flags=begun.flags,
            plan=Plan(after - number, tuple(planned), shifts),
            tally=_tally(begun, results),
        )

    def _open(self, name: str, call: Call) -> tuple[SpaceRow, Row | None]:
        """The space, and the stored answer when this call was answered before."""
        ask = [spaces.by_name(name)]
        if call.request is not None:
            ask.append(requests.known(call.request, call.now))
        found, *stored = self._database.read(ask)
        if not found:
            raise NotFound("space", name)
        known = stored[0][0] if stored and stored[0] else None
        space = self._spaces[name] = space_row(found[0])
        return space, known

    def _replay(self, space: SpaceRow, call: Call, known: Row) -> Written:
        assert call.request is not None
        body_hash, answer, seq = cast(tuple[bytes, bytes, str], known)
        if not answer:
            raise NotFound("answer", call.request.key, "what this request wrote has been erased")
        if body_hash != call.request.body_hash:
            raise RequestReused(call.request.key)
        stored = answers.read(answer)
        rows = self._database.read(memories.of_versions(space, stored.versions))
        epoch, number = seq.split(":")
        return Written(
            memories=tuple(version_rows.memory(row, space.space.name) for found in rows for row in found),
            seq=Seq(epoch, int(number)),
            created=stored.created,
            replayed=True,
            similar=stored.similar,
            checked_at=stored.checked_at,
            ended=stored.ended,
            flags=stored.flags,
        )

    def _prepared(self, begun: Begun) -> Begun:
        """The write with the statements of its parts; a call with a key is remembered in the same batch."""
        batch = [*begun.batch, *(statement for part in begun.parts for statement in part.statements)]
        if (request := begun.call.request) is not None:
            answer = answers.remember(
                [part.memory for part in begun.parts if part.told],
                created=begun.created,
                similar=begun.checked.similar,
                checked_at=begun.checked.at,
                ended=begun.ended,
                flags=begun.flags,
            )
            batch.append(requests.remember(begun.space, request, answer, begun.call.now + self._retention_us))
        return replace(begun, batch=batch)

    def _write(self, begun: Begun) -> list[Rows]:
        try:
            return self._database.write(begun.batch)
        except Refused as refused:
            raise self.explained(begun, refused) from refused

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


def _tally(begun: Begun, results: Sequence[Rows]) -> Tally | None:
    if begun.tally is None:
        return None
    added, changed, ended = (cast(int, rows[0][0]) for rows in results[begun.tally : begun.tally + 3])
    return Tally(added, changed, ended)
