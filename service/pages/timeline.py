"""Time: checkpoints, what changed between two points, the way back to one, and the slider of the console."""

import asyncio
from collections import Counter
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from typing import Any
from urllib.parse import parse_qsl, urlencode, urlsplit

from litestar import Response

from muisti.client import MuistiError, calls
from muisti.service.console.answers import Answer, Model, does, done, is_own, shows
from muisti.service.console.render import View
from muisti.service.console.versions import around, diff, field_change
from muisti.service.console.visit import AS_OF, OF_NOW, Visit
from muisti.service.pages.memories import row

WORDS: Mapping[str, str] = {"added": "added", "changed": "changed", "ended": "deleted"}


def line(created_at: str, checkpoints: Iterable[Mapping[str, Any]], now: datetime) -> list[Model]:
    """Return the checkpoints in order, with their places between the creation of the space and now."""
    begin = datetime.fromisoformat(created_at)
    whole = max((now - begin).total_seconds(), 1.0)
    found = [(datetime.fromisoformat(one["created_at"]), one) for one in checkpoints]
    return [
        {
            "name": one["name"],
            "at": one["created_at"],
            "second": second(at),
            "place": round(min(max((at - begin).total_seconds() / whole, 0), 1) * 100, 2),
        }
        for at, one in sorted(found, key=lambda each: each[0])
    ]


def second(at: datetime) -> int:
    """Return the seconds since 1970, rounded up, so that what happened at `at` is part of it.

    >>> second(datetime.fromisoformat("1970-01-01T00:00:01.5+00:00"))
    2
    """
    return -int(-at.timestamp() // 1)


def told(items: Iterable[Mapping[str, Any]]) -> list[Model]:
    """Return the differences of two points with their words marked."""
    found: list[Model] = []
    for one in items:
        before, after = one["before"] or {}, one["after"] or {}
        pieces = around(diff(before.get("content", ""), after.get("content", "")))
        others = [each for each in one["changes"] if each["field"] != "content"] if before and after else []
        author = (after or before)["author"] or ""
        changes = [field_change(each) for each in others]
        found.append({**one, "change": WORDS[one["change"]], "pieces": pieces, "changes": changes, "author": author})
    return found


def count(items: Iterable[Mapping[str, Any]]) -> list[tuple[str, int]]:
    """Return how many were added, changed and deleted.

    >>> count([{"change": "ended"}])
    [('added', 0), ('changed', 0), ('deleted', 1)]
    """
    found = Counter(one["change"] for one in items)
    return [(word, found[name]) for name, word in WORDS.items()]


PAGE = 20
EXAMPLES = 3
COUNTED = 100  # differences that the line counts
NEWEST = 10  # memories of the time that the line chooses
DAY = 86_400  # seconds


@shows("time", "time.html", block="then")
async def show_time(visit: Visit, space: str) -> Model:
    """Show the checkpoints on a line and as a list, and the space as it was at the second that the line chooses."""
    found, listed = await asyncio.gather(visit.api.get_space(space), visit.api.list_checkpoints(space))
    now, begin = datetime.now(UTC), datetime.fromisoformat(found["created_at"])
    first, last = second(begin), max(second(begin), int(now.timestamp()))
    chosen = _number(visit.asked.get("second"), first, last)
    is_now = chosen >= _number(visit.asked.get("end"), first, last)  # the right end of the line that was drawn
    marks = line(found["created_at"], listed["items"], now)
    return {
        "created_at": found["created_at"],
        "checkpoints": listed["items"],
        "line": marks,
        "seconds": {one["name"]: one["second"] for one in marks},
        "first": first,
        "last": last,
        "value": chosen,
        "then": await _then(visit, space, None if is_now else datetime.fromtimestamp(chosen, UTC).isoformat()),
        "back": visit.asked.get("back"),
    }


async def _then(visit: Visit, space: str, at: str | None) -> Model:
    """Return the newest memories of a time, None for now; or why they are not known any more."""
    try:
        newest: Any = await visit.api.list_memories(space, limit=NEWEST, as_of=at)
    except MuistiError as error:
        if error.status not in (410, 422):
            raise
        return {"at": at, "problem": str(error), "rows": []}
    return {"at": at, "problem": None, "rows": [row(one) for one in newest["items"]]}


@shows("time/since", "time_since.html", block="since")
async def show_since(visit: Visit, space: str) -> Model:
    """Count what was in the space at a time, and what is different now. The line asks for it once it rests."""
    at = visit.asked.get("since", "")
    stats, now, changes = await asyncio.gather(
        visit.api.get_stats(space, as_of=at),
        visit.api.get_stats(space),
        visit.api.diff_space(space, since=at, limit=COUNTED),
    )
    return {
        "at": at,
        "memories": stats["memories"],
        "memories_now": now["memories"],
        "count": count(changes["items"]),
        "more": changes["next_cursor"] is not None,
    }


@shows("time/days", "time_days.html", block="days")
async def show_days(visit: Visit, space: str) -> Model:
    """Draw the changes of each of the last 30 days along the line of time."""
    found, stats = await asyncio.gather(visit.api.get_space(space), visit.api.get_stats(space))
    begin = datetime.fromisoformat(found["created_at"])
    return {"days": days(stats["by_day"], begin, datetime.now(UTC))}


def days(by_day: Mapping[str, Mapping[str, int]], begin: datetime, now: datetime) -> list[Model]:
    """Return the changes of each day as bars between the creation of the space and now, in percent of the line.

    >>> from datetime import timedelta
    >>> now = datetime(2026, 5, 3, tzinfo=UTC)
    >>> days({"2026-05-01": {"created": 3}, "2026-05-02": {"created": 1}}, now - timedelta(days=2), now)
    [{'place': 0.0, 'width': 50.0, 'height': 100.0}, {'place': 50.0, 'width': 50.0, 'height': 33.3}]
    """
    whole = max((now - begin).total_seconds(), 1.0)
    most = max((sum(kinds.values()) for kinds in by_day.values()), default=1)
    found: list[Model] = []
    for day, kinds in sorted(by_day.items()):
        start = (datetime.fromisoformat(f"{day}T00:00:00+00:00") - begin).total_seconds() / whole
        left, right = max(0.0, start), min(1.0, start + DAY / whole)
        if left < right:
            height = round(sum(kinds.values()) / most * 100, 1)
            found.append({"place": round(left * 100, 2), "width": round((right - left) * 100, 2), "height": height})
    return found


def _number(text: str | None, first: int, last: int) -> int:
    """Return the second that a URL chooses, between both ends of the line; the last where it chooses none."""
    return min(max(int(text), first), last) if text and text.isdecimal() and len(text) < 13 else last


@does("time/checkpoints")
async def add_checkpoint(visit: Visit, space: str) -> Response[None]:
    """Name the present."""
    note = visit.field("note").strip() or None
    await visit.api.create_checkpoint(space, {"name": visit.field("name").strip(), "note": note})
    return done(visit, "time", "marked")


@shows("time/diff", "time_diff.html", block="results")
async def show_diff(visit: Visit, space: str) -> Model:
    """Show what was added, changed and deleted between two points."""
    found = await visit.api.get_space(space)
    asked = visit.asked
    since, until = asked.get("since") or found["created_at"], asked.get("until") or None
    changes = await visit.api.diff_space(space, since=since, until=until, limit=PAGE, cursor=asked.get("cursor"))
    return {
        "created_at": found["created_at"],
        "checkpoints": (await visit.api.list_checkpoints(space))["items"],
        "since": since,
        "until": until,
        "changes": await asyncio.to_thread(told, changes["items"]),
        "count": count(changes["items"]),
        "next_cursor": changes["next_cursor"],
    }


@shows("time/rollback")
async def show_rollback(visit: Visit, space: str) -> View:
    """Show what a rollback would do."""
    return await _rollback(visit, space, visit.asked.get("to", ""))


@does("time/rollback")
async def roll_back(visit: Visit, space: str) -> Answer:
    """Roll the space back, once its name is typed. The next page offers the way to the point before."""
    to = visit.field("to")
    if visit.field("confirm").strip() != space:
        return await _rollback(visit, space, to, wrong=True)
    made = await visit.send(calls.roll_back(space, {"to": to}))
    return done(visit, "time", "rolled_back", back=made.data["before"])


async def _rollback(visit: Visit, space: str, to: str, *, wrong: bool = False) -> View:
    """Return the preview: counts of a dry run, and three examples of what is different now."""
    tried = None
    if visit.may_change("write") and visit.may_change("delete"):
        tried = (await visit.api.send(calls.roll_back(space, {"to": to}, dry_run=True))).data
    examples = (await visit.api.diff_space(space, since=to, limit=EXAMPLES))["items"]
    model = {
        "to": to,
        "plan": tried and tried["answer"],
        "examples": await asyncio.to_thread(told, examples),
        "wrong": wrong,
    }
    return View("time_rollback.html", model, status=422 if wrong else 200)


@shows("time/slider", "slider.html", block="slider")
async def show_slider(visit: Visit, space: str) -> Model:
    """Show the slider between the creation of the space and now, with the checkpoints as marks."""
    here = visit.asked.get("here", "")
    parts = urlsplit(here if is_own(here) else visit.to())
    asked = parse_qsl(parts.query)
    kept = [(name, value) for name, value in asked if name not in OF_NOW]
    found, now = await visit.api.get_space(space), datetime.now(UTC)
    first = second(datetime.fromisoformat(found["created_at"]))
    last = max(first, int(now.timestamp()))
    marks = line(found["created_at"], (await visit.api.list_checkpoints(space))["items"], now)
    return {
        "action": parts.path,
        "kept": kept,
        "present": _at(parts.path, kept, None),
        "first": first,
        "last": last,
        "value": min(max(_second(dict(asked).get(AS_OF)) or last, first), last),
        "created_at": found["created_at"],
        "marks": [(one, _at(parts.path, kept, one["at"])) for one in marks],
    }


def _at(path: str, kept: list[tuple[str, str]], at: str | None) -> str:
    given = kept if at is None else [*kept, (AS_OF, at)]
    return path + (f"?{urlencode(given)}" if given else "")


def _second(at: str | None) -> int | None:
    """Return the second of a time; None for now and for points of history that are no times."""
    try:
        return second(datetime.fromisoformat(at)) if at else None
    except ValueError:
        return None
