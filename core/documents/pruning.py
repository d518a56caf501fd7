"""Prune what has lost its source: documents of code, chunks without a document, entities that nothing names.

The core knows no files beyond its database: the caller says what has become of the source of a document.
"""

from collections.abc import Callable, Sequence
from typing import Literal

from muisti.core.code.grammars import language_of
from muisti.core.documents.ending import Ender
from muisti.core.documents.reading import Filter, conditions_of
from muisti.core.model.filing import Document, Pruned
from muisti.core.model.outcomes import Plan, Written
from muisti.core.model.terms import BATCH_MAX, PruneStrategy
from muisti.core.model.values import Memory
from muisti.core.read.reading import find_space
from muisti.core.store.database import Database, Statement
from muisti.core.store.sql import audit, documents, pruned, version_rows
from muisti.core.store.sql.spaces import SpaceRow
from muisti.core.write.begun import Call
from muisti.core.write.transactions import Transactions

AT_ONCE = 1_000  # documents, chunks or entities in one request

Source = Literal["current", "stale", "unknown"]
Look = Callable[[Document], Source]


class Pruner:
    """Prune spaces. Thread-safe."""

    def __init__(self, database: Database, transactions: Transactions, ender: Ender) -> None:
        self._database, self._transactions, self._ender = database, transactions, ender

    def prune(self, space: str, strategy: PruneStrategy, look: Look, call: Call) -> Pruned:
        """End what a strategy finds: up to a thousand of each kind. A rollback brings it back.

        `look` says whether the source of a document is as it was.
        """
        found = find_space(self._database, space)
        stale, unknown = self._stale(found, look, call) if strategy in ("stale_code", "all") else ([], 0)
        done: list[Written] = []
        if stale:
            done.append(self._ender.end(space, stale, call))
        chunks = self._ended(space, "orphaned_chunks", strategy, call, done)
        entities = self._ended(space, "orphaned_entities", strategy, call, done)
        plans = [one.plan for one in done if one.plan is not None]
        items = tuple(item for plan in plans for item in plan.items)
        return Pruned(
            stale_code=tuple(memory.document or "" for memory in stale),
            unknown=unknown,
            orphaned_chunks=tuple(memory.id for memory in chunks),
            orphaned_entities=tuple(str(memory.metadata["entity"]) for memory in entities),
            more=AT_ONCE in (len(stale), len(chunks), len(entities)),
            seq=done[-1].seq if done else found.seq,
            plan=Plan(sum(plan.changes for plan in plans), items[:BATCH_MAX]) if call.dry_run else None,
            commit=sum(one.commit for one in done),
        )

    def _stale(self, space: SpaceRow, look: Look, call: Call) -> tuple[list[Memory], int]:
        """Return documents of code whose source is gone or newer, and how many have a source that is not known."""
        (rows,) = self._database.read([documents.every(space, conditions_of(Filter(), call.caller))])
        memories = (version_rows.memory(row, space.space.name) for row in rows)
        looked = [(one, look(Document(one))) for one in memories if language_of(one.document or "") is not None]
        stale = [one for one, source in looked if source == "stale"]
        return stale[:AT_ONCE], sum(source == "unknown" for _, source in looked)

    def _ended(
        self, space: str, kind: PruneStrategy, strategy: PruneStrategy, call: Call, done: list[Written]
    ) -> Sequence[Memory]:
        """End orphans of a kind, if the strategy includes it; return them."""
        ask = pruned.orphaned_chunks if kind == "orphaned_chunks" else pruned.orphaned_entities
        ended: list[Memory] = []
        if strategy not in (kind, "all"):
            return ended

        def attempt(found: SpaceRow) -> Written:
            (rows,) = self._database.read([ask(found, call.caller.category, AT_ONCE)])
            ended[:] = [version_rows.memory(row, found.space.name) for row in rows]
            if not ended:
                return self._transactions.nothing(found, call)
            note = audit.note(call.now, call.caller.actor, "pruned", space=space, target=f"{len(ended)} {kind}")
            return self._transactions.turn(found, _plan(found, ended), "deleted", call, [note])

        written = self._transactions.run(space, call, attempt)
        if ended:
            done.append(written)
        return ended


def _plan(space: SpaceRow, ended: Sequence[Memory]) -> list[Statement]:
    return documents.plan_end_chunks(space, [(version_rows.raw(one.id), one.version) for one in ended])
