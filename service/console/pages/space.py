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
from muisti.service.console.peeking import peek
from muisti.service.console.render import View
from muisti.service.console.visit import Visit

RECENT = 6  # memories that the page shows
CHANGES = 100  # that it looks at
WHOLE = {"kind.ne": "chunk"}  # chunks are parts of documents, and come by the hundred


@get(f"{ROOT}/spaces/{{space:str}}")
async def show_space(space: FromPath[str], visit: NamedDependency[Visit]) -> Response[str]:
    """Show a space with its sizes, its newest memories and its last changes."""
    found, stats, newest = await asyncio.gather(
        visit.api.get_space(space),
        visit.api.get_stats(space, **visit.at),
        visit.api.list_memories(space, limit=RECENT, filters=WHOLE, **visit.at),
    )
    model = {
        "found": found,
        "stats": stats,
        "rows": [row(one) for one in newest["items"]],
        "happened": await _happened(visit, space, found["seq"]) if visit.as_of is None else [],
        "kinds": list(stats["by"]["kind"].items()),
    }
    return page(visit, View("space.html", model))


async def _happened(visit: Visit, space: str, seq: str) -> list[dict[str, Any]]:
    """Return the last happenings, newest first, each with a look at its first memory."""
    since = before(seq, CHANGES)
    found: Any = (await visit.api.list_changes(space, since=since, limit=CHANGES, show="ids"))["items"]
    happened = told(found)
    looks = {one.id: one for one in await peek(visit, [one.id for one in happened if one.id])}
    return [{"what": one, "look": looks.get(one.id) if one.id else None} for one in happened]


ROUTES = (show_space,)
