"""Prune what has lost its source: documents of code, chunks without a document, entities that nothing names.

The core knows no files beyond its database: the caller says what has become of the source of a document.
"""

from collections.abc import Callable, Iterable, Sequence
from typing import Literal, cast

import msgspec
from msgspec import structs

from muisti.core.documents import sql as documents
from muisti.core.documents.model import SYNC_MAX, Document, Listed, Pruned, Synced
from muisti.core.documents.planning import PAGE, check_path
from muisti.core.documents.reading import Filter, conditions_of, find_document
from muisti.core.model.choices import BATCH_MAX, PruneStrategy
from muisti.core.model.errors import InvalidInput, TooLarge
from muisti.core.model.outcomes import Ending, Plan, Written
from muisti.core.model.places import DocumentName
from muisti.core.model.values import Memory
from muisti.core.parsing.code.grammars import language_of
from muisti.core.read.hierarchy import namespace
from muisti.core.read.reading import find_space
from muisti.core.store.database import Row, Statement
from muisti.core.store.sql import hierarchy, inserting, operations, quotas, version_rows
from muisti.core.store.sql.spaces import SpaceRow
from muisti.core.write.calls import Call, Part
from muisti.core.write.intake import Intake
from muisti.core.write.prepare import again, draft_of
from muisti.core.write.transactions import Transactions

# End documents with all their chunks: one that a caller deletes, and those whose files are gone

MOVED_MAX = 25_000  # chunks of a document that moves


class Compared(msgspec.Struct, frozen=True):
    """Documents beside the files that exist."""

    wanted: Sequence[str]
    ended: Sequence[Memory]
    moved: Sequence[tuple[Memory, str]]
    unchanged: int


class Ender(msgspec.Struct, frozen=True):
    """Thread-safe; `models` embed the texts. All methods raise what those of `Writer` do."""

    store: Transactions
    intake: Intake

    def delete(self, space: str, name: DocumentName, call: Call) -> Ending:
        """End a document with its chunks, as one step. Raises `NotFound` and `Conflict`."""
        told: dict[str, int] = {}

        def attempt(found: SpaceRow) -> Written:
            memory = find_document(self.store.database, found, name, call.caller, call.now)
            written, chunks = self._end(found, [memory], call)
            told.update({"document": 1, "chunk": chunks})
            return written

        written = self.store.run(space, call, attempt)
        return Ending(counts=told, seq=written.seq, plan=written.plan, commit=written.commit)

    def sync(self, space: str, files: Sequence[Listed], within: Filter, call: Call) -> Synced:
        """Compare the documents of a folder with the files that exist; end those that are gone, move those that moved.

        Raises:
            InvalidInput: a path cannot be accepted, or lies outside of the folder.
            TooLarge: a document that has moved has more chunks than one step changes.
        """
        _check(files, within)
        compared = self._compare(find_space(self.store.database, space), files, within, call)
        seq, commit, chunks = find_space(self.store.database, space).seq, 0.0, 0
        plans: list[Plan | None] = []
        for memory, path in compared.moved:
            written = self.store.run(
                space, call, lambda found, one=memory, path=path: self._move(found, one, path, call)
            )
            seq, commit = written.seq, commit + written.commit
            plans.append(written.plan)
        if compared.ended:
            ended: list[int] = []

            def attempt(found: SpaceRow) -> Written:
                written, count = self._end(found, compared.ended, call)
                ended[:] = [count]
                return written

            written = self.store.run(space, call, attempt)
            seq, commit, chunks = written.seq, commit + written.commit, ended[0]
            plans.append(written.plan)
        return Synced(
            wanted=tuple(compared.wanted),
            ended=tuple(memory.document or "" for memory in compared.ended),
            moved=tuple((memory.document or "", path) for memory, path in compared.moved),
            unchanged=compared.unchanged,
            seq=seq,
            chunks_ended=chunks,
            plan=joined(plans) if call.dry_run else None,
            commit=commit,
        )

    def end(self, space: str, ended: Sequence[Memory], call: Call) -> Written:
        """End current documents with their chunks, as one step.

        Raises:
            NotFound, StoreUnavailable: one of them changes at the same time.
        """
        return self.store.run(space, call, lambda found: self._end(found, ended, call)[0])

    def _compare(self, space: SpaceRow, files: Sequence[Listed], within: Filter, call: Call) -> Compared:
        category = namespace(call.caller, within.category)
        own = structs.replace(within, category=category)
        conditions = conditions_of(own, call.caller)
        if category is None:
            conditions.append(hierarchy.in_category(None))
        (rows,) = self.store.database.read([documents.every(space, conditions)])
        there = {memory.document or "": memory for row in rows for memory in [_memory(row, space)]}
        listed = {one.path: one for one in files}
        gone = [memory for path, memory in there.items() if path not in listed]
        moved = _moved(gone, [one for path, one in listed.items() if path not in there])
        known = {path: is_current(Document(there[path]), one) for path, one in listed.items() if path in there}
        targets = {path for _, path in moved}
        left = {memory.id for memory, _ in moved}
        return Compared(
            wanted=[path for path in listed if path not in targets and not known.get(path, False)],
            ended=[memory for memory in gone if memory.id not in left],
            moved=moved,
            unchanged=sum(known.values()),
        )

    def _end(self, space: SpaceRow, ended: Sequence[Memory], call: Call) -> tuple[Written, int]:
        ids = [version_rows.raw(memory.id) for memory in ended]
        (((chunks,),),) = self.store.database.read([documents.count_chunks(space, ids)])
        target = ended[0].id if len(ended) == 1 else f"{len(ended)} documents"
        note = operations.audit(call.now, call.caller.actor, "document_deleted", space=space.space.name, target=target)
        written = self.store.turn(space, documents.plan_ends(space, ids), "deleted", call, [note])
        return written, cast(int, chunks)

    def _move(self, space: SpaceRow, moved: Memory, path: str, call: Call) -> Written:
        """Try once to give a document and its chunks another path; their texts and vectors stay."""
        (rows,) = self.store.database.read([documents.at_paths(space, moved.category, [moved.document or ""])])
        rows = [*rows, *self._chunks(space, moved)]
        parts = [self._part(space, row, len(rows) - 1 - place, path, call) for place, row in enumerate(rows)]
        limits = quotas.refuse_more(space, self.store.quota)
        parts[-1] = structs.replace(parts[-1], statements=[*parts[-1].statements, limits])
        return self.store.commit(self.store.begin(space, parts, call, created=False))

    def _chunks(self, space: SpaceRow, moved: Memory) -> list[Row]:
        found: list[Row] = []
        after = -1
        while True:
            (rows,) = self.store.database.read(
                [documents.current_chunks(space, version_rows.raw(moved.id), after, PAGE)]
            )
            found += rows
            if len(found) > MOVED_MAX:
                raise TooLarge(f"document {moved.document!r} has more than {MOVED_MAX:,} chunks; send it again")
            if len(rows) < PAGE:
                return found
            after = _memory(rows[-1], space).position or 0

    def _part(self, space: SpaceRow, row: Row, offset: int, path: str, call: Call) -> Part:
        before = _memory(row, space)
        draft = structs.replace(draft_of(before), document=path)
        if before.kind == "document" and before.content == before.document:
            draft = structs.replace(draft, content=path)
        accepted = self.intake.changed(space, draft, before, call)
        new = again(accepted.next(before, call.now), before, cast(int, row[0]), space, self.store.models)
        statements: list[Statement] = [
            inserting.refuse_stale(before),
            *accepted.statements,
            inserting.end(space, before, offset),
            *self.store.guarded_insertion(space, new, "updated", call.caller, offset),
        ]
        return Part(new.memory, statements, told=before.kind == "document")


def joined(plans: Iterable[Plan | None]) -> Plan:
    """Return the plan of several steps."""
    steps = [plan for plan in plans if plan is not None]
    return Plan(sum(one.changes for one in steps), tuple(item for one in steps for item in one.items)[:BATCH_MAX])


def is_current(document: Document, file: Listed) -> bool:
    """Return whether a document was made from a file as it is now."""
    if file.sha256 is not None:
        return document.sha256 == file.sha256
    if file.size is None and file.mtime is None:
        return True
    mtime = document.memory.structure.get("mtime")
    return file.size in (None, document.size) and file.mtime in (None, mtime)


def _moved(gone: Sequence[Memory], new: Sequence[Listed]) -> list[tuple[Memory, str]]:
    """Return documents whose file is gone while a new file has the same bytes, with its path."""
    by_hash: dict[str, list[Memory]] = {}
    for memory in gone:
        by_hash.setdefault(Document(memory).sha256, []).append(memory)
    found: list[tuple[Memory, str]] = []
    for file in new:
        same = by_hash.get(file.sha256 or "", [])
        if file.sha256 and same:
            found.append((same.pop(0), file.path))
    return found


def _check(files: Sequence[Listed], within: Filter) -> None:
    if len(files) > SYNC_MAX:
        raise InvalidInput.at("$.files", f"has {len(files):,} files; at most {SYNC_MAX:,} are allowed")
    for number, file in enumerate(files):
        check_path(file.path, f"$.files[{number}].path")
        if within.folder and not file.path.startswith(within.folder):
            raise InvalidInput.at(f"$.files[{number}].path", f"{file.path[:80]!r} is not below {within.folder[:80]!r}")


def _memory(row: Row, space: SpaceRow) -> Memory:
    return version_rows.memory(row, space.space.name)


AT_ONCE = 1_000  # documents, chunks or entities in one request

Source = Literal["current", "stale", "unknown"]
Look = Callable[[Document], Source]


class Pruner(msgspec.Struct, frozen=True):
    """Prune spaces. Thread-safe."""

    store: Transactions
    ender: Ender

    def prune(self, space: str, strategy: PruneStrategy, look: Look, call: Call) -> Pruned:
        """End what a strategy finds: up to a thousand of each kind. A rollback brings it back.

        `look` says whether the source of a document is as it was.
        """
        found = find_space(self.store.database, space)
        stale, unknown = self._stale(found, look, call) if strategy in ("stale_code", "all") else ([], 0)
        done: list[Written] = []
        if stale:
            done.append(self.ender.end(space, stale, call))
        chunks = self._ended(space, "orphaned_chunks", strategy, call, done)
        entities = self._ended(space, "orphaned_entities", strategy, call, done)
        return Pruned(
            stale_code=tuple(memory.document or "" for memory in stale),
            unknown=unknown,
            orphaned_chunks=tuple(memory.id for memory in chunks),
            orphaned_entities=tuple(str(memory.metadata["entity"]) for memory in entities),
            more=AT_ONCE in (len(stale), len(chunks), len(entities)),
            seq=done[-1].seq if done else found.seq,
            plan=joined([one.plan for one in done]) if call.dry_run else None,
            commit=sum(one.commit for one in done),
        )

    def _stale(self, space: SpaceRow, look: Look, call: Call) -> tuple[list[Memory], int]:
        """Return documents of code whose source is gone or newer, and how many have a source that is not known."""
        (rows,) = self.store.database.read([documents.every(space, conditions_of(Filter(), call.caller))])
        memories = (version_rows.memory(row, space.space.name) for row in rows)
        looked = [(one, look(Document(one))) for one in memories if language_of(one.document or "") is not None]
        stale = [one for one, source in looked if source == "stale"]
        return stale[:AT_ONCE], sum(source == "unknown" for _, source in looked)

    def _ended(
        self, space: str, kind: PruneStrategy, strategy: PruneStrategy, call: Call, done: list[Written]
    ) -> Sequence[Memory]:
        """End orphans of a kind, if the strategy includes it; return them."""
        ask = documents.orphaned_chunks if kind == "orphaned_chunks" else documents.orphaned_entities
        ended: list[Memory] = []
        if strategy not in (kind, "all"):
            return ended

        def attempt(found: SpaceRow) -> Written:
            (rows,) = self.store.database.read([ask(found, call.caller.category, AT_ONCE)])
            ended[:] = [version_rows.memory(row, found.space.name) for row in rows]
            if not ended:
                return self.store.nothing(found, call)
            note = operations.audit(call.now, call.caller.actor, "pruned", space=space, target=f"{len(ended)} {kind}")
            ends = [(version_rows.raw(one.id), one.version) for one in ended]
            return self.store.turn(found, documents.plan_end_chunks(found, ends), "deleted", call, [note])

        written = self.store.run(space, call, attempt)
        if ended:
            done.append(written)
        return ended
