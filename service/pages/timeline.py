"""Time: checkpoints, what changed between two points, the way back to one, and the slider of the console."""

import asyncio
from collections import Counter
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from typing import Any
from urllib.parse import parse_qsl, urlencode, urlsplit

from litestar import Response

from muisti.client import calls
from muisti.service.console.answers import Answer, Model, does, done, is_own, shows
from muisti.service.console.render import View
from muisti.service.console.versions import around, diff, field_change
from muisti.service.console.visit import AS_OF, OF_NOW, Visit

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


@shows("time", "time.html")
async def show_time(visit: Visit, space: str) -> Model:
    """Show the checkpoints on a line and as a list."""
    found = await visit.api.get_space(space)
    checkpoints = (await visit.api.list_checkpoints(space))["items"]
    return {
        "created_at": found["created_at"],
        "checkpoints": checkpoints,
        "line": line(found["created_at"], checkpoints, datetime.now(UTC)),
        "back": visit.asked.get("back"),
    }


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
