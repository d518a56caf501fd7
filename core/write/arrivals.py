"""Policy of a space for steps that make many memories current together: merges and rollbacks.

Such a step copies rows within the database. What may be stored as it is stays a row to copy. What the policy stores
otherwise is put into a space that lives no longer than the batch, and copied from there.
"""

from collections.abc import Iterator, Sequence
from typing import cast

import msgspec

from muisti.core.embedding.encoder import Encoder
from muisti.core.model.errors import Problem, SensitiveContent
from muisti.core.model.outcomes import Flag
from muisti.core.model.values import Memory
from muisti.core.store.database import Database, Rows, Statement
from muisti.core.store.sql import arrivals, memories, version_rows
from muisti.core.store.sql.spaces import SpaceRow
from muisti.core.write.begun import Call
from muisti.core.write.intake import Intake, place_of
from muisti.core.write.prepare import ready

PAGE = 500  # versions that are read at once
NAMED = 100  # memories that a refusal names


class Allowed(msgspec.Struct, frozen=True):
    """Statements that follow those of a step's plan, those that end its batch, and the flags of what was taken out."""

    plan: Sequence[Statement] = ()
    end: Sequence[Statement] = ()
    flags: tuple[Flag, ...] = ()


class Arrivals:
    """Thread-safe; `encoder` is None when embeddings are off."""

    def __init__(self, database: Database, encoder: Encoder | None, intake: Intake) -> None:
        self._database, self._encoder, self._intake = database, encoder, intake

    def allowed(self, space: SpaceRow, planned: Sequence[Statement], call: Call, *, are_new: bool) -> Allowed:
        """Return what becomes of a plan. `are_new`: what does not live in the space has never been there.

        Raises:
            SensitiveContent: the policy refuses some of what would become current; the paths name the memories.
            Echo: it refuses echoes, and the caller has just found what one of them says.
            Refused: the plan does not hold any more.
        """
        if self._intake.asks_nothing(space, call):
            return Allowed()
        rows = self._database.rehearse([*planned, arrivals.planned()])[-1]
        problems, flags, changed = list[Problem](), list[Flag](), list[tuple[int, Memory]]()
        for source, memory, current in self._read(space, rows):
            is_new = are_new and current is None
            try:
                accepted, told = self._intake.brought(space, memory, current, call, place_of(memory.id), is_new=is_new)
            except SensitiveContent as refusal:
                problems += refusal.problems
                continue
            flags += told
            if accepted is not memory:
                changed.append((source, accepted))
        if problems:
            raise SensitiveContent(problems[:NAMED])
        seen = arrivals.refuse_others(cast(list[tuple[int, int | None]], rows))
        return Allowed([seen, *self._staged(space, changed)], arrivals.clear() if changed else [], tuple(flags))

    def _read(self, space: SpaceRow, rows: Rows) -> Iterator[tuple[int, Memory, Memory | None]]:
        """Yield the row, the version that would become current, and the one that is current, for each memory."""
        for start in range(0, len(rows), PAGE):
            page = cast(list[tuple[int, int | None]], rows[start : start + PAGE])
            wanted = sorted({row for pair in page for row in pair if row is not None})
            (read,) = self._database.read([memories.by_rows(wanted)])
            found = {cast(int, row[0]): version_rows.memory(row, space.space.name) for row in read}
            for source, living in page:
                if source in found:
                    yield source, found[source], None if living is None else found.get(living)

    def _staged(self, space: SpaceRow, changed: Sequence[tuple[int, Memory]]) -> Iterator[Statement]:
        if not changed:
            return
        made = ready([memory for _, memory in changed], space, self._encoder)
        generation = None if self._encoder is None else self._encoder.identity
        yield from arrivals.begin(space)
        for number, ((source, _), new) in enumerate(zip(changed, made, strict=True)):
            yield from arrivals.instead(space, source, new, generation, number)
