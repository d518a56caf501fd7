"""Time: checkpoints, what changed between two points, and the way back to one."""

import asyncio
from datetime import UTC, datetime
from typing import Any

from litestar import Request, Response, get, post
from litestar.di import NamedDependency
from litestar.params import FromPath

from muisti.client import calls
from muisti.service.console.answers import done, page
from muisti.service.console.mount import ROOT
from muisti.service.console.render import View
from muisti.service.console.times import count, line, told
from muisti.service.console.visit import Visit

PATH = f"{ROOT}/spaces/{{space:str}}/time"
PAGE = 20
EXAMPLES = 3


@get(PATH)
async def show_time(space: FromPath[str], visit: NamedDependency[Visit]) -> Response[str]:
    """Show the checkpoints on a line and as a list."""
    found = await visit.api.get_space(space)
    checkpoints = (await visit.api.list_checkpoints(space))["items"]
    model = {
        "created_at": found["created_at"],
        "checkpoints": checkpoints,
        "line": line(found["created_at"], checkpoints, datetime.now(UTC)),
        "back": visit.request.query_params.get("back"),
    }
    return page(visit, View("time.html", model))


@post(f"{PATH}/checkpoints")
async def add_checkpoint(request: Request, space: FromPath[str], visit: NamedDependency[Visit]) -> Response[None]:
    """Name the present."""
    form = await request.form()
    note = str(form.get("note", "")).strip() or None
    await visit.api.create_checkpoint(space, {"name": str(form.get("name", "")).strip(), "note": note})
    return done(visit, "time", "marked")


@post(f"{PATH}/checkpoints/{{checkpoint:str}}/delete")
async def delete_checkpoint(
    space: FromPath[str], checkpoint: FromPath[str], visit: NamedDependency[Visit]
) -> Response[None]:
    """Delete a checkpoint, which changes no memory."""
    await visit.api.delete_checkpoint(space, checkpoint)
    return done(visit, "time", "unmarked")


@get(f"{PATH}/diff")
async def show_diff(space: FromPath[str], visit: NamedDependency[Visit]) -> Response[str]:
    """Show what was added, changed and deleted between two points."""
    found = await visit.api.get_space(space)
    asked = visit.request.query_params
    since, until = asked.get("since") or found["created_at"], asked.get("until") or None
    changes = await visit.api.diff_space(space, since=since, until=until, limit=PAGE, cursor=asked.get("cursor"))
    model = {
        "created_at": found["created_at"],
        "checkpoints": (await visit.api.list_checkpoints(space))["items"],
        "since": since,
        "until": until,
        "changes": await asyncio.to_thread(told, changes["items"]),
        "count": count(changes["items"]),
        "next_cursor": changes["next_cursor"],
    }
    return page(visit, View("time_diff.html", model, block="results"))


@get(f"{PATH}/rollback")
async def show_rollback(space: FromPath[str], visit: NamedDependency[Visit]) -> Response[str]:
    """Show what a rollback would do."""
    return page(visit, await _rollback(visit, space, visit.request.query_params.get("to", "")))


@post(f"{PATH}/rollback")
async def roll_back(request: Request, space: FromPath[str], visit: NamedDependency[Visit]) -> Response[Any]:
    """Roll the space back, once its name is typed. The next page offers the way to the point before."""
    form = await request.form()
    to = str(form.get("to", ""))
    if str(form.get("confirm", "")).strip() != space:
        return page(visit, await _rollback(visit, space, to, wrong=True))
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


ROUTES = (show_time, add_checkpoint, delete_checkpoint, show_diff, show_rollback, roll_back)
