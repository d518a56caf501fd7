"""Compute the trust of a memory: that of its source class, and at most that of the memories it is derived from."""

from collections.abc import Sequence
from typing import cast

import msgspec

from muisti.core.identity.caller import Caller
from muisti.core.model.errors import InvalidInput, Problem
from muisti.core.model.ids import id_text
from muisti.core.model.outcomes import Flag
from muisti.core.model.values import TRUST, Draft, Memory
from muisti.core.store.database import Database, Statement
from muisti.core.store.sql import guards, memories
from muisti.core.store.sql.spaces import SpaceRow
from muisti.core.write.prepare import canonical


class Lineage(msgspec.Struct, frozen=True):
    """The trust of a version in percent, flags for the caller, and statements that guard the trust in the batch."""

    trust: int
    flags: tuple[Flag, ...] = ()
    statements: tuple[Statement, ...] = ()


class Provenance:
    """Read the memories that drafts are derived from. Instances are thread-safe."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def of_new(self, space: SpaceRow, draft: Draft, caller: Caller, path: str = "$") -> Lineage:
        """Return the lineage of a new memory, or of one that replaces another. `path` locates the draft in the request.

        Raises:
            InvalidInput: the draft is derived from a memory that does not exist.
        """
        ids = canonical(draft.derived_from)
        if not ids:
            return Lineage(TRUST[draft.source_class])
        return _lineage(space, draft, self._living(space, ids, caller, path), path, {})

    def of_changed(self, space: SpaceRow, draft: Draft, before: Memory, caller: Caller) -> Lineage:
        """Return the lineage of a changed memory. Its sources stay, even when they were deleted or erased.

        Raises:
            InvalidInput: the draft drops a source, or names a memory that does not exist.
        """
        ids = canonical(draft.derived_from)
        if draft.source_class == before.source_class and ids == before.derived_from:
            return Lineage(before.trust)
        lost = [one for one in before.derived_from if one not in ids]
        if lost:
            raise InvalidInput.at("$.derived_from", f"lacks {lost[0]}; a source of a memory cannot be removed")
        fresh = [one for one in ids if one not in before.derived_from]
        living = self._living(space, fresh, caller, "$") if fresh else {}
        return _lineage(space, draft, living, "$", self._last(space, before))

    def lowered(self, space: SpaceRow, memory: Memory, echo: Sequence[Flag], path: str) -> tuple[int, tuple[Flag, ...]]:
        """Return the trust of a memory that repeats others, and a flag if that is lower than before."""
        ids = [one for flag in echo for one in flag.ids]
        (rows,) = self._database.read([memories.trusts(space, ids, living=True)]) if ids else ([],)
        found = {id_text(cast(bytes, row[0])): cast(int, row[1]) for row in rows}
        trust = min(found.values(), default=memory.trust)
        if trust >= memory.trust:
            return memory.trust, ()
        lowest = tuple(one for one, trusted in found.items() if trusted == trust)
        return trust, (Flag(code="trust_lowered", path=f"{path}.derived_from", kind=memory.source_class, ids=lowest),)

    def check_parent(self, space: SpaceRow, draft: Draft, caller: Caller, path: str = "$") -> None:
        """Raise `InvalidInput` when the caller names a parent that it may not read, as if there were none.

        The batch refuses a parent that does not exist.
        """
        named = () if draft.parent_id is None or caller.sees_all else canonical((draft.parent_id,))
        if not named:
            return
        (rows,) = self._database.read([memories.trusts(space, named, living=True)])
        if not any(caller.may_read(row[2]) for row in rows):
            raise InvalidInput.at(f"{path}.parent_id", f"no memory {named[0]} in this space")

    def _living(self, space: SpaceRow, ids: Sequence[str], caller: Caller, path: str) -> dict[str, int]:
        (rows,) = self._database.read([memories.trusts(space, ids, living=True)])
        found = {id_text(cast(bytes, row[0])): cast(int, row[1]) for row in rows if caller.may_read(row[2])}
        missing = [one for one in ids if one not in found]
        if missing:
            raise InvalidInput([Problem(f"{path}.derived_from", f"no memory {one} in this space") for one in missing])
        return found

    def _last(self, space: SpaceRow, before: Memory) -> dict[str, int]:
        """Return the trust of the sources of a memory. An erased source counts with the trust of the memory itself."""
        if not before.derived_from:
            return {}
        (rows,) = self._database.read([memories.trusts(space, before.derived_from, living=False)])
        found = {id_text(cast(bytes, row[0])): cast(int, row[1]) for row in rows}
        return {one: found.get(one, before.trust) for one in before.derived_from}


def _lineage(space: SpaceRow, draft: Draft, living: dict[str, int], path: str, earlier: dict[str, int]) -> Lineage:
    sources = living | earlier
    trust = min([TRUST[draft.source_class], *sources.values()])
    statements = (guards.refuse_less_trusted(space, list(living), trust),) if living else ()
    if trust == TRUST[draft.source_class]:
        return Lineage(trust, (), statements)
    lowest = tuple(one for one, trusted in sources.items() if trusted == trust)
    flag = Flag(code="trust_lowered", path=f"{path}.derived_from", kind=draft.source_class, ids=lowest)
    return Lineage(trust, (flag,), statements)
