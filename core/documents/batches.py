"""Write prepared documents: chunks that stay, change, come and end, all in one batch."""

from collections.abc import Iterator, Mapping, Sequence
from typing import cast

from msgspec import structs

from muisti.core.documents.planning import Changing, chunk_draft
from muisti.core.documents.staging import FLAGS_MAX
from muisti.core.documents.work import Work, memory_of
from muisti.core.embedding.models import Models
from muisti.core.model.documents import Cut
from muisti.core.model.errors import PlaceTaken
from muisti.core.model.ids import IdSource, id_text
from muisti.core.model.outcomes import Plan, Quota, Written
from muisti.core.model.values import Draft, Memory
from muisti.core.store.database import Database, Statement
from muisti.core.store.sql import bulk_replace, documents, inserting, memories, quotas, version_rows
from muisti.core.store.sql.inserting import NewVersion
from muisti.core.store.sql.spaces import SpaceRow
from muisti.core.support.waiting import Overtaken
from muisti.core.write.begun import Call, Part
from muisti.core.write.intake import Accepted, Intake
from muisti.core.write.prepare import again, draft_of, ready
from muisti.core.write.transactions import Transactions


class Batches:
    """Commit prepared documents of a space, all or none. Thread-safe."""

    def __init__(
        self,
        database: Database,
        models: Models,
        transactions: Transactions,
        ids: IdSource,
        quota: Quota,
        intake: Intake,
    ) -> None:
        """`quota` is that of spaces without one."""
        self._database = database
        self._models = models
        self._transactions = transactions
        self._ids = ids
        self._quota = quota
        self._intake = intake

    def commit(
        self, space: SpaceRow, works: Sequence[Work], made: Mapping[str, tuple[Accepted, Memory]], call: Call
    ) -> Written:
        changes = [self._changes(space, work, call) for work in works]
        coming = [self._coming(space, work, call) for work in works]
        new = iter(self._ready(space, works, made, coming))
        total = sum(1 + len(work.accepted) + len(each) for work, each in zip(works, changes, strict=True))
        offsets = iter(range(total - 1, -1, -1))
        parts: list[Part] = []
        for work, each, chunks in zip(works, changes, coming, strict=True):
            parts.append(self._document_part(space, work, made[work.id], next(offsets), call, new))
            parts += (self._change_part(space, *one, next(offsets), call) for one in each)
            parts += (self._new_part(space, one, next(new), next(offsets), call) for one, _ in chunks)
        ended = [(one.id, one.version) for work in works for one in work.alignment.ended]
        staged = [work.staging for work in works if work.staging is not None]
        tail = [*self._ends(space, ended, call), *(each for one in staged for each in one.move())]
        tail += [documents.torn(space, [version_rows.raw(work.id) for work in works])]
        last = parts[-1]
        limits = quotas.refuse_more(space, self._quota)
        parts[-1] = structs.replace(last, statements=[*last.statements, *tail, limits])
        flags = tuple(flag for work in works for flag in (*work.flags, *made[work.id][0].flags))[:FLAGS_MAX]
        begun = self._transactions.begin(
            space,
            parts,
            call,
            created=any(work.before is None for work in works),
            numbers=total,
            flags=flags,
            beyond=len(ended) + sum(one.count for one in staged),
        )
        if call.dry_run and staged:  # nothing is staged for a dry run
            return _foreseen(space, total + len(ended) + sum(len(work.alignment.coming) for work in works))
        try:
            return self._transactions.commit(begun)
        except PlaceTaken:
            raise Overtaken from None  # somebody else has stored it meanwhile

    def _document_part(
        self,
        space: SpaceRow,
        work: Work,
        made: tuple[Accepted, Memory],
        offset: int,
        call: Call,
        prepared: Iterator[NewVersion],
    ) -> Part:
        """Return the part of a document. The next of the `prepared` versions is its own when it is new."""
        accepted, memory = made
        if work.before is None:
            born = self._transactions.guarded_insertion(space, next(prepared), "created", call.caller, offset)
            return Part(memory, [*accepted.statements, *born], work.incoming.path)
        new = again(memory, work.before, work.row, space, self._models)
        statements = [
            inserting.refuse_stale(work.before),
            *accepted.statements,
            inserting.end(space, work.before, offset),
            *self._transactions.guarded_insertion(space, new, "updated", call.caller, offset),
        ]
        return Part(memory, statements, work.incoming.path)

    def _changes(self, space: SpaceRow, work: Work, call: Call) -> list[tuple[int, Memory, Accepted]]:
        """Return the chunks that change: row, version before, and what is accepted; none of those that stay equal."""
        wanted = {one.known.row: one for one in work.alignment.changing}
        rows = list(wanted)
        cuts = {one.cut for one in wanted.values()}
        texts = {number: cut for number, cut in enumerate(work.incoming.cuts) if number in cuts} if cuts else {}
        found: list[tuple[int, Memory, Accepted]] = []
        for start in range(0, len(rows), 500):
            (read,) = self._database.read([memories.by_rows(rows[start : start + 500])])
            for row in read:
                change, before = wanted[cast(int, row[0])], memory_of(row, space)
                draft = _changed(draft_of(before), work, change, texts[change.cut])
                accepted = self._intake.changed(space, draft, before, call)
                if accepted.draft != draft_of(before):
                    found.append((cast(int, row[0]), before, accepted))
        work.changed = len(found)
        return sorted(found, key=lambda one: one[1].position or 0)

    def _change_part(
        self, space: SpaceRow, row: int, before: Memory, accepted: Accepted, offset: int, call: Call
    ) -> Part:
        new = again(accepted.next(before, call.now), before, row, space, self._models)
        statements = [
            inserting.refuse_stale(before),
            *accepted.statements,
            inserting.end(space, before, offset),
            *self._transactions.insertion(space, new, "updated", call.caller, offset),
        ]
        return Part(new.memory, statements, told=False)

    def _coming(self, space: SpaceRow, work: Work, call: Call) -> list[tuple[Accepted, Memory]]:
        """Return the chunks that come with the batch, in their order."""
        positions = {one.cut: one.position for one in work.alignment.coming}
        accepted = [
            structs.replace(one, draft=structs.replace(one.draft, position=positions[number]))
            for number, one in sorted(work.accepted.items())
        ]
        return [(one, one.first(space, id_text(self._ids.new(call.now)), call.now)) for one in accepted]

    def _ready(
        self,
        space: SpaceRow,
        works: Sequence[Work],
        made: Mapping[str, tuple[Accepted, Memory]],
        coming: Sequence[Sequence[tuple[Accepted, Memory]]],
    ) -> list[NewVersion]:
        """Return the new documents, each before its new chunks; all texts are embedded together."""
        memories = [
            memory
            for work, chunks in zip(works, coming, strict=True)
            for memory in (*([made[work.id][1]] if work.before is None else []), *(chunk for _, chunk in chunks))
        ]
        return ready(memories, space, self._models)

    def _new_part(self, space: SpaceRow, accepted: Accepted, new: NewVersion, offset: int, call: Call) -> Part:
        inserted = self._transactions.insertion(space, new, "created", call.caller, offset)
        return Part(new.memory, [*accepted.statements, *inserted], told=False)

    def _ends(self, space: SpaceRow, ended: Sequence[tuple[bytes, int]], call: Call) -> list[Statement]:
        if not ended:
            return []
        return [
            *documents.plan_end_chunks(space, ended),
            *bulk_replace.advance(space, call.now),
            *bulk_replace.take(space, "deleted", call.caller, call.now),
            bulk_replace.clear(),
        ]


def _changed(stated: Draft, work: Work, change: Changing, cut: Cut) -> Draft:
    """Return the draft of a chunk that stays, with the fields of its document and its new place."""
    meant = chunk_draft(work.draft, cut, work.id, change.position)
    return structs.replace(meant, content=stated.content, category=stated.category)


def _foreseen(space: SpaceRow, changes: int) -> Written:
    return Written(memories=(), seq=space.seq, created=False, plan=Plan(changes, ()))
