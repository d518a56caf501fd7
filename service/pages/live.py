"""Live: changes of a space and reads of it as they happen, and who makes them."""

from collections.abc import Mapping, Sequence
from typing import Any
from urllib.parse import quote, urlencode

from muisti.service.console.answers import Model, shows
from muisti.service.console.filter_form import CHANGES
from muisti.service.console.visit import Visit
from muisti.service.pages.space import before

LATEST = 25  # rows of a table
CHANGES_READ = 100  # of which the latest rows are made


@shows("live", "live.html", kinds=CHANGES)
async def show_live(visit: Visit, space: str) -> Model:
    """Show the latest changes and reads, which scripts continue as they happen."""
    asked = filters(visit.asked)
    at = (await visit.api.get_space(space))["seq"]
    changes = await visit.api.list_changes(space, since=before(at, CHANGES_READ), limit=CHANGES_READ, **asked)
    reads = await visit.api.list_reads(space, limit=LATEST) if visit.may("admin") else None
    return {
        "asked": {name: visit.asked.get(name, "") for name in ("change", "author")},
        "changes": rows(changes["items"])[:LATEST],
        "stream": stream(space, "changes", {"since": at, **asked}),
        "reads": reads,
        "reads_stream": stream(space, "reads", {}),
        "space_page": visit.to(),
    }


def rows(changes: Sequence[Any]) -> list[Model]:
    """Return the changes, newest first: those of one request and kind as one row, with their count.

    >>> each = {"request": "r", "change": "created", "memory_id": "m", "after": {"content": "Tea"}}
    >>> [(one["text"], one["times"]) for one in rows([each, each, {**each, "request": None}])]
    [('Tea', 1), ('Tea', 2)]
    """
    found: dict[Any, Model] = {}
    for number, one in enumerate(changes):
        memory: Mapping[str, Any] = one.get("after") or one.get("before") or {}
        group = (one["request"], one["change"]) if one["request"] else number
        before = found.pop(group, {"times": 0, "partly": number == 0 and len(changes) == CHANGES_READ})
        text = memory.get("document") or memory.get("content") or ""
        found[group] = {**one, "times": before["times"] + 1, "partly": before["partly"], "text": text}
    return list(reversed(found.values()))


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
