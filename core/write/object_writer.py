"""Stores objects, such as topics, summaries and what people say of the graph. They pass the intake like all text."""

from collections.abc import Callable, Sequence
from typing import cast

import msgspec

from muisti.core.model.ids import id_text
from muisti.core.model.outcomes import Written
from muisti.core.model.values import Draft, Memory
from muisti.core.store.database import Row, Statement
from muisti.core.store.sql import changes, inserting, quotas, version_rows
from muisti.core.store.sql.spaces import SpaceRow
from muisti.core.write.calls import Call, Part
from muisti.core.write.intake import Intake
from muisti.core.write.prepare import again, ready
from muisti.core.write.transactions import Transactions


class Plan(msgspec.Struct, frozen=True, kw_only=True):
    """Changes of objects that one batch makes: those that end, those that change, and those that are new.

    `guards` refuse the batch when what it was planned by has changed.
    """

    guards: Sequence[Statement] = ()
    ends: Sequence[Memory] = ()
    changes: Sequence[tuple[Row, Draft]] = ()
    comes: Sequence[Draft] = ()


class Keeper(msgspec.Struct, frozen=True):
    """Writes objects of the hierarchy. Thread-safe."""

    store: Transactions
    intake: Intake

    def run(self, space: str, call: Call, attempt: Callable[[SpaceRow], Written]) -> Written:
        """Return what an attempt returns that nobody overtakes; see `Transactions.run`."""
        return self.store.run(space, call, attempt)

    def commit(self, space: SpaceRow, plan: Plan, call: Call) -> Written:
        """Run a plan as one batch. What ends and what changes must be in the version that was read.

        Raises:
            Overtaken: something has changed since it was read.
            PlaceTaken: an object of the name of a new one exists.
            InvalidInput, SensitiveContent, Forbidden, QuotaExceeded.
        """
        total = len(plan.ends) + len(plan.changes) + len(plan.comes)
        if not total:
            return self.store.nothing(space, call)
        parts = guarded(
            plan, [*self.before(space, plan, len(plan.comes), call), *self._additions(space, plan.comes, call)]
        )
        last = parts[-1]
        limits = quotas.refuse_more(space, self.store.quota)
        parts[-1] = msgspec.structs.replace(last, statements=[*last.statements, limits])
        return self.store.write(space, parts, call, created=bool(plan.comes), embedded=False)

    def before(self, space: SpaceRow, plan: Plan, after: int, call: Call) -> list[Part]:
        """Return the parts of a batch for what ends and changes; `after` more changes come after them.

        Raises:
            InvalidInput, SensitiveContent, Forbidden.
        """
        total = len(plan.ends) + len(plan.changes) + after
        parts: list[Part] = []
        for memory in plan.ends:
            parts.append(Part(memory, self._end(space, memory, total - len(parts) - 1, call), told=False))
        for row, draft in plan.changes:
            parts.append(self._change(space, row, draft, total - len(parts) - 1, call))
        return parts

    def _end(self, space: SpaceRow, memory: Memory, offset: int, call: Call) -> list[Statement]:
        return [
            inserting.refuse_stale(memory),
            inserting.end(space, memory, offset),
            changes.record(space, "deleted", call.caller, memory, offset),
        ]

    def _change(self, space: SpaceRow, row: Row, draft: Draft, offset: int, call: Call) -> Part:
        before = version_rows.memory(row, space.space.name)
        accepted = self.intake.changed(space, draft, before, call)
        new = again(accepted.next(before, call.now), before, cast(int, row[0]), space, self.store.models)
        statements = [
            inserting.refuse_stale(before),
            *accepted.statements,
            inserting.end(space, before, offset),
            *self.store.guarded_insertion(space, new, "updated", call.caller, offset),
        ]
        return Part(new.memory, statements)

    def _additions(self, space: SpaceRow, drafts: Sequence[Draft], call: Call) -> list[Part]:
        places = ["$"] * len(drafts)
        accepted = self.intake.batch(space, drafts, call, places, echoes=False, hierarchy=True)
        made = [one.first(space, id_text(self.store.ids.new(call.now)), call.now) for one in accepted]
        versions = ready(made, space, self.store.models)
        return [
            Part(
                new.memory, [*one.statements, *self.store.guarded_insertion(space, new, "created", call.caller, offset)]
            )
            for one, new, offset in zip(accepted, versions, range(len(made) - 1, -1, -1), strict=True)
        ]


def guarded(plan: Plan, parts: Sequence[Part]) -> list[Part]:
    """Return the parts of a batch, the first with the guards of a plan."""
    first, *others = parts
    return [msgspec.structs.replace(first, statements=[*plan.guards, *first.statements]), *others]
