"""One request: who calls, in which space."""

import msgspec

from core.errors import InvalidInput
from core.memories import Memories
from core.store.spaces import DEFAULT
from service.access import Access, Need, check, single_space
from service.workers import Backend


class Session(msgspec.Struct, frozen=True):
    """A caller and the engine."""

    backend: Backend
    access: Access

    @property
    def memories(self) -> Memories:
        return self.backend.engine.seen_by(self.access.caller())

    def space(self, named: str | None, need: Need) -> str:
        """The space of a call: the one that is named, else the only one of the key, else the default.

        Raises:
            InvalidInput: none is named, and none goes without saying.
            NotFound, HttpError: the caller may not.
        """
        space = named or single_space(self.access.grant) or (DEFAULT if self.access.grant.reaches(DEFAULT) else None)
        if space is None:
            raise InvalidInput.at("$.space", "name a space; this key has several")
        check(self.access, need, space)
        return space

    async def spaces(self) -> list[str]:
        """The names of the spaces that the caller may touch and that there are."""
        found = await self.backend.store(self.backend.engine.spaces.list)
        return [space.name for space in found if self.access.grant.reaches(space.name)]
