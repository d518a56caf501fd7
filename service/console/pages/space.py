"""The page of a space: what is in it, what has changed lately, and the first memory of an empty space."""

import asyncio
from typing import Any

from litestar import Response, get
from litestar.di import NamedDependency
from litestar.params import FromPath

from muisti.service.console.answers import page
from muisti.service.console.happened import before, told
from muisti.service.console.mount import ROOT
from muisti.service.console.pages.memories import row
from muisti.service.console.render import View
from muisti.service.console.visit import Visit

RECENT = 6  # memories that the page shows
CHANGES = 40  # that it looks at


@get(f"{ROOT}/spaces/{{space:str}}")
async def show_space(space: FromPath[str], visit: NamedDependency[Visit]) -> Response[str]:
    """Show a space with its sizes, its newest memories and its last changes."""
    found, stats, newest = await asyncio.gather(
        visit.api.get_space(space),
        visit.api.get_stats(space, **visit.at),
        visit.api.list_memories(space, limit=RECENT, **visit.at),
    )
    model = {
        "found": found,
        "stats": stats,
        "rows": [row(one) for one in newest["items"]],
        "happened": told(await _changes(visit, space, found["seq"])) if visit.as_of is None else [],
        "kinds": list(stats["by"]["kind"].items()),
    }
    return page(visit, View("space.html", model))


async def _changes(visit: Visit, space: str, seq: str) -> Any:
    """Return the last changes, oldest first."""
    return (await visit.api.list_changes(space, since=before(seq, CHANGES), limit=CHANGES, show="both"))["items"]


ROUTES = (show_space,)
