"""Store documents: chunks that are there stay, new ones come, those that are gone end, all in one batch.

A document that was made from the same file with the same options is not written at all. The chunks of large documents
go through a hidden space (core/documents/batches.py), so that a search never sees a part of a document.
"""

from collections.abc import Callable, Sequence
from typing import cast

import msgspec
from msgspec import structs

from muisti.core.documents import sql as documents
from muisti.core.documents.batches import Batches, ChunkStaging, Work, memory_of, outcome, told
from muisti.core.documents.batches import Incoming as Incoming
from muisti.core.documents.files import key_of
from muisti.core.documents.model import Document, NewDocument, Outcome, Put, Stored
from muisti.core.documents.planning import (
    Alignment,
    Coming,
    Known,
    align,
    chunk_draft,
    chunks_of,
    common,
    document_draft,
    fields_of,
    is_same,
)
from muisti.core.model.errors import InvalidInput
from muisti.core.model.ids import id_text
from muisti.core.model.outcomes import Written
from muisti.core.model.values import Draft, Memory
from muisti.core.read.hierarchy import namespace
from muisti.core.read.reading import find_space
from muisti.core.store.sql import version_rows
from muisti.core.store.sql.spaces import SpaceRow
from muisti.core.text.terms import count_tokens
from muisti.core.write.calls import Call
from muisti.core.write.intake import Accepted, Intake
from muisti.core.write.transactions import Transactions

# Decide which chunks a document gets: its cuts are aligned with the chunks that are there, and new ones accepted

CHANGING_MAX = 25_000  # chunks of a large document that one batch changes


class Preparing(msgspec.Struct, frozen=True):
    """Prepare documents, each alone. Thread-safe."""

    store: Transactions
    intake: Intake

    def prepare(self, space: SpaceRow, work: Work, call: Call, alive: Callable[[], None]) -> None:
        """Align the cuts of a document with its chunks, and accept those that are new."""
        cuts = work.incoming.cuts
        known = [] if work.before is None else chunks_of(self.store.database, space, version_rows.raw(work.id))
        fields = [fields_of(chunk_draft(work.draft, cut, work.id, 0)) for cut in cuts] if known else []
        keys = list(cuts.keys)
        work.alignment = align(known, keys, fields)
        if work.is_large:
            self._stage(space, work, call, alive)
            return
        work.accepted = self._accept(space, work, call)
        if any(n in work.accepted and work.accepted[n].draft.content != cut.text for n, cut in enumerate(cuts)):
            self._align_again(space, work, known, keys, fields, call)
        for one in work.alignment.kept:
            work.figures.tokens += one.tokens
        self._count(work)
        work.flags = tuple(flag for one in work.accepted.values() for flag in one.flags)

    def _align_again(
        self, space: SpaceRow, work: Work, known: Sequence[Known], keys: list[bytes], fields: list[bytes], call: Call
    ) -> None:
        """Align once more, by the texts that the policy of the space lets in."""
        for number, one in work.accepted.items():
            keys[number] = key_of(one.draft.content)
            if known:
                fields[number] = fields_of(one.draft)
        before = work.accepted
        work.alignment = align(known, keys, fields)
        coming = {one.cut for one in work.alignment.coming}
        more = self._accept(space, work, call, but=set(before))
        work.accepted = {number: one for number, one in {**before, **more}.items() if number in coming}

    def _accept(
        self, space: SpaceRow, work: Work, call: Call, but: set[int] | frozenset[int] = frozenset()
    ) -> dict[int, Accepted]:
        wanted = {one.cut: one for one in work.alignment.coming if one.cut not in but}
        return {
            number: self._accepted(space, chunk_draft(work.draft, cut, work.id, wanted[number].position), call, work)
            for number, cut in enumerate(work.incoming.cuts)
            if number in wanted
        }

    def _accepted(self, space: SpaceRow, draft: Draft, call: Call, work: Work) -> Accepted:
        """Accept a chunk; where the policy redacts it, its overlap follows."""
        path = work.incoming.path
        accepted = self.intake.new(space, draft, call, path, echoes=False, hierarchy=True)
        overlap = draft.structure.get("overlap")
        if accepted.draft.content == draft.content or not isinstance(overlap, int):
            return accepted
        repeated = structs.replace(draft, content=draft.content[:overlap])
        before = self.intake.new(space, repeated, call, path, echoes=False, hierarchy=True).draft.content
        text = accepted.draft.content
        kept = len(before) if text.startswith(before) else common(text, draft.content[:overlap])
        structure = {**accepted.draft.structure, "overlap": kept}
        return structs.replace(accepted, draft=structs.replace(accepted.draft, structure=structure))

    def _count(self, work: Work) -> None:
        for number, cut in enumerate(work.incoming.cuts):
            one = work.accepted.get(number)
            text, overlap = cut.text, cut.overlap
            if one is not None:
                text, stated = one.draft.content, one.draft.structure.get("overlap")
                overlap = stated if isinstance(stated, int) else 0
            work.figures.add(text, overlap, 0 if one is None else count_tokens(text))
        for one in work.alignment.changing:
            work.figures.tokens += one.known.tokens

    def _stage(self, space: SpaceRow, work: Work, call: Call, alive: Callable[[], None]) -> None:
        """Store the new chunks of a large document in a hidden space. A dry run only counts them."""
        cuts = work.incoming.cuts
        if len(work.alignment.changing) > CHANGING_MAX:  # one batch could not hold them, so they come again
            work.alignment = _anew(work.alignment)
        staging = work.staging = ChunkStaging(self.store, space, call)
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
                work.figures.add(cut.text, cut.overlap)
        for one in (*work.alignment.kept, *(each.known for each in work.alignment.changing)):
            work.figures.tokens += one.tokens


def _anew(alignment: Alignment) -> Alignment:
    """Return an alignment in which the chunks that change end, and new ones come in their place."""
    return Alignment(
        kept=alignment.kept,
        coming=sorted(
            (*alignment.coming, *(Coming(one.cut, one.position) for one in alignment.changing)), key=lambda one: one.cut
        ),
        ended=[*alignment.ended, *(one.known for one in alignment.changing)],
    )


TOGETHER = 16  # documents in one batch


class Storer(msgspec.Struct, frozen=True):
    """Thread-safe. All methods raise what those of `Writer` do."""

    store: Transactions
    intake: Intake

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
        done: list[tuple[Work, Memory, Outcome]] = []

        def attempt(found: SpaceRow) -> Written:
            done.clear()
            works = self._works(found, incoming, call)
            try:
                return self._store(found, works, call, alive, done)
            finally:
                for work in works:
                    if work.staging is not None:
                        work.staging.clear()

        written = self.store.run(space, call, attempt)
        if written.replayed:
            puts = [Put(document=Document(memory), outcome="unchanged") for memory in written.memories]
        else:
            puts = [told(*one) for one in done]
        return Stored(
            items=tuple(puts), seq=written.seq, plan=written.plan, commit=written.commit, replayed=written.replayed
        )

    def current(self, space: str, new: NewDocument, call: Call) -> Document | None:
        """Return the document at a path when it was made from the same file and options, so that none is parsed."""
        draft = call.caller.own(document_draft(new, namespace(call.caller, new.category)))
        found = find_space(self.store.database, space)
        (rows,) = self.store.database.read([documents.at_paths(found, draft.category, [new.path])])
        memory = memory_of(rows[0], found) if rows else None
        return Document(memory) if memory is not None and is_same(memory, titled(draft, memory)) else None

    def leave(self, space: str, known: Document, call: Call) -> Stored:
        """Return the answer for a document that is there already, made from the same file."""
        written = self.store.run(space, call, lambda found: self.store.leave(found, known.memory, call))
        return Stored(
            items=(Put(document=known, outcome="unchanged", kept=known.chunks),),
            seq=written.seq,
            plan=written.plan,
            replayed=written.replayed,
        )

    def _works(self, space: SpaceRow, incoming: Sequence[Incoming], call: Call) -> list[Work]:
        found: list[Work] = []
        for one in incoming:
            draft = call.caller.own(document_draft(one.new, namespace(call.caller, one.new.category)))
            paths = [one.new.path, *([] if one.moved_from is None else [one.moved_from])]
            (rows,) = self.store.database.read([documents.at_paths(space, draft.category, paths)])
            there = {memory.document: (row, memory) for row in rows for memory in [memory_of(row, space)]}
            row, before = there.get(one.new.path) or there.get(one.moved_from) or (None, None)
            id_ = id_text(self.store.ids.new(call.now)) if before is None else before.id
            number = 0 if row is None else cast(int, row[0])
            found.append(Work(incoming=one, before=before, row=number, id=id_, draft=draft))
        return found

    def _store(
        self,
        space: SpaceRow,
        works: Sequence[Work],
        call: Call,
        alive: Callable[[], None],
        done: list[tuple[Work, Memory, Outcome]],
    ) -> Written:
        fresh = [one for one in works if one.before is None or not is_same(one.before, one.draft)]
        for work in fresh:
            Preparing(self.store, self.intake).prepare(space, work, call, alive)
        made = {work.id: self._document(space, work, call) for work in fresh}
        for work in works:
            accepted = made.get(work.id)
            memory = work.before if accepted is None else accepted[1]
            assert memory is not None
            done.append((work, memory, outcome(work, is_fresh=accepted is not None)))
        if not fresh:
            return self.store.nothing(space, call)
        return Batches(self.store, self.intake).commit(space, fresh, made, call)

    def _document(self, space: SpaceRow, work: Work, call: Call) -> tuple[Accepted, Memory]:
        """Return the next version of a document, with the figures of its text."""
        figures = {name: getattr(work.figures, name) for name in work.figures.__struct_fields__}
        structure = {**work.draft.structure, "chunks": len(work.incoming.cuts), **figures}
        draft = structs.replace(work.draft, structure=structure)
        if work.before is None:
            accepted = self.intake.new(space, draft, call, work.incoming.path, echoes=False, hierarchy=True)
            return accepted, accepted.first(space, work.id, call.now)
        accepted = self.intake.changed(space, draft, work.before, call)
        return accepted, accepted.next(work.before, call.now)


def _check(incoming: Sequence[Incoming]) -> None:
    if not 1 <= len(incoming) <= TOGETHER:
        raise InvalidInput.at("$", f"has {len(incoming):,} documents; 1 to {TOGETHER} are allowed")
    paths = [(one.new.path, one.new.category) for one in incoming]
    if len(set(paths)) < len(paths):
        raise InvalidInput.at("$", "names a document twice")


def titled(draft: Draft, before: Memory) -> Draft:
    """Return the draft with the title of a document, which is known only when its file was parsed."""
    facts = {
        name: before.structure[name]
        for name in ("media_type", "pages", "language", "notes")
        if name in before.structure
    }
    return structs.replace(draft, content=before.content, structure={**facts, **draft.structure})
