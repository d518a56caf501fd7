"""Store documents: chunks that are there stay, new ones come, those that are gone end, all in one batch.

A document that was made from the same file with the same options is not written at all. The chunks of large documents
go through a hidden space (core/documents/staging.py), so that a search never sees a part of a document.
"""

from collections.abc import Callable, Sequence
from typing import cast

from msgspec import structs

from muisti.core.documents.batches import Batches
from muisti.core.documents.planning import document_draft, is_same
from muisti.core.documents.preparing import Preparing
from muisti.core.documents.work import Incoming as Incoming
from muisti.core.documents.work import Work, memory_of, outcome, told
from muisti.core.embedding.models import Models
from muisti.core.model.counts import Quota
from muisti.core.model.errors import InvalidInput
from muisti.core.model.filing import Document, NewDocument, Outcome, Put, Stored
from muisti.core.model.ids import IdSource, id_text
from muisti.core.model.outcomes import Written
from muisti.core.model.values import Draft, Memory
from muisti.core.read.hierarchy import namespace
from muisti.core.read.reading import find_space
from muisti.core.store.database import Database
from muisti.core.store.sql import documents
from muisti.core.store.sql.spaces import SpaceRow
from muisti.core.write.begun import Call
from muisti.core.write.intake import Accepted, Intake
from muisti.core.write.transactions import Transactions

TOGETHER = 16  # documents in one batch


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
        self._transactions = transactions
        self._ids = ids
        self._intake = intake
        self._preparing = Preparing(database, models, ids, intake)
        self._batches = Batches(database, models, transactions, ids, quota, intake)

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

        written = self._transactions.run(space, call, attempt)
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
        found = find_space(self._database, space)
        (rows,) = self._database.read([documents.at_paths(found, draft.category, [new.path])])
        memory = memory_of(rows[0], found) if rows else None
        return Document(memory) if memory is not None and is_same(memory, titled(draft, memory)) else None

    def leave(self, space: str, known: Document, call: Call) -> Stored:
        """Return the answer for a document that is there already, made from the same file."""
        written = self._transactions.run(space, call, lambda found: self._transactions.leave(found, known.memory, call))
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
            (rows,) = self._database.read([documents.at_paths(space, draft.category, paths)])
            there = {memory.document: (row, memory) for row in rows for memory in [memory_of(row, space)]}
            row, before = there.get(one.new.path) or there.get(one.moved_from) or (None, None)
            id_ = id_text(self._ids.new(call.now)) if before is None else before.id
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
            self._preparing.prepare(space, work, call, alive)
        made = {work.id: self._document(space, work, call) for work in fresh}
        for work in works:
            accepted = made.get(work.id)
            memory = work.before if accepted is None else accepted[1]
            assert memory is not None
            done.append((work, memory, outcome(work, is_fresh=accepted is not None)))
        if not fresh:
            return self._transactions.nothing(space, call)
        return self._batches.commit(space, fresh, made, call)

    def _document(self, space: SpaceRow, work: Work, call: Call) -> tuple[Accepted, Memory]:
        """Return the next version of a document, with the figures of its text."""
        figures = {name: getattr(work.figures, name) for name in work.figures.__struct_fields__}
        structure = {**work.draft.structure, "chunks": len(work.incoming.cuts), **figures}
        draft = structs.replace(work.draft, structure=structure)
        if work.before is None:
            accepted = self._intake.new(space, draft, call, work.incoming.path, echoes=False, hierarchy=True)
            return accepted, accepted.first(space, work.id, call.now)
        accepted = self._intake.changed(space, draft, work.before, call)
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
