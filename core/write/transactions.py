"""Run a write from its statements to its reply: one atomic batch, the meaning of a refusal, then the index."""

from collections.abc import Callable, Sequence
from time import perf_counter
from typing import cast

import msgspec
from msgspec.structs import replace

from muisti.core.embedding.models import Models, card_of
from muisti.core.identity.caller import Caller
from muisti.core.index.cache import Indexes
from muisti.core.model.choices import BATCH_MAX, ChangeKind
from muisti.core.model.collisions import Echo
from muisti.core.model.errors import (
    ModelMismatch,
    NotFound,
    QuotaExceeded,
    RequestReused,
    SensitiveContent,
    StoreUnavailable,
)
from muisti.core.model.ids import IdSource
from muisti.core.model.outcomes import Flag, Plan, Quota, Shift, Tally, Written
from muisti.core.model.places import place_of
from muisti.core.model.values import Memory, Seq
from muisti.core.store.database import Database, Refusal, Refused, Row, Rows, Statement
from muisti.core.store.sql import bulk_replace, changes, inserting, memories, quotas, spaces, version_rows
from muisti.core.store.sql.inserting import NewVersion
from muisti.core.store.sql.spaces import SpaceRow, space_row
from muisti.core.support.meters import Counter
from muisti.core.support.waiting import Overtaken
from muisti.core.write.calls import Begun, Call, Part, explained, part_of, read_answer, remember
from muisti.core.write.conflicts.check import NOT_CHECKED, Checked

TRIES = 16  # tries of a change that others overtake

# Refusals that mean that the space or its policy has changed since it was read. The write is retried.
CHANGED = (Overtaken, NotFound, ModelMismatch, SensitiveContent, Echo)


# Arguments: space, batch, time, and the seconds that the batch takes.
Foresee = Callable[[SpaceRow, Sequence[Statement], int, float], tuple[Shift, ...] | None]


class Transactions(msgspec.Struct, frozen=True):
    """Commit batches. A request with an idempotency key is executed once; repetitions get the same reply.

    Instances are thread-safe. `models` embed the texts, `quota` applies to spaces without their own, and replies are
    kept for `retention_us`. `counter` counts changes. `foresee` predicts how a batch changes the probes of a space.
    `spaces` are as last read: the guard of a batch refuses when one has changed.
    """

    database: Database
    indexes: Indexes
    models: Models
    ids: IdSource
    quota: Quota
    retention_us: int
    counter: Counter
    foresee: Foresee
    spaces: dict[str, SpaceRow] = {}

    def known(self, name: str) -> SpaceRow | None:
        """Return the cached space, if it is enough to add a memory to it, else None."""
        known = self.spaces.get(name)
        default = self.models.default  # the model of a space that has none yet
        is_enough = known is not None and (known.generation is not None or default is None or default.deferred)
        return known if is_enough else None

    def forget(self, name: str) -> None:
        """Drop the cached space."""
        self.spaces.pop(name, None)

    def run(self, name: str, call: Call, attempt: Callable[[SpaceRow], Written]) -> Written:
        """Retry an attempt until no other write overtakes it. Return its reply, or the stored reply of the call's key.

        Raises:
            NotFound, RequestReused, StoreUnavailable, and the errors of an attempt.
            TaskOver: the write is part of a task that is over, or that another process has; nothing is stored.
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
        """Return whether a reply is stored for the call."""
        return call.request is not None and any(self.database.read([inserting.known(call.request, call.now)])[0])

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
        beyond: int = 0,
    ) -> Begun:
        """Prepare a write of the parts. Each part is one change of the space, unless `numbers` counts them.

        `beyond` counts further changes, which statements at the end of the last part make in bulk. `embedded`: the
        versions have new texts, which are embedded.
        """
        head = [*call.fenced.before]
        head += [] if call.request is None else inserting.refuse_known(call.request, call.now)
        head += self._model(space, call.now) if embedded else [spaces.guard_policy(space)]
        numbers = numbers or len(parts)
        head += spaces.advance(space, numbers, call.now)
        return self._prepared(
            Begun(
                *(space, len(head), head, parts, call, created, checked, ended),
                numbers=numbers,
                flags=flags,
                embedded=embedded,
                beyond=beyond,
            )
        )

    def guarded_insertion(
        self, space: SpaceRow, new: NewVersion, kind: ChangeKind, caller: Caller, offset: int = 0
    ) -> list[Statement]:
        """Return the statements that store a version as a change of its own.

        They refuse when another memory has the address, or when the parent does not exist.
        """
        memory = new.memory
        statements: list[Statement] = []
        if memory.category is not None and memory.key is not None and memory.superseded_by is None:
            statements.append(inserting.refuse_address(space, memory))
        if memory.parent_id is not None:
            statements.append(inserting.refuse_orphan(space, memory.parent_id))
        if memory.kind != "memory" and memory.superseded_by is None and (place := place_of(memory)) is not None:
            statements.append(inserting.refuse_place(space, memory, place))
        return [*statements, *self.insertion(space, new, kind, caller, offset)]

    def insertion(
        self, space: SpaceRow, new: NewVersion, kind: ChangeKind, caller: Caller, offset: int = 0
    ) -> list[Statement]:
        """Store a version as a change of its own; other statements guard its address, place and parent."""
        return [*inserting.insert(space, new, offset), changes.record(space, kind, caller, new.memory, offset)]

    def write(
        self,
        space: SpaceRow,
        parts: Sequence[Part],
        call: Call,
        *,
        created: bool = False,
        embedded: bool = True,
        numbers: int | None = None,
        flags: tuple[Flag, ...] = (),
    ) -> Written:
        """Commit the parts as one batch; see `begin`."""
        return self.commit(
            self.begin(space, parts, call, created=created, embedded=embedded, numbers=numbers, flags=flags)
        )

    def leave(self, space: SpaceRow, memory: Memory, call: Call, flags: tuple[Flag, ...] = ()) -> Written:
        """Return the reply of a write that changes nothing. It is stored if the call has an idempotency key."""
        plan = Plan(0, ()) if call.dry_run else None
        unchanged = Written(memories=(memory,), seq=space.seq, created=False, plan=plan, flags=flags)
        if call.request is None:
            call.fenced.commit(self.database)
            return unchanged
        part = Part(memory, [inserting.refuse_stale(memory)])
        head = [*call.fenced.before, *inserting.refuse_known(call.request, call.now), spaces.guard(space)]
        self._write(self._prepared(Begun(space, len(head), head, [part], call, created=False, flags=flags)))
        return unchanged

    def nothing(self, space: SpaceRow, call: Call) -> Written:
        """Return the reply of a write that has nothing to do, for a call without a key."""
        call.fenced.commit(self.database)
        return Written(memories=(), seq=space.seq, created=False, plan=Plan(0, ()) if call.dry_run else None)

    def commit(self, begun: Begun) -> Written:
        """Run the batch and raise the meaning of a refusal. A dry run reports what the batch would do.

        Expired memories give up their addresses to the new ones.
        """
        while True:
            try:
                return (
                    self._planned(begun)
                    if begun.call.dry_run
                    else self.concluded(begun, self.database.write(begun.batch))
                )
            except Refused as refused:
                freed = self._without_expired(begun, refused)
                if freed is None:
                    raise self._meaning(begun, refused) from refused
                begun = freed

    def turn(
        self,
        space: SpaceRow,
        planned: Sequence[Statement],
        kind: ChangeKind,
        call: Call,
        end: Sequence[Statement],
        flags: tuple[Flag, ...] = (),
        ended: tuple[str, ...] = (),
    ) -> Written:
        """Replace the current versions of many memories, as the `planned` statements say; the reply names the `ended`.

        The `end` statements follow them in the batch. See `core.store.sql.bulk_replace`.
        """
        known = [] if call.request is None else inserting.refuse_known(call.request, call.now)
        model = self._model(space, call.now)
        head = [*call.fenced.before, *known, *model, *planned, *bulk_replace.advance(space, call.now)]
        quota = quotas.refuse_more_in_bulk(space, self.quota)
        does = [*bulk_replace.take(space, kind, call.caller, call.now), quota, *end]
        batch, tally = [*head, *does, *bulk_replace.tally(), bulk_replace.clear()], len(head) + len(does)
        begun = Begun(space, len(head), batch, (), call, False, NOT_CHECKED, ended, tally, flags=flags)
        return self.commit(self._prepared(begun))

    def retried(self, refused: Refused, space: str) -> Exception:
        """Return the meaning of a refused dry run: `Overtaken` when a retry is needed."""
        return Overtaken() if refused.code == Refusal.STALE else NotFound("space", space)

    def explained(self, begun: Begun, refused: Refused) -> Exception:
        """Return the error that explains a refusal, or `Overtaken` when a retry is needed."""
        return Overtaken() if self._without_expired(begun, refused) is not None else self._meaning(begun, refused)

    def _meaning(self, begun: Begun, refused: Refused) -> Exception:
        if refused.code == Refusal.QUOTA_EXCEEDED:
            (rows,) = self.database.read([quotas.usage(begun.space, self.quota)])
            told = rows and begun.call.caller.sees_all  # only a caller who sees the whole space may see its usage
            return QuotaExceeded(begun.space.space.name, quotas.used(rows[0]) if told else None)
        part = part_of(refused.statement - begun.head, begun.parts) if begun.parts else None
        return explained(refused, self.database, begun.space, part, begun.call.now)

    def _without_expired(self, begun: Begun, refused: Refused) -> Begun | None:
        """Return the write with an expired memory ended first, if that memory has the address; otherwise None."""
        if refused.code != Refusal.ADDRESS_TAKEN or not begun.parts:
            return None
        memory = part_of(refused.statement - begun.head, begun.parts).memory
        if memory.category is None or memory.key is None:
            return None
        space, call, number = begun.space, begun.call, begun.numbers
        (rows,) = self.database.read([memories.at_address(space, memory.category, memory.key)])
        held = version_rows.memory(rows[0], space.space.name) if rows else None
        if held is None or not memories.is_expired(held, call.now):
            return None
        if any(part.memory.id == held.id for part in begun.parts):  # the batch ends it already
            return None
        gone = Part(held, changes.expiry(space, held, call.caller, number), told=False)
        head = [*begun.batch[: begun.head - 2], *spaces.advance(space, number + 1, call.now)]
        batch = [*head, *gone.statements, *begun.batch[begun.head :]]
        return replace(begun, batch=batch, parts=[gone, *begun.parts], numbers=number + 1)

    def concluded(self, begun: Begun, results: Sequence[Rows]) -> Written:
        """Return the reply and notify the index. The last row of the head is the new change number."""
        number = cast(int, results[begun.head - 1][0][0]) + begun.beyond
        self.indexes.note(begun.space, number)
        tally = None if begun.tally is None else begun.tallied(results)
        self.counter.add(by=len(begun.parts) if tally is None else tally.changes)
        return self._reply(begun, number, tally, commit=1000 * (perf_counter() - begun.at))

    def _planned(self, begun: Begun) -> Written:
        """Return the reply that `concluded` would give, without changing the database."""
        stands, made = spaces.number(begun.space), changes.last(begun.space, BATCH_MAX)
        began = perf_counter()
        try:
            (((number,),), *results) = self.database.rehearse([stands, *begun.batch, made])
        except Refused as refused:
            raise Refused(refused.code, refused.statement - 1) from refused
        took = perf_counter() - began
        after = cast(int, results[begun.head - 1][0][0]) + begun.beyond
        number = cast(int, number)
        told = begun.call.caller.sees_all
        shifts = self.foresee(begun.space, begun.batch, begun.call.now, took) if told else None
        planned = [changes.planned(row) for row in reversed(results[-1]) if cast(int, row[0]) > number]
        plan = Plan(after - number, tuple(planned), shifts)
        return self._reply(begun, number, begun.tallied(results), plan=plan)

    def _reply(
        self, begun: Begun, number: int, tally: Tally | None, *, commit: float = 0.0, plan: Plan | None = None
    ) -> Written:
        """Return the reply of a write after which the space is at the change `number`."""
        memories = list[Memory]()
        for part in begun.parts:
            if part.told:
                memories.append(part.memory)
        return Written(
            memories=tuple(memories),
            seq=Seq(begun.space.space.epoch, number),
            created=begun.created,
            similar=begun.checked.similar,
            checked_at=begun.checked.at,
            ended=begun.ended,
            flags=begun.flags,
            degraded=self.models.lacking(begun.space.space) if begun.embedded else (),
            commit=commit,
            plan=plan,
            tally=tally,
        )

    def _open(self, name: str, call: Call) -> tuple[SpaceRow, Row | None]:
        """Return the space, and the stored reply of the call's key, if there is one."""
        ask = [spaces.by_name(name)]
        if call.request is not None:
            ask.append(inserting.known(call.request, call.now))
        found, *stored = self.database.read(ask)
        if not found:
            raise NotFound("space", name)
        known = stored[0][0] if stored and stored[0] else None
        space = self.spaces[name] = space_row(found[0])
        return space, known

    def _replay(self, space: SpaceRow, call: Call, known: Row) -> Written:
        assert call.request is not None
        body_hash, answer, seq = cast(tuple[bytes, bytes, str], known)
        if not answer:
            raise NotFound("answer", call.request.key, "what this request wrote has been erased")
        if body_hash != call.request.body_hash:
            raise RequestReused(call.request.key)
        stored = read_answer(answer)
        rows = self.database.read(memories.of_versions(space, stored.versions))
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
        """Return the write with the statements of its parts and, for a call with a key, of the stored reply."""
        batch = [*begun.batch]
        for part in begun.parts:
            batch += part.statements
        if (request := begun.call.request) is not None:
            answer = remember(
                [part.memory for part in begun.parts if part.told],
                created=begun.created,
                similar=begun.checked.similar,
                checked_at=begun.checked.at,
                ended=begun.ended,
                flags=begun.flags,
            )
            batch.append(inserting.remember(begun.space, request, answer, begun.call.now + self.retention_us))
        return replace(begun, batch=[*batch, *begun.call.fenced.after])

    def _write(self, begun: Begun) -> list[Rows]:
        try:
            return self.database.write(begun.batch)
        except Refused as refused:
            raise self.explained(begun, refused) from refused

    def _model(self, space: SpaceRow, now: int) -> list[Statement]:
        """Return the statements that refuse when the space, its policy or its models have changed.

        A space without a model takes the default, unless background work embeds what is stored.
        """
        if space.space.generation is not None:
            return [spaces.guard_model(space, space.space.generation)]
        encoder = self.models.inline(None)
        if encoder is None:
            return [spaces.guard_policy(space)]
        card = card_of(encoder)
        return [
            spaces.register_generation(card, now),
            spaces.adopt_generation(space, card.identity),
            spaces.guard_model(space, card.identity),
        ]
