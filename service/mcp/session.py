"""One request: who calls, in which space, with which groups of tools."""

from secrets import token_hex

import msgspec
from msgspec.structs import replace

from muisti.core.identity.caller import Caller
from muisti.core.model.errors import InvalidInput
from muisti.core.model.spaces import DEFAULT
from muisti.core.views.memories import Memories
from muisti.service.auth.access import Access, Need, check, single_space
from muisti.service.mcp.citations import RESOURCE
from muisti.service.observability.reads import Operation, Reading
from muisti.service.runtime.bulkheads import LANE, Lane
from muisti.service.runtime.workers import Backend
from muisti.service.settings.tool_groups import USUAL, Group, groups_in


class Session(msgspec.Struct, frozen=True):
    """A caller, the engine, and the groups of tools that the caller is offered. `citation` is the form of URLs.

    `request_id` is recorded with each change, so that an undo takes back a whole call of a tool. It is that of the HTTP
    request. Stdio has none, so each call is `numbered`.
    """

    backend: Backend
    access: Access
    groups: frozenset[Group] = groups_in(USUAL)
    request_id: str | None = None
    citation: str = RESOURCE

    def reading(self, operation: Operation) -> Reading:
        """Begin a read; see `ReadLog.reading`."""
        return self.backend.reads.reading(operation, self.access.actor, self.request_id)

    def numbered(self) -> "Session":
        """Return the session of one call of a tool: with an id of its own when the transport gave none."""
        return self if self.request_id is not None else replace(self, request_id=token_hex(8))

    def caller(self) -> Caller:
        """Return the caller for the core."""
        return self.access.caller(self.request_id)

    def memories(self, *, dry_run: bool = False) -> Memories:
        """Return the memories as the caller sees them. `dry_run`: writes are planned and nothing is stored."""
        return self.backend.engine.seen_by(self.caller(), dry_run=dry_run)

    def usual_space(self) -> str | None:
        """Return the space of a call that names none: the only one of the key, else the default; None: neither."""
        grant = self.access.grant
        return single_space(grant) or (DEFAULT if grant.reaches(DEFAULT) else None)

    def space(self, named: str | None, need: Need) -> str:
        """Return the space of a call.

        Raises:
            InvalidInput: none is named, and there is no usual one.
            NotFound, HttpError: the caller may not do this in that space.
        """
        space = named or self.usual_space()
        if space is None:
            names = "; list_spaces names them" if self.access.may("read") else ""
            raise InvalidInput.at("$.space", f"name a space: this key has several{names}")
        check(self.access, need, space)
        LANE.set(Lane(False, space, self.access.lane_key))
        return space

    async def spaces(self) -> dict[str, str | None]:
        """Map the names of the existing spaces that the caller may use to their descriptions."""
        found = await self.backend.store(self.backend.engine.spaces.list)
        return {space.name: space.settings.description for space in found if self.access.grant.reaches(space.name)}
