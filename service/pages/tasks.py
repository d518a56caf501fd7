"""Tasks: work that outlives its request, how far it is, and what of it has failed."""

from collections.abc import Mapping
from typing import Any

from muisti.service.console.answers import Model, shows
from muisti.service.console.render import View
from muisti.service.console.visit import Visit
from muisti.service.pages.imports import told

IMPORT = "import"  # kind of the tasks whose result is a report of an import
OVER = {"succeeded": "good", "partial": "fair", "failed": "bad", "cancelled": ""}


@shows("tasks", "tasks.html")
async def show_tasks(visit: Visit, space: str) -> Model:
    """Show the tasks of a space, newest first."""
    found = await visit.api.list_tasks(space, limit=50, cursor=visit.asked.get("cursor"))
    return {"tasks": [row(one) for one in found["items"]], "cursor": found["next_cursor"]}


@shows("tasks/{task}")
async def show_task(visit: Visit, space: str, task: str) -> View:
    """Show a task with its progress, which is read again while it runs, and the items that have failed."""
    found = await visit.api.get_task(space, task)
    failed = await visit.api.list_task_items(space, task, state="failed", limit=50)
    own = found["actor"] == visit.access["actor"]
    is_over = found["state"] in OVER
    model: Model = {
        "one": row(found),
        "imported": told(found["result"], refused=False) if found["kind"] == IMPORT and "result" in found else None,
        "failed": [{"name": one["name"], **one.get("error", {"code": "", "detail": ""})} for one in failed["items"]],
        "more": failed["next_cursor"] is not None,
        "cancelling": not is_over and (visit.may_change("write") or (own and visit.as_of is None)),
        "again": visit.to(f"tasks/{task}"),
    }
    tells = {"HX-Trigger": "imported"} if is_over and visit.is_fragment and found["kind"] == IMPORT else {}
    return View("task.html", model, block="progress", headers=tells)


def row(task: Mapping[str, Any]) -> dict[str, Any]:
    """Return a task as a row. The share of its items that are over is known only when their number is."""
    result = task.get("result")
    numbers = result.items() if isinstance(result, dict) else ()
    return {
        **task,
        "over": task["done"] + task["failed"] + task["skipped"],
        "running": task["state"] not in OVER,
        "look": OVER.get(task["state"], ""),
        "left": None if task["seconds_left"] is None else round(task["seconds_left"]),
        "error": task.get("error"),
        "result": [(name, value) for name, value in numbers if isinstance(value, int) and not isinstance(value, bool)],
    }
