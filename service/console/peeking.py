"""Short looks at memories by their ids, for links that say what they lead to."""

import asyncio
from collections.abc import Iterable
from typing import Any, NamedTuple

from muisti.client import MuistiError
from muisti.service.console.provenance import title_of
from muisti.service.console.visit import Visit

PEEKED = 12  # memories whose text is read; others are links with their ids


class Peek(NamedTuple):
    """A memory that is linked. `text` is None when it is not there, is another's, or was not read."""

    id: str
    text: str | None = None
    ended: bool = False
    kind: str | None = None


async def peek(visit: Visit, ids: Iterable[str]) -> list[Peek]:
    """Return a link for each id, the first ones with their text."""
    every = list(dict.fromkeys(ids))
    read = await asyncio.gather(*(_peek(visit, one) for one in every[:PEEKED]))
    return [*read, *(Peek(one) for one in every[PEEKED:])]


async def _peek(visit: Visit, memory_id: str) -> Peek:
    assert visit.space is not None
    try:
        found: Any = await visit.api.get_memory(visit.space, memory_id, no_touch=True, **visit.at)
        return Peek(memory_id, title_of(found), kind=found["kind"])
    except MuistiError as error:
        if error.status != 404:
            raise
    try:
        last: Any = (await visit.api.get_history(visit.space, memory_id))["items"][0]["memory"]
    except MuistiError as error:
        if error.status != 404:
            raise
        return Peek(memory_id)
    return Peek(memory_id, title_of(last), ended=True, kind=last["kind"])
