"""Echo check: find out whether a caller stores what the same caller has just found, and apply the policy."""

from typing import cast

import msgspec
from msgspec.structs import replace

from muisti.core.model.collisions import Echo
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
    """Check drafts for echoes. `default` is the policy of spaces without their own."""

    database: Database
    recent_results: RecentResults
    default: Policy

    def marked(self, space: SpaceRow, draft: Draft, call: Call, path: str) -> tuple[Draft, tuple[Flag, ...]]:
        """Return the draft to store. An echo is derived from the memories that it repeats.

        `path` locates the draft in the request. A draft that names one of these memories in `derived_from` is no echo.

        Raises:
            Echo: the policy refuses echoes.
        """
        if self.asks_nothing(space):
            return draft, ()
        ids = self.recent_results.echoed(call.caller.actor, space.space.epoch, draft.content, call.now)
        if not ids or not set(ids).isdisjoint(canonical(draft.derived_from)):
            return draft, ()
        if self._policy(space) == "refuse":
            raise Echo(ids, path)
        sources = (*draft.derived_from, *self._living(space, ids, call))[:SOURCES_MAX]
        return replace(draft, derived_from=sources), (Flag(code="echo", path=f"{path}.content", ids=ids),)

    def asks_nothing(self, space: SpaceRow) -> bool:
        """Return whether the space allows echoes, so that no check is needed."""
        return self._policy(space) in (None, "allow")

    def _policy(self, space: SpaceRow) -> Policing | None:
        return space.space.policy.over(self.default).echoes

    def _living(self, space: SpaceRow, ids: tuple[str, ...], call: Call) -> list[str]:
        """Return the memories that are still current. A deleted memory may be repeated but cannot be a source."""
        (rows,) = self.database.read([memories.trusts(space, ids, living=True)])
        found = {id_text(cast(bytes, row[0])) for row in rows if call.caller.shows(row[2])}
        return [one for one in ids if one in found]
