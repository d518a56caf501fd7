"""Undo an import: all memories that it brought end in one step, or nothing happens."""

from collections.abc import Collection, Sequence
from typing import cast

import msgspec
from msgspec.structs import replace

from muisti.core.model.choices import UNDO_MAX
from muisti.core.model.errors import NAMED, ChangedSince, NotFound, TooLarge
from muisti.core.model.ids import id_text
from muisti.core.model.operations import Imported
from muisti.core.model.outcomes import LaterChange, Written
from muisti.core.model.times import from_us
from muisti.core.store.sql import imports, operations, undo
from muisti.core.store.sql.spaces import SpaceRow
from muisti.core.write.calls import Call
from muisti.core.write.transactions import Transactions

REMOTE_MAX = 10_000  # memories that a remote database ends in one transaction


class ImportUndoer(msgspec.Struct, frozen=True):
    """Undo imports into all spaces. Thread-safe."""

    store: Transactions

    def known(self, space: SpaceRow) -> list[Imported]:
        """Return the imports of a space, newest first."""
        (rows,) = self.store.database.read([imports.known(space)])
        return [_imported(row) for row in rows]

    def undo(self, space: str, import_id: int, call: Call) -> Imported:
        """End the memories of an import, if none was changed since. A dry run only counts them.

        Raises:
            NotFound, ChangedSince, TooLarge.
        """
        found = list[Imported]()

        def attempt(row: SpaceRow) -> Written:
            found[:] = [self._one(row, import_id)]
            return self._end(row, found[0], call)

        done = self.store.run(space, call, attempt)
        assert done.tally is not None
        return replace(found[0], undone=None if call.dry_run else done.seq.number, memories=done.tally.ended)

    def take_back(self, space: SpaceRow, import_id: int, call: Call) -> Written:
        """Attempt what `undo` does; `Transactions.run` repeats it. The reply says in words what ended."""
        return self._end(space, self._one(space, import_id), call)

    def _one(self, space: SpaceRow, import_id: int) -> Imported:
        found = next((one for one in self.known(space) if one.id == import_id), None)
        if found is None or found.undone is not None:
            raise NotFound("import", str(import_id), "" if found is None else "it was undone before")
        return found

    def _end(self, space: SpaceRow, found: Imported, call: Call) -> Written:
        later, kinds, ids, staying = self.store.database.read([
            undo.changed_since(space, found),
            undo.living(space, found),
            undo.living_ids(space, found, UNDO_MAX + 1),
            undo.staying(space, found),
        ])  # fmt: skip
        if later:
            changed = cast(list[tuple[int, str, bytes, str | None]], later)
            raise ChangedSince([LaterChange(seq, kind, id_text(id_), actor) for seq, kind, id_, actor in changed])
        counts = cast(list[tuple[str, int]], kinds)
        memories = sum(count for _, count in counts)
        if not self.store.database.local and memories > REMOTE_MAX:
            told = f"the import brought {memories:,} memories"
            raise TooLarge(f"{told}; a remote database undoes {REMOTE_MAX:,} in one step")
        entry = operations.audit(
            call.now, call.caller.actor, "import_undone", space=space.space.name, target=str(found.id)
        )
        done = self.store.turn(
            space,
            undo.end_all(space, found, memories),
            "undone",
            call,
            [entry, *undo.mark(space, found)],
            ended=tuple(id_text(cast(bytes, row[0])) for row in ids) if len(ids) <= UNDO_MAX else (),
        )
        stays = stay([f"{kind} {name}" for kind, name in staying])
        return replace(done, undone=f"{in_words(found, counts)}{stays}")


def in_words(one: Imported, kinds: Sequence[tuple[str, int]]) -> str:
    """Return an import with its system, and how many memories of each kind ended.

    >>> one = Imported(3, "mem0", "ann", from_us(0), 3, 1, 3, None)
    >>> in_words(one, [("memory", 2), ("conversation", 1)])
    'import 3 from mem0 (2 memories, 1 conversation)'
    """
    names = {kind: "memories" if kind == "memory" else f"{kind}s" for kind, _ in kinds}
    names |= {"entity": "statements on entities", "summary": "summaries"}
    each = ", ".join(f"{count:,} {kind if count == 1 else names[kind]}" for kind, count in kinds)
    source = f" from {one.source}" if one.source else ""
    return f"import {one.id}{source} ({each or 'nothing of it is left'})"


def stay(names: Collection[str]) -> str:
    """Return that sessions and conversations stay, or nothing; `NAMED` of them are named.

    >>> stay([]), stay(["conversation c"])
    ('', '; conversation c stays, because it holds what others added')
    """
    if not names:
        return ""
    more = f" and {len(names) - NAMED:,} more" if len(names) > NAMED else ""
    verb, whose = ("stays", "it holds") if len(names) == 1 else ("stay", "they hold")
    return f"; {', '.join([*names][:NAMED])}{more} {verb}, because {whose} what others added"


def _imported(row: Sequence[object]) -> Imported:
    id_, source, actor, at, memories, first, last, undone = cast(
        tuple[int, str | None, str, int, int, int, int, int | None], row
    )
    return Imported(id_, source, actor, from_us(at), memories, first, last, undone)
