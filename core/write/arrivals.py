"""Apply the policy of a space to steps that make many memories current together: merges and roll-backs.

Such a step copies rows inside the database. A version that the policy accepts unchanged is copied as a row. A version
that the policy redacts is stored in a staging space and copied from there; the batch deletes that space.
"""

from collections.abc import Iterator, Sequence
from typing import cast

import msgspec

from muisti.core.embedding.models import Models
from muisti.core.model.errors import Problem, SensitiveContent
from muisti.core.model.outcomes import Flag
from muisti.core.model.values import Memory
from muisti.core.store.database import Database, Rows, Statement
from muisti.core.store.sql import bulk_replace, memories, version_rows
from muisti.core.store.sql.spaces import SpaceRow
from muisti.core.write.begun import Call
from muisti.core.write.intake import Intake, place_of
from muisti.core.write.prepare import ready

PAGE = 500  # versions in one read
NAMED = 100  # memories listed in a refusal


class Allowed(msgspec.Struct, frozen=True):
    """Statements to run after those of the plan, statements that end the batch, and the flags of redacted text."""

    plan: Sequence[Statement] = ()
    end: Sequence[Statement] = ()
    flags: tuple[Flag, ...] = ()


class Arrivals:
    """Policy checks of merges and roll-backs. Instances are thread-safe. `models` embed the texts."""

    def __init__(self, database: Database, models: Models, intake: Intake) -> None:
        self._database, self._models, self._intake = database, models, intake

    def allowed(self, space: SpaceRow, planned: Sequence[Statement], call: Call, *, are_new: bool) -> Allowed:
        """Return the statements that apply the policy to a plan.

        `are_new`: memories that are not current in the space were never in it.

        Raises:
            SensitiveContent: the policy refuses text that would become current; the paths name the memories.
            Echo: the policy refuses echoes, and one of the memories repeats what the caller has just found.
            Refused: the plan is no longer valid.
        """
        if self._intake.asks_nothing(space, call):
            return Allowed()
        rows = self._database.rehearse([*planned, bulk_replace.planned()])[-1]
        problems, flags, changed = list[Problem](), list[Flag](), list[tuple[int, Memory]]()
        for source, memory, current in self._read(space, rows):
            is_new = are_new and current is None
            try:
                accepted, redactions = self._intake.brought(
                    space, memory, current, call, place_of(memory.id), is_new=is_new
                )
            except SensitiveContent as refusal:
                problems += refusal.problems
                continue
            flags += redactions
            if accepted is not memory:
                changed.append((source, accepted))
        if problems:
            raise SensitiveContent(problems[:NAMED])
        seen = bulk_replace.refuse_others(cast(list[tuple[int, int | None]], rows))
        return Allowed(
            [seen, *self._staged(space, changed)], bulk_replace.clear_arrivals() if changed else [], tuple(flags)
        )

    def _read(self, space: SpaceRow, rows: Rows) -> Iterator[tuple[int, Memory, Memory | None]]:
        """Yield for each memory the source row, the version that would become current, and the current one or None."""
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
        made = ready([memory for _, memory in changed], space, self._models)
        yield from bulk_replace.begin_arrivals(space)
        for number, ((source, _), new) in enumerate(zip(changed, made, strict=True)):
            yield from bulk_replace.instead(space, source, new, number)
