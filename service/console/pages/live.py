"""Live: changes of a space and reads of it as they happen, and who makes them."""

from collections.abc import Mapping
from typing import Any
from urllib.parse import quote, urlencode

from muisti.client.types import ReadsReply
from muisti.service.console import render as shown
from muisti.service.console.answers import Model, shows
from muisti.service.console.visit import Visit

LATEST = 25
KINDS = (
    *("created", "updated", "superseded", "restored", "deleted", "undone", "expired"),
    *("reembedded", "rolled_back", "merged", "forked"),
)


@shows("live", "live.html")
async def show_live(visit: Visit, space: str) -> Model:
    """Show the latest changes and reads, which scripts continue as they happen."""
    asked = filters(visit.request.query_params)
    at = (await visit.api.get_space(space))["seq"]
    changes = await visit.api.list_changes(space, since=before(at, LATEST), limit=LATEST, **asked)
    reads = await visit.api.list_reads(space, limit=LATEST) if visit.may("admin") else None
    return {
        "asked": {name: visit.request.query_params.get(name, "") for name in ("change", "author")},
        "kinds": KINDS,
        "changes": [change_row(visit, one) for one in reversed(changes["items"])],
        "stream": stream(space, "changes", {"since": at, **asked}),
        "reads": None if reads is None else [read_row(visit, one) for one in reads["items"]],
        "reads_stream": stream(space, "reads", {}),
        "log": None if reads is None else log(reads),
        "place": visit.to("memories"),
        "receipts": visit.to("quality/receipts"),
    }


def filters(params: Mapping[str, str]) -> dict[str, Any]:
    """Return the filters of changes among the parameters of a page."""
    found: dict[str, Any] = {}
    if params.get("change") in KINDS:
        found["change"] = params["change"]
    if params.get("author"):
        found["filters"] = {"author": params["author"]}
    return found


def before(seq: str, count: int) -> str:
    """Return the point that lies some changes before another.

    >>> before("8a2e:120", 50), before("8a2e:7", 50)
    ('8a2e:70', '8a2e:0')
    """
    epoch, _, number = seq.rpartition(":")
    return f"{epoch}:{max(0, int(number) - count)}"


def stream(space: str, name: str, asked: Mapping[str, Any]) -> str:
    """Return the address of a stream of events of the API.

    >>> stream("a/b", "changes", {"since": "8a2e:7", "filters": {"author": "x"}})
    '/v1/spaces/a%2Fb/changes?since=8a2e%3A7&author=x'
    """
    flat = {name: value for name, value in asked.items() if name != "filters"} | dict(asked.get("filters", {}))
    return f"/v1/spaces/{quote(space, safe='')}/{name}" + (f"?{urlencode(flat)}" if flat else "")


def change_row(visit: Visit, change: Mapping[str, Any]) -> dict[str, Any]:
    """Return a change as a row: what happened to which memory, when and by whom."""
    memory = change.get("after") or change.get("before")
    return {
        "at": change["at"],
        "change": change["change"],
        "actor": change["actor"],
        "text": "the space itself"
        if change["memory_id"] is None
        else shown.short((memory or {}).get("content", ""), 120),
        "url": None if change["memory_id"] is None else visit.to(f"memories/{change['memory_id']}"),
    }


def read_row(visit: Visit, read: Mapping[str, Any]) -> dict[str, Any]:
    """Return a read as a row; its receipt leads to the answer."""
    receipt = read["receipt"]
    return {
        **{name: read[name] for name in ("at", "operation", "actor", "hits", "evidence")},
        "ms": f"{read['ms']:.1f}",
        "url": None if receipt is None else visit.to(f"quality/receipts/{receipt}"),
    }


def log(reads: ReadsReply) -> dict[str, Any]:
    """Return the state of the log of reads."""
    return {"on": reads["mode"] != "off", "since": reads["since"], "size": reads["size"], "process": reads["process"]}
