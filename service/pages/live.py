"""Live: changes of a space and reads of it as they happen, and who makes them."""

from collections.abc import Mapping
from typing import Any
from urllib.parse import quote, urlencode

from muisti.service.console.answers import Model, shows
from muisti.service.console.filter_form import CHANGES
from muisti.service.console.visit import Visit
from muisti.service.pages.space import before

LATEST = 25


@shows("live", "live.html", kinds=CHANGES)
async def show_live(visit: Visit, space: str) -> Model:
    """Show the latest changes and reads, which scripts continue as they happen."""
    asked = filters(visit.asked)
    at = (await visit.api.get_space(space))["seq"]
    changes = await visit.api.list_changes(space, since=before(at, LATEST), limit=LATEST, **asked)
    reads = await visit.api.list_reads(space, limit=LATEST) if visit.may("admin") else None
    return {
        "asked": {name: visit.asked.get(name, "") for name in ("change", "author")},
        "changes": list(reversed(changes["items"])),
        "stream": stream(space, "changes", {"since": at, **asked}),
        "reads": reads,
        "reads_stream": stream(space, "reads", {}),
        "place": visit.to("memories"),
        "receipts": visit.to("quality/receipts"),
    }


def filters(params: Mapping[str, str]) -> dict[str, Any]:
    """Return the filters of changes among the parameters of a page."""
    found: dict[str, Any] = {}
    if params.get("change") in CHANGES:
        found["change"] = params["change"]
    if params.get("author"):
        found["filters"] = {"author": params["author"]}
    return found


def stream(space: str, name: str, asked: Mapping[str, Any]) -> str:
    """Return the address of a stream of events of the API.

    >>> stream("a/b", "changes", {"since": "8a2e:7", "filters": {"author": "x"}})
    '/v1/spaces/a%2Fb/changes?since=8a2e%3A7&author=x'
    """
    flat = {name: value for name, value in asked.items() if name != "filters"} | dict(asked.get("filters", {}))
    return f"/v1/spaces/{quote(space, safe='')}/{name}" + (f"?{urlencode(flat)}" if flat else "")
