"""The policy of a space, applied to what somebody stores who has just found it."""

from typing import cast

import msgspec
from msgspec.structs import replace

from muisti.core.model.errors import Echo
from muisti.core.model.ids import id_text
from muisti.core.model.outcomes import Flag
from muisti.core.model.spaces import Policy
from muisti.core.model.terms import Echoes as Policing
from muisti.core.model.values import SOURCES_MAX, Draft
from muisti.core.store.database import Database
from muisti.core.store.sql import memories
from muisti.core.store.sql.spaces import SpaceRow
from muisti.core.write.begun import Call
from muisti.core.write.prepare import canonical
from muisti.core.write.recent_results import RecentResults


class EchoCheck(msgspec.Struct, frozen=True):
    """`default` holds where a space has no policy of its own."""

    database: Database
    served: RecentResults
    default: Policy

    def marked(self, space: SpaceRow, draft: Draft, call: Call, path: str) -> tuple[Draft, tuple[Flag, ...]]:
        """The draft as it may be stored: an echo is derived from what it repeats. `path` is where it stands.

        Who says of a draft that it is derived from what it repeats makes no echo.

        Raises:
            Echo: the space takes none.
        """
        if self.asks_nothing(space):
            return draft, ()
        ids = self.served.echoed(call.caller.actor, space.space.epoch, draft.content, call.now)
        if not ids or not set(ids).isdisjoint(canonical(draft.derived_from)):
            return draft, ()
        if self._policy(space) == "refuse":
            raise Echo(ids, path)
        sources = (*draft.derived_from, *self._living(space, ids, call))[:SOURCES_MAX]
        return replace(draft, derived_from=sources), (Flag(code="echo", path=f"{path}.content", ids=ids),)

    def asks_nothing(self, space: SpaceRow) -> bool:
        """Whether the space takes echoes like anything else."""
        return self._policy(space) in (None, "allow")

    def _policy(self, space: SpaceRow) -> Policing | None:
        return space.space.policy.over(self.default).echoes

    def _living(self, space: SpaceRow, ids: tuple[str, ...], call: Call) -> list[str]:
        """Those that are still there; what was deleted meanwhile may be repeated, but not named as a source."""
        (rows,) = self.database.read([memories.trusts(space, ids, living=True)])
        found = {id_text(cast(bytes, row[0])) for row in rows if call.caller.shows(row[2])}
        return [one for one in ids if one in found]
