"""Store documents: chunks that are there stay, new ones come, those that are gone end, all in one batch.

A document that was made from the same file with the same options is not written at all. The chunks of large documents
go through a hidden space (core/documents/staging.py), so that a search never sees a part of a document.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import cast

import msgspec
from msgspec import structs

from muisti.core.documents.cuts import Cuts, key_of
from muisti.core.documents.planning import (
    Alignment,
    Changing,
    Coming,
    Known,
    align,
    chunk_draft,
    chunks_of,
    document_draft,
    fields_of,
    is_same,
)
from muisti.core.documents.staging import FLAGS_MAX, ChunkStaging, Figures
from muisti.core.embedding.models import Models
from muisti.core.model.counts import Quota
from muisti.core.model.documents import Cut
from muisti.core.model.errors import InvalidInput, PlaceTaken
from muisti.core.model.filing import Document, NewDocument, Outcome, Put, Stored
from muisti.core.model.ids import IdSource, id_text
from muisti.core.model.outcomes import Flag, Plan, Written
from muisti.core.model.values import Draft, Memory
from muisti.core.read.hierarchy import namespace
from muisti.core.read.reading import find_space
from muisti.core.store.database import Database, Row, Statement
from muisti.core.store.sql import bulk_replace, documents, guards, inserting, memories, quotas, version_rows
from muisti.core.store.sql.spaces import SpaceRow
from muisti.core.support.waiting import Overtaken
from muisti.core.text.terms import count_tokens
from muisti.core.write.begun import Call
from muisti.core.write.intake import Accepted, Intake
from muisti.core.write.prepare import again, draft_of, ready
from muisti.core.write.refusals import Part
from muisti.core.write.transactions import Transactions

SMALL = 1_000  # new chunks that one batch takes; more go through a hidden space
SMALL_CHARACTERS = 4_000_000
CHANGING_MAX = 25_000  # chunks of a large document that one batch changes
TOGETHER = 16  # documents in one batch


class Incoming(msgspec.Struct, frozen=True, kw_only=True):
    """A document to store, and its cuts. With `moved_from`, the document at that path moves to the new one.

    `path` is the place of the document in the request.
    """

    new: NewDocument
    cuts: Cuts
    moved_from: str | None = None
    path: str = "$"


class _Work(msgspec.Struct):
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


class Storer:
    """Thread-safe; `models` embed the texts. All methods raise what those of `Writer` do."""

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

    def put(
        self, space: str, incoming: Sequence[Incoming], call: Call, alive: Callable[[], None] = lambda: None
    ) -> Stored:
        """Store documents, all or none; those that are unchanged are not written.

        `alive` is called from time to time while a large document is prepared, and may raise.

        Raises:
            InvalidInput, SensitiveContent, Forbidden, QuotaExceeded.
            TooLarge: a remote database takes fewer chunks in one transaction.
        """
        _check(incoming)
        done: list[tuple[_Work, Memory, Outcome]] = []

        def attempt(found: SpaceRow) -> Written:
            done.clear()
            works = self._works(found, incoming, call)
            try:
                return self._store(found, works, call, alive, done)
            finally:
                for work in works:
                    if work.staging is not None:
                        work.staging.clear()

        written = self._transactions.run(space, call, attempt)
        if written.replayed:
            puts = [Put(document=Document(memory), outcome="unchanged") for memory in written.memories]
        else:
            puts = [_told(*one) for one in done]
        return Stored(
            items=tuple(puts), seq=written.seq, plan=written.plan, commit=written.commit, replayed=written.replayed
        )

    def current(self, space: str, new: NewDocument, call: Call) -> Document | None:
        """Return the document at a path when it was made from the same file and options, so that none is parsed."""
        draft = call.caller.own(document_draft(new, namespace(call.caller, new.category)))
        found = find_space(self._database, space)
        (rows,) = self._database.read([documents.at_paths(found, draft.category, [new.path])])
        memory = _memory(rows[0], found) if rows else None
        return Document(memory) if memory is not None and is_same(memory, _titled(draft, memory)) else None

    def leave(self, space: str, known: Document, call: Call) -> Stored:
        """Return the answer for a document that is there already, made from the same file."""
        written = self._transactions.run(space, call, lambda found: self._transactions.leave(found, known.memory, call))
        return Stored(
            items=(Put(document=known, outcome="unchanged", kept=known.chunks),),
            seq=written.seq,
            plan=written.plan,
            replayed=written.replayed,
        )

    def _works(self, space: SpaceRow, incoming: Sequence[Incoming], call: Call) -> list[_Work]:
        found: list[_Work] = []
        for one in incoming:
            draft = call.caller.own(document_draft(one.new, namespace(call.caller, one.new.category)))
            paths = [one.new.path, *([] if one.moved_from is None else [one.moved_from])]
            (rows,) = self._database.read([documents.at_paths(space, draft.category, paths)])
            there = {memory.document: (row, memory) for row in rows for memory in [_memory(row, space)]}
            row, before = there.get(one.new.path) or there.get(one.moved_from) or (None, None)
            id_ = id_text(self._ids.new(call.now)) if before is None else before.id
            number = 0 if row is None else cast(int, row[0])
            found.append(_Work(incoming=one, before=before, row=number, id=id_, draft=draft))
        return found

    def _store(
        self,
        space: SpaceRow,
        works: Sequence[_Work],
        call: Call,
        alive: Callable[[], None],
        done: list[tuple[_Work, Memory, Outcome]],
    ) -> Written:
        fresh = [one for one in works if one.before is None or not is_same(one.before, one.draft)]
        for work in fresh:
            self._prepare(space, work, call, alive)
        made = {work.id: self._document(space, work, call) for work in fresh}
        for work in works:
            accepted = made.get(work.id)
            memory = work.before if accepted is None else accepted[1]
            assert memory is not None
            done.append((work, memory, _outcome(work, is_fresh=accepted is not None)))
        if not fresh:
            return self._transactions.nothing(space, call)
        return self._commit(space, fresh, made, call)

    def _prepare(self, space: SpaceRow, work: _Work, call: Call, alive: Callable[[], None]) -> None:
        """Align the cuts of a document with its chunks, and accept those that are new."""
        cuts = work.incoming.cuts
        known = [] if work.before is None else chunks_of(self._database, space, version_rows.raw(work.id))
        fields = [fields_of(chunk_draft(work.draft, cut, work.id, 0)) for cut in cuts]
        keys = list(cuts.keys)
        work.alignment = align(known, keys, fields)
        if work.is_large:
            self._stage(space, work, call, alive)
            return
        work.accepted = self._accept(space, work, call)
        if any(one.draft.content != cut.text for one, cut in _pairs(work)):
            self._align_again(space, work, known, keys, fields, call)
        for one in work.alignment.kept:
            work.figures.tokens += one.tokens
        self._count(work)
        work.flags = tuple(flag for one in work.accepted.values() for flag in one.flags)

    def _align_again(
        self,
        space: SpaceRow,
        work: _Work,
        known: Sequence[Known],
        keys: list[bytes],
        fields: list[bytes],
        call: Call,
    ) -> None:
        """Align once more, by the texts that the policy of the space lets in."""
        for number, one in work.accepted.items():
            keys[number], fields[number] = key_of(one.draft.content), fields_of(one.draft)
        before = work.accepted
        work.alignment = align(known, keys, fields)
        coming = {one.cut for one in work.alignment.coming}
        more = self._accept(space, work, call, but=set(before))
        work.accepted = {number: one for number, one in {**before, **more}.items() if number in coming}

    def _accept(
        self, space: SpaceRow, work: _Work, call: Call, but: set[int] | frozenset[int] = frozenset()
    ) -> dict[int, Accepted]:
        wanted = {one.cut: one for one in work.alignment.coming if one.cut not in but}
        return {
            number: self._accepted(space, chunk_draft(work.draft, cut, work.id, wanted[number].position), call, work)
            for number, cut in enumerate(work.incoming.cuts)
            if number in wanted
        }

    def _accepted(self, space: SpaceRow, draft: Draft, call: Call, work: _Work) -> Accepted:
        """Accept a chunk; where the policy redacts it, its overlap follows."""
        path = work.incoming.path
        accepted = self._intake.new(space, draft, call, path, echoes=False, hierarchy=True)
        overlap = draft.structure.get("overlap")
        if accepted.draft.content == draft.content or not isinstance(overlap, int):
            return accepted
        repeated = structs.replace(draft, content=draft.content[:overlap])
        before = self._intake.new(space, repeated, call, path, echoes=False, hierarchy=True).draft.content
        text = accepted.draft.content
        kept = len(before) if text.startswith(before) else _common(text, draft.content[:overlap])
        structure = {**accepted.draft.structure, "overlap": kept}
        return structs.replace(accepted, draft=structs.replace(accepted.draft, structure=structure))

    def _count(self, work: _Work) -> None:
        """Sum the figures of a document from its chunks as they are stored."""
        for number, cut in enumerate(work.incoming.cuts):
            one = work.accepted.get(number)
            text, overlap = (cut.text, cut.overlap) if one is None else _own(one.draft)
            work.figures.characters += len(text) - overlap
            work.figures.lines += text.count("\n", overlap)
            work.figures.tokens += 0 if one is None else count_tokens(text)
        for one in work.alignment.changing:
            work.figures.tokens += one.known.tokens

    def _stage(self, space: SpaceRow, work: _Work, call: Call, alive: Callable[[], None]) -> None:
        """Store the new chunks of a large document in a hidden space. A dry run only counts them."""
        cuts = work.incoming.cuts
        if len(work.alignment.changing) > CHANGING_MAX:  # one batch could not hold them, so they come again
            work.alignment = _anew(work.alignment)
        staging = work.staging = ChunkStaging(self._database, self._models, self._ids, space, call)
        if call.dry_run:
            staging.check(len(work.alignment.coming))
        elif work.alignment.coming:

            def accept(draft: Draft) -> Accepted:
                return self._accepted(space, draft, call, work)

            staging.add((work.id, work.draft), cuts, work.alignment.coming, accept, alive)
        work.flags = staging.flags
        coming = {one.cut for one in work.alignment.coming}
        work.figures = staging.figures
        for number, cut in enumerate(cuts):
            if number not in coming or call.dry_run:
                work.figures.characters += len(cut.text) - cut.overlap
                work.figures.lines += cut.text.count("\n", cut.overlap)
        for one in (*work.alignment.kept, *(each.known for each in work.alignment.changing)):
            work.figures.tokens += one.tokens

    def _document(self, space: SpaceRow, work: _Work, call: Call) -> tuple[Accepted, Memory]:
        """Return the next version of a document, with the figures of its text."""
        figures = {name: getattr(work.figures, name) for name in work.figures.__struct_fields__}
        structure = {**work.draft.structure, "chunks": len(work.incoming.cuts), **figures}
        draft = structs.replace(work.draft, structure=structure)
        if work.before is None:
            accepted = self._intake.new(space, draft, call, work.incoming.path, echoes=False, hierarchy=True)
            return accepted, accepted.first(space, work.id, call.now)
        accepted = self._intake.changed(space, draft, work.before, call)
        return accepted, accepted.next(work.before, call.now)

    def _commit(
        self, space: SpaceRow, works: Sequence[_Work], made: Mapping[str, tuple[Accepted, Memory]], call: Call
    ) -> Written:
        changes = [self._changes(space, work, call) for work in works]
        total = sum(1 + len(work.accepted) + len(each) for work, each in zip(works, changes, strict=True))
        offsets = iter(range(total - 1, -1, -1))
        parts: list[Part] = []
        for work, each in zip(works, changes, strict=True):
            parts.append(self._document_part(space, work, made[work.id], next(offsets), call))
            parts += (self._change_part(space, *one, next(offsets), call) for one in each)
            parts += self._new_parts(space, work, offsets, call)
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
        self, space: SpaceRow, work: _Work, made: tuple[Accepted, Memory], offset: int, call: Call
    ) -> Part:
        accepted, memory = made
        if work.before is None:
            (new,) = ready([memory], space, self._models)
            born = self._transactions.guarded_insertion(space, new, "created", call.caller, offset)
            return Part(memory, [*accepted.statements, *born], work.incoming.path)
        new = again(memory, work.before, work.row, space, self._models)
        statements = [
            guards.refuse_stale(work.before),
            *accepted.statements,
            inserting.end(space, work.before, offset),
            *self._transactions.guarded_insertion(space, new, "updated", call.caller, offset),
        ]
        return Part(memory, statements, work.incoming.path)

    def _changes(self, space: SpaceRow, work: _Work, call: Call) -> list[tuple[int, Memory, Accepted]]:
        """Return the chunks that change: row, version before, and what is accepted; none of those that stay equal."""
        wanted = {one.known.row: one for one in work.alignment.changing}
        rows = list(wanted)
        cuts = {one.cut for one in wanted.values()}
        texts = {number: cut for number, cut in enumerate(work.incoming.cuts) if number in cuts}
        found: list[tuple[int, Memory, Accepted]] = []
        for start in range(0, len(rows), 500):
            (read,) = self._database.read([memories.by_rows(rows[start : start + 500])])
            for row in read:
                change, before = wanted[cast(int, row[0])], _memory(row, space)
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
            guards.refuse_stale(before),
            *accepted.statements,
            inserting.end(space, before, offset),
            *self._transactions.insertion(space, new, "updated", call.caller, offset),
        ]
        return Part(new.memory, statements, told=False)

    def _new_parts(self, space: SpaceRow, work: _Work, offsets: Iterator[int], call: Call) -> list[Part]:
        positions = {one.cut: one.position for one in work.alignment.coming}
        accepted = [
            structs.replace(one, draft=structs.replace(one.draft, position=positions[number]))
            for number, one in sorted(work.accepted.items())
        ]
        made = [one.first(space, id_text(self._ids.new(call.now)), call.now) for one in accepted]
        return [
            Part(
                new.memory,
                [*one.statements, *self._transactions.insertion(space, new, "created", call.caller, next(offsets))],
                told=False,
            )
            for one, new in zip(accepted, ready(made, space, self._models), strict=True)
        ]

    def _ends(self, space: SpaceRow, ended: Sequence[tuple[bytes, int]], call: Call) -> list[Statement]:
        if not ended:
            return []
        return [
            *documents.plan_end_chunks(space, ended),
            *bulk_replace.advance(space, call.now),
            *bulk_replace.take(space, "deleted", call.caller, call.now),
            bulk_replace.clear(),
        ]


def _check(incoming: Sequence[Incoming]) -> None:
    if not 1 <= len(incoming) <= TOGETHER:
        raise InvalidInput.at("$", f"has {len(incoming):,} documents; 1 to {TOGETHER} are allowed")
    paths = [(one.new.path, one.new.category) for one in incoming]
    if len(set(paths)) < len(paths):
        raise InvalidInput.at("$", "names a document twice")


def _memory(row: Row, space: SpaceRow) -> Memory:
    return version_rows.memory(row, space.space.name)


def _titled(draft: Draft, before: Memory) -> Draft:
    """Return the draft with the title of a document, which is known only when its file was parsed."""
    facts = {
        name: before.structure[name]
        for name in ("media_type", "pages", "language", "notes")
        if name in before.structure
    }
    return structs.replace(draft, content=before.content, structure={**facts, **draft.structure})


def _pairs(work: _Work) -> list[tuple[Accepted, Cut]]:
    return [(work.accepted[n], cut) for n, cut in enumerate(work.incoming.cuts) if n in work.accepted]


def _own(draft: Draft) -> tuple[str, int]:
    overlap = draft.structure.get("overlap")
    return draft.content, overlap if isinstance(overlap, int) else 0


def _common(one: str, other: str) -> int:
    return next((n for n, (a, b) in enumerate(zip(one, other, strict=False)) if a != b), min(len(one), len(other)))


def _changed(stated: Draft, work: _Work, change: Changing, cut: Cut) -> Draft:
    """Return the draft of a chunk that stays, with the fields of its document and its new place."""
    meant = chunk_draft(work.draft, cut, work.id, change.position)
    return structs.replace(meant, content=stated.content, category=stated.category)


def _anew(alignment: Alignment) -> Alignment:
    """Return an alignment in which the chunks that change end, and new ones come in their place."""
    return Alignment(
        kept=alignment.kept,
        coming=sorted(
            (*alignment.coming, *(Coming(one.cut, one.position) for one in alignment.changing)),
            key=lambda one: one.cut,
        ),
        ended=[*alignment.ended, *(one.known for one in alignment.changing)],
    )


def _outcome(work: _Work, *, is_fresh: bool) -> Outcome:
    if not is_fresh:
        return "unchanged"
    if work.before is None:
        return "created"
    return "moved" if work.before.document != work.incoming.new.path else "updated"


def _told(work: _Work, memory: Memory, outcome: Outcome) -> Put:
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


def _foreseen(space: SpaceRow, changes: int) -> Written:
    return Written(memories=(), seq=space.seq, created=False, plan=Plan(changes, ()))
