"""The page of a space: what is in it, what has changed lately, the first memory of an empty space, and undo."""

import asyncio
from collections.abc import Mapping, Sequence
from datetime import UTC, date, datetime, timedelta
from typing import Any

from litestar import Response

from muisti.service.console.answers import Model, back_from, does, shows
from muisti.service.console.filter_form import leading
from muisti.service.console.provenance import peek
from muisti.service.console.visit import Visit
from muisti.service.pages.memories import row

SHOWN = 8  # happenings of a page

# Words for changes that are not called so.
WORDS = {"created": "stored", "updated": "changed", "reembedded": "embedded again", "rolled_back": "rolled back"}


def before(seq: str, count: int) -> str:
    """Return the point that is some changes before another, or the beginning.

    >>> before("5b0f:230", 40), before("5b0f:3", 40)
    ('5b0f:190', '5b0f:0')
    """
    epoch, _, number = seq.rpartition(":")
    return f"{epoch}:{max(0, int(number) - count)}"


def told(changes: Sequence[Mapping[str, Any]], most: int = SHOWN) -> list[Model]:
    """Return what happened, newest first, of changes that come oldest first."""
    found: list[Model] = []
    last: tuple[Any, ...] | None = None
    for one in reversed(changes):
        group = (one["request"], one["change"], one["actor"])
        if group == last and one["request"] is not None:
            found[-1]["times"] += 1
            continue
        if len(found) == most:
            break
        last = group
        found.append(
            {
                "at": one["at"],
                "actor": one["actor"] or "the server",
                "word": WORDS.get(one["change"], one["change"]),
                "times": 1,
                "id": one["memory_id"],
            }
        )
    return found


DAYS = 30
WIDTH, HEIGHT = 20, 100  # of a day's bar at most, in units of the drawing
STORED, ENDED = ("created", "imported", "restored"), ("deleted", "expired", "erased")


def bars(by_day: Mapping[str, Mapping[str, int]], today: date) -> list[Model]:
    """Return the changes of the last days as bars of three parts: stored, changed, ended.

    >>> made = bars({"2026-05-02": {"created": 3, "updated": 1}}, date(2026, 5, 2))
    >>> len(made), made[-1]["said"], [(part["y"], part["height"]) for part in made[-1]["parts"]]
    (30, '2026-05-02: 3 stored, 1 changed, 0 ended', [(25.0, 75.0), (0.0, 25.0)])
    """
    days = [(today - timedelta(days=back)).isoformat() for back in reversed(range(DAYS))]
    most = max((sum(each.values()) for each in by_day.values()), default=0) or 1
    return [_bar(day, place * WIDTH, by_day.get(day, {}), HEIGHT / most) for place, day in enumerate(days)]


def _bar(day: str, x: int, kinds: Mapping[str, int], unit: float) -> Model:
    stored = sum(kinds.get(kind, 0) for kind in STORED)
    ended = sum(kinds.get(kind, 0) for kind in ENDED)
    changed = sum(kinds.values()) - stored - ended
    parts: list[Model] = []
    top = float(HEIGHT)
    for style, count in (("stored", stored), ("changed", changed), ("ended", ended)):
        top -= count * unit
        if count:
            parts.append({"style": style, "y": round(top, 1), "height": round(count * unit, 1)})
    return {"x": x, "parts": parts, "said": f"{day}: {stored:,} stored, {changed:,} changed, {ended:,} ended"}


RECENT = 8  # memories that the page shows
CHANGES = 100  # that it looks at
WHOLE = {"kind.ne": "chunk"}  # chunks are parts of documents, and come by the hundred


@shows("", "space.html")
async def show_space(visit: Visit, space: str) -> Model:
    """Show a space with its sizes, its newest memories and its last changes."""
    found, stats, categories, newest = await asyncio.gather(
        visit.api.get_space(space),
        visit.api.get_stats(space, **visit.at),
        visit.api.list_categories(space, **visit.at),
        visit.api.list_memories(space, limit=RECENT, filters=WHOLE, **visit.at),
    )
    return {
        "found": found,
        "stats": stats,
        "rows": [row(one) for one in newest["items"]],
        "happened": await _happened(visit, space, found["seq"]) if visit.as_of is None else [],
        "kinds": list(stats["by"]["kind"].items()),
        "bars": bars(stats["by_day"], datetime.now(UTC).date()) if visit.as_of is None else [],
        "most": max((sum(each.values()) for each in stats["by_day"].values()), default=0),
        "categories": leading(categories["items"], 8),
    }


async def _happened(visit: Visit, space: str, seq: str) -> list[dict[str, Any]]:
    """Return the last happenings, newest first, each with a look at its first memory."""
    since = before(seq, CHANGES)
    found: Any = (await visit.api.list_changes(space, since=since, limit=CHANGES, show="ids"))["items"]
    happened = told(found)
    looks = {one.id: one for one in await peek(visit, [one["id"] for one in happened if one["id"]])}
    return [{"what": one, "look": looks.get(one["id"])} for one in happened]


@does("undo")
async def undo(visit: Visit, space: str) -> Response[None]:
    """Undo all changes of one request, and go back to the page."""
    await visit.api.undo(space, {"request": str(visit.form["request"])})
    return back_from(visit, "undone")
