"""Write prepared documents: chunks that stay, change, come and end, all in one batch.

New chunks of a large document are stored in a hidden space first. So nobody sees a part of a document, and the memory
that this takes does not depend on its size. A process that ends early leaves a hidden space, which is deleted after an
hour, as those of imports are.
"""

import uuid
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from typing import cast

import msgspec
from msgspec import structs

from muisti.core.documents import sql as documents
from muisti.core.documents.files import Cuts
from muisti.core.documents.model import Document, NewDocument, Outcome, Put
from muisti.core.documents.planning import Alignment, Coming, chunk_draft
from muisti.core.embedding.models import card_of
from muisti.core.model.chunks import overlap_of
from muisti.core.model.errors import PlaceTaken, TooLarge
from muisti.core.model.ids import id_text
from muisti.core.model.outcomes import Flag, Plan, Written
from muisti.core.model.values import Draft, Memory
from muisti.core.operations.transfer.importing.moving import clear, write
from muisti.core.parsing.pieces import Cut
from muisti.core.store.database import Row, Statement
from muisti.core.store.sql import bulk_replace, imports, inserting, memories, quotas, spaces, version_rows
from muisti.core.store.sql.chunks import torn
from muisti.core.store.sql.imports import Staged
from muisti.core.store.sql.inserting import NewVersion
from muisti.core.store.sql.spaces import SpaceRow
from muisti.core.store.sql.version_rows import raw
from muisti.core.support.waiting import Overtaken
from muisti.core.write.calls import Call, Part
from muisti.core.write.intake import Accepted, Intake
from muisti.core.write.prepare import again, draft_of, ready
from muisti.core.write.transactions import Transactions

GROUP = 256  # chunks in one transaction
REMOTE_MAX = 10_000  # chunks that a remote database makes visible in one transaction
FLAGS_MAX = 100  # flags that an answer lists

Accept = Callable[[Draft], Accepted]


class Figures(msgspec.Struct):
    """Sums over chunks as they are stored."""

    characters: int = 0
    lines: int = 0
    tokens: int = 0

    def add(self, text: str, overlap: int, tokens: int = 0) -> None:
        """Count what a chunk adds to the text of its document."""
        self.characters += len(text) - overlap
        self.lines += text.count("\n", overlap)
        self.tokens += tokens


class ChunkStaging:
    """New chunks of one document in a hidden space. `flags` are those of the first chunks that have some."""

    def __init__(self, store: Transactions, space: SpaceRow, call: Call) -> None:
        self.figures = Figures()
        self.flags: list[Flag] = []
        self.count = 0
        self._store, self._space, self._call = store, space, call
        self._staged: Staged | None = None

    def check(self, count: int) -> None:
        """Raise `TooLarge` when a database cannot make so many chunks visible in one transaction."""
        if not self._store.database.local and count > REMOTE_MAX:
            raise TooLarge(
                f"the document has {count:,} new chunks; a remote database takes {REMOTE_MAX:,} in one transaction: "
                "divide the file, or make larger chunks"
            )

    def add(
        self,
        document: tuple[str, Draft],
        cuts: Cuts,
        coming: Sequence[Coming],
        accept: Accept,
        alive: Callable[[], None],
    ) -> None:
        """Store new chunks of a document, given by its id and draft. `alive` is called between groups, and may raise.

        Raises:
            InvalidInput, SensitiveContent, Forbidden.
            Conflict: the space was erased meanwhile.
        """
        self.check(len(coming))
        self._staged = self._open()
        with ThreadPoolExecutor(1, "muisti-staging") as behind:  # a group is written while the next one is prepared
            written: Future[object] | None = None
            for group in _groups(cuts, coming):
                alive()
                accepted = [accept(chunk_draft(document[1], cut, document[0], one.position)) for one, cut in group]
                now = self._call.now
                made = [one.first(self._space, id_text(self._store.ids.new(now)), now) for one in accepted]
                batch = self._batch(self._staged, made)
                if written is not None:
                    written.result()
                written = behind.submit(write, self._store.database, batch)
                for one, memory in zip(accepted, made, strict=True):
                    self.figures.add(memory.content, overlap_of(memory), memory.tokens)
                    self.flags += one.flags[: max(0, FLAGS_MAX - len(self.flags))]
            if written is not None:
                written.result()

    def _batch(self, staged: Staged, made: Sequence[Memory]) -> list[Statement]:
        """Return the statements that stage a group of chunks."""
        now, caller = self._call.now, self._call.caller
        batch = list(imports.touch(staged, now))
        for encoder in self._store.models.embedding(self._space.space):
            batch.append(spaces.register_generation(card_of(encoder), now))
        for new in ready(made, self._space, self._store.models):
            self.count += 1
            batch += imports.stage(staged, new, self.count, None)
            values = ("created", raw(new.memory.id), 1, now, caller.actor, caller.request, None)
            batch.append(imports.stage_change(staged, self.count, values))
        return batch

    def move(self) -> list[Statement]:
        """Return the statements that make all chunks visible, as changes behind the space's seq."""
        if self._staged is None:
            return []
        staged = self._staged
        *moved, _ = imports.move(staged, (0, self.count), self._call.now, as_it_was=False)
        own = Statement(
            "UPDATE changes SET import_id = NULL WHERE space_id = ? AND import_id = ?", (staged.target.id, staged.id)
        )
        return [spaces.guard(staged.space), *moved, own]

    def clear(self) -> None:
        """Delete the hidden space, if there is one."""
        staged, self._staged = self._staged, None
        if staged is not None:
            clear(self._store.database, staged.space.id, None)

    def _open(self) -> Staged:
        token, actor = uuid.uuid4().hex, self._call.caller.actor
        batch = imports.begin(token, str(uuid.uuid4()), self._space, actor, None, self._call.now)
        *_, space_id, import_id = write(self._store.database, batch)
        space = structs.replace(self._space, id=cast(int, space_id[0][0]))
        (found,) = self._store.database.read([Statement("SELECT epoch FROM spaces WHERE id = ?", (space.id,))])
        space = structs.replace(space, space=structs.replace(space.space, epoch=cast(str, found[0][0])))
        return Staged(cast(int, import_id[0][0]), space, self._space)


def _groups(cuts: Cuts, coming: Sequence[Coming]) -> Iterator[list[tuple[Coming, Cut]]]:
    wanted = {one.cut: one for one in coming}
    group: list[tuple[Coming, Cut]] = []
    for number, cut in enumerate(cuts):
        if number in wanted:
            group.append((wanted[number], cut))
        if len(group) == GROUP:
            yield group
            group = []
    if group:
        yield group


SMALL = 1_000  # new chunks that one batch takes; more go through a hidden space
SMALL_CHARACTERS = 4_000_000


class Incoming(msgspec.Struct, frozen=True, kw_only=True):
    """A document to store, and its cuts. With `moved_from`, the document at that path moves to the new one.

    `path` is the place of the document in the request.
    """

    new: NewDocument
    cuts: Cuts
    moved_from: str | None = None
    path: str = "$"


class Work(msgspec.Struct):
    """A document on its way: what is there, what shall be there, and what the batch does about it."""

    incoming: Incoming
    before: Memory | None
    row: int
    id: str
    draft: Draft
    alignment: Alignment = Alignment()
    accepted: Mapping[int, Accepted] = {}
    figures: Figures = msgspec.field(default_factory=Figures)
    changed: int = 0
    flags: Sequence[Flag] = ()
    staging: ChunkStaging | None = None

    @property
    def is_large(self) -> bool:
        return len(self.alignment.coming) > SMALL or self.incoming.cuts.size > SMALL_CHARACTERS


def memory_of(row: Row, space: SpaceRow) -> Memory:
    return version_rows.memory(row, space.space.name)


def outcome(work: Work, *, is_fresh: bool) -> Outcome:
    if not is_fresh:
        return "unchanged"
    if work.before is None:
        return "created"
    return "moved" if work.before.document != work.incoming.new.path else "updated"


def told(work: Work, memory: Memory, outcome: Outcome) -> Put:
    alignment, chunks = work.alignment, Document(memory).chunks
    added = len(alignment.coming)
    return Put(
        document=Document(memory),
        outcome=outcome,
        added=added,
        changed=work.changed,
        kept=chunks - added - work.changed,
        ended=len(alignment.ended),
        flags=tuple(work.flags),
        moved_from=work.before.document if outcome == "moved" and work.before is not None else None,
    )


class Batches(msgspec.Struct, frozen=True):
    """Commit prepared documents of a space, all or none. Thread-safe."""

    store: Transactions
    intake: Intake

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
        tail += [torn(space, [version_rows.raw(work.id) for work in works])]
        last = parts[-1]
        limits = quotas.refuse_more(space, self.store.quota)
        parts[-1] = structs.replace(last, statements=[*last.statements, *tail, limits])
        flags = tuple(flag for work in works for flag in (*work.flags, *made[work.id][0].flags))[:FLAGS_MAX]
        begun = self.store.begin(
            space,
            parts,
            call,
            created=any(work.before is None for work in works),
            numbers=total,
            flags=flags,
            beyond=len(ended) + sum(one.count for one in staged),
        )
        if call.dry_run and staged:  # nothing is staged for a dry run
            plan = Plan(total + len(ended) + sum(len(work.alignment.coming) for work in works), ())
            return Written(memories=(), seq=space.seq, created=False, plan=plan)
        try:
            return self.store.commit(begun)
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
            born = self.store.guarded_insertion(space, next(prepared), "created", call.caller, offset)
            return Part(memory, [*accepted.statements, *born], work.incoming.path)
        new = again(memory, work.before, work.row, space, self.store.models)
        statements = [
            inserting.refuse_stale(work.before),
            *accepted.statements,
            inserting.end(space, work.before, offset),
            *self.store.guarded_insertion(space, new, "updated", call.caller, offset),
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
            (read,) = self.store.database.read([memories.by_rows(rows[start : start + 500])])
            for row in read:
                change, before = wanted[cast(int, row[0])], memory_of(row, space)
                stated = draft_of(before)
                meant = chunk_draft(work.draft, texts[change.cut], work.id, change.position)
                draft = structs.replace(meant, content=stated.content, category=stated.category)
                accepted = self.intake.changed(space, draft, before, call)
                if accepted.draft != stated:
                    found.append((cast(int, row[0]), before, accepted))
        work.changed = len(found)
        return sorted(found, key=lambda one: one[1].position or 0)

    def _change_part(
        self, space: SpaceRow, row: int, before: Memory, accepted: Accepted, offset: int, call: Call
    ) -> Part:
        new = again(accepted.next(before, call.now), before, row, space, self.store.models)
        statements = [
            inserting.refuse_stale(before),
            *accepted.statements,
            inserting.end(space, before, offset),
            *self.store.insertion(space, new, "updated", call.caller, offset),
        ]
        return Part(new.memory, statements, told=False)

    def _coming(self, space: SpaceRow, work: Work, call: Call) -> list[tuple[Accepted, Memory]]:
        positions = {one.cut: one.position for one in work.alignment.coming}
        accepted = [
            structs.replace(one, draft=structs.replace(one.draft, position=positions[number]))
            for number, one in sorted(work.accepted.items())
        ]
        return [(one, one.first(space, id_text(self.store.ids.new(call.now)), call.now)) for one in accepted]

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
        return ready(memories, space, self.store.models)

    def _new_part(self, space: SpaceRow, accepted: Accepted, new: NewVersion, offset: int, call: Call) -> Part:
        inserted = self.store.insertion(space, new, "created", call.caller, offset)
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
