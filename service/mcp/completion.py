"""Completion of arguments: spaces, categories, tags."""

from collections.abc import Mapping

import mcp_types as types

from muisti.service.mcp.session import Session

VALUES_MAX = 100  # by the protocol


async def complete(session: Session, name: str, begun: str, known: Mapping[str, str]) -> types.Completion:
    """Return the values of an argument that begin with `begun`. `known` are the arguments filled in already."""
    if not session.access.may("read"):
        return types.Completion(values=[], total=0, has_more=False)
    folded = begun.casefold()
    found = [value for value in await _values(session, name, known) if value.casefold().startswith(folded)]
    return types.Completion(values=found[:VALUES_MAX], total=len(found), has_more=len(found) > VALUES_MAX)


async def _values(session: Session, name: str, known: Mapping[str, str]) -> list[str]:
    if name == "space":
        return [*await session.spaces()]
    if name not in ("category", "tag", "tags"):
        return []
    space = session.space(known.get("space"), "read")
    counted = session.memories().read.categories if name == "category" else session.memories().read.tags
    return [one.name for one in (await session.backend.store(counted, space)).items]
