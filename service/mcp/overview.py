"""The tool that gives an overview of a space: what there is, what is new, and what waits for a decision."""

from collections.abc import Iterable, Iterator, Sequence
from datetime import timedelta
from typing import Any

from muisti.core.model.outcomes import Count, OpenConflict
from muisti.core.model.times import from_us
from muisti.core.model.values import Memory
from muisti.core.query import filters
from muisti.service.mcp.arguments import Overview
from muisti.service.mcp.calls import Call, Json, Outcome
from muisti.service.mcp.fence import one_line
from muisti.service.mcp.rendering import NOTICE, counted, flat, quoted, shown

DAYS = 7  # a memory is new for so long, unless the caller says since when
NAMED = 30  # categories, and tags
NEW = 10  # new memories
WAITING = 5  # candidates, and conflicts
SHOWN = 200  # characters of a content
_SHOWN = ("id", "type", "category", "key", "tags", "status", "updated_at")


async def overview(call: Call, given: Overview) -> Outcome:
    """Count a space by category, type and tag; show what is new, candidates and open conflicts."""
    store, read = call.backend.store, call.memories.read
    now = from_us(call.backend.engine.now())
    since = given.since or (now - timedelta(days=DAYS)).isoformat(timespec="seconds")
    stats = await store(read.stats, call.space)
    categories = await store(read.categories, call.space)
    tags = await store(read.tags, call.space)
    new = await store(read.list, call.space, filter=given.changed_after(since), sort="-updated_at", limit=NEW)
    waiting = filters.parse({"status": "candidate"})
    candidates = await store(read.list, call.space, filter=waiting, sort="-updated_at", limit=WAITING)
    conflicts = await store(call.memories.review.conflicts, call.space, limit=WAITING)
    found: Json = {
        "memories": stats.memories,
        "types": dict(stats.by["type"]),
        "categories": _named(categories.items),
        "tags": _named(tags.items),
        "new": {"since": since, "memories": [_brief(one) for one in new.items], "more": new.next_cursor is not None},
        "candidates": {
            "count": stats.by["status"].get("candidate", 0),
            "memories": [_brief(one) for one in candidates.items],
        },
        "conflicts": {
            "open": [_conflict(one) for one in conflicts.items],
            "more": conflicts.next_cursor is not None,
        },
        "now": now.isoformat(timespec="seconds").replace("+00:00", "Z"),
    }
    return Outcome({**found, "notice": NOTICE}, "\n\n".join(_text(found)))


def _named(items: Sequence[Count]) -> Json:
    """Return the most frequent names with their counts, and how many names are left out."""
    counts = {one.name: one.count for one in items[:NAMED]}
    return {"counts": counts, "left_out": len(items) - len(counts)}


def _brief(memory: Memory) -> Json:
    """Return what a model needs to decide whether it should read a memory; a long content is cut."""
    whole = shown(memory)
    content = memory.content if len(memory.content) <= SHOWN else f"{memory.content[: SHOWN - 1]}…"
    return {**{name: whole[name] for name in _SHOWN if name in whole}, "content": content}


def _conflict(one: OpenConflict) -> Json:
    return {"kind": one.kind, "existing": _brief(one.existing), "new": _brief(one.new)}


def _text(found: Json) -> Iterator[str]:
    """Yield the parts of the overview as text; lines of memories are marked."""
    yield "\n".join([f"{counted(found['memories'])}. {NOTICE}", *_counts(found)])
    new, candidates, conflicts = found["new"], found["candidates"], found["conflicts"]
    more = ", and more: list_memories with changed_after" if new["more"] else ""
    yield f"Changed since {one_line(new['since'])}: {counted(len(new['memories']))} shown{more}."
    yield from map(quoted, new["memories"])
    yield f"Candidates, which recall does not show: {candidates['count']}."
    yield from map(quoted, candidates["memories"])
    yield f"Open conflicts: {len(conflicts['open'])} shown{', and more' if conflicts['more'] else ''}."
    for one in conflicts["open"]:
        yield f"{one['kind']}, the stored one, then the new one:\n{quoted(one['existing'])}\n{quoted(one['new'])}"


def _counts(found: Json) -> Iterator[str]:
    yield _line("types", found["types"].items(), 0)
    for name in ("categories", "tags"):
        yield _line(name, found[name]["counts"].items(), found[name]["left_out"])


def _line(name: str, counts: Iterable[tuple[Any, int]], left_out: int) -> str:
    told = ", ".join(f"{flat(one)} {number}" for one, number in counts) or "none"
    return f"{name}: {told}{f', and {left_out} more' if left_out else ''}"
