"""Erasure for good: choose, see what would go, type the name of the space, and keep the signed report."""

import base64
import json
from collections.abc import Mapping
from typing import Any

from litestar import Request, Response, get, post
from litestar.di import NamedDependency
from litestar.exceptions import NotFoundException
from litestar.params import FromPath

from muisti.client import MuistiError, calls
from muisti.service.console.answers import done, page
from muisti.service.console.choosing import CHOICES, conditions, words_of
from muisti.service.console.mount import ROOT
from muisti.service.console.pages.memory import PATH as MEMORY
from muisti.service.console.peeking import peek
from muisti.service.console.render import HEADERS, View
from muisti.service.console.visit import Visit

PATH = f"{ROOT}/spaces/{{space:str}}/erase"
EXAMPLES = 3
REPORTS = 20
KIND = "purge"  # of the tasks that erase


@get(PATH)
async def show_erase(space: FromPath[str], visit: NamedDependency[Visit]) -> Response[str]:
    """Show the form of an erasure, what it would erase, and the reports of the last ones."""
    asked = {name: values[0] for name, values in visit.request.query_params.dict().items()}
    return page(visit, await _form(visit, space, asked))


@post(PATH)
async def erase(request: Request, space: FromPath[str], visit: NamedDependency[Visit]) -> Response[Any]:
    """Begin the erasure, once the name of the space is typed."""
    form = {name: str(value) for name, value in (await request.form()).items()}
    if form.get("confirm", "").strip() != space:
        return page(visit, await _form(visit, space, form, wrong=True))
    made = await visit.send(calls.purge(space, conditions(form), task=True))
    return done(visit, f"erase/{made.data['id']}", "erasing")


@get(f"{PATH}/{{task_id:str}}")
async def show_report(space: FromPath[str], task_id: FromPath[str], visit: NamedDependency[Visit]) -> Response[str]:
    """Show how far an erasure is, and its report once it is over."""
    task = await _task(visit, space, task_id)
    result: Any = task.get("result")
    model = {"task": task, "what": words_of(task["asked"]), "report": _report(result), "save": None}
    return page(visit, View("erased.html", model))


@get(f"{PATH}/{{task_id:str}}/report")
async def get_report(space: FromPath[str], task_id: FromPath[str], visit: NamedDependency[Visit]) -> Response[bytes]:
    """Download a signed report."""
    task = await _task(visit, space, task_id)
    if "result" not in task:
        raise NotFoundException("The erasure has no report yet.")
    name = f'attachment; filename="muisti-purge-{task["id"]}.json"'
    return Response(
        _file(task["result"]), media_type="application/json", headers={**HEADERS, "Content-Disposition": name}
    )


@get(f"{MEMORY}/purge")
async def show_purge(space: FromPath[str], memory_id: FromPath[str], visit: NamedDependency[Visit]) -> Response[str]:
    """Show what erasing one memory would take."""
    return page(visit, await _of_one(visit, space, memory_id))


@post(f"{MEMORY}/purge")
async def purge(
    request: Request, space: FromPath[str], memory_id: FromPath[str], visit: NamedDependency[Visit]
) -> Response[str]:
    """Erase one memory with its history, and show the report: the server keeps no copy of it."""
    form = await request.form()
    if str(form.get("confirm", "")).strip() != space:
        return page(visit, await _of_one(visit, space, memory_id, wrong=True))
    result: Any = await visit.api.delete_memory(space, memory_id, purge=True)
    content = base64.b64encode(_file(result)).decode()
    model = {"task": None, "what": [("Memory", memory_id)], "report": _report(result), "save": content}
    return page(visit, View("erased.html", model))


async def _form(visit: Visit, space: str, asked: Mapping[str, str], *, wrong: bool = False) -> View:
    """Return the page of the form, with a dry run of what is chosen."""
    body = conditions(asked)
    plan = await _planned(visit, space, body) if body and visit.may_change("admin") else None
    tasks: Any = await visit.api.list_tasks(space, kind=KIND, limit=REPORTS)
    model = {
        "choices": [one for one in CHOICES if "." not in one.name],
        "asked": asked,
        "given": {name: asked[name] for name in _names() if asked.get(name)},
        "what": words_of(body),
        "plan": plan,
        "wrong": wrong,
        "reports": [
            {"task": one, "what": words_of(one["asked"]), "report": _report(one.get("result"))}
            for one in tasks["items"]
        ],
    }
    return View("erase.html", model, status=422 if wrong else 200)


async def _planned(visit: Visit, space: str, body: Mapping[str, Any]) -> dict[str, Any]:
    """Return how many memories an erasure would take, with examples; or why the API refuses it."""
    try:
        found: Any = (await visit.send(calls.purge(space, body, dry_run=True))).data
    except MuistiError as error:
        if error.status != 422:
            raise
        return {"count": 0, "examples": [], "problem": str(error)}
    examples = await peek(visit, [one["memory_id"] for one in found["items"][:EXAMPLES]])
    return {"count": found["changes"], "examples": examples, "problem": None}


async def _of_one(visit: Visit, space: str, memory_id: str, *, wrong: bool = False) -> View:
    history = await visit.api.get_history(space, memory_id)
    found: Any = None
    if visit.may_change("delete"):
        found = await visit.api.delete_memory(space, memory_id, purge=True, dry_run=True)
    (this,) = await peek(visit, [memory_id])
    model = {"this": this, "versions": len(history["items"]), "plan": found, "wrong": wrong}
    return View("purge.html", model, status=422 if wrong else 200)


async def _task(visit: Visit, space: str, task_id: str) -> Any:
    task = await visit.api.get_task(space, task_id)
    if task["kind"] != KIND:
        raise NotFoundException("This task is no erasure.")
    return task


def _names() -> list[str]:
    return [one.name for one in CHOICES if "." not in one.name] + ["older_than_days"]


def _report(result: Any) -> dict[str, Any] | None:
    """Return the plain report of a result, with what was there to erase; None while there is none."""
    report = None if result is None else result.get("report")
    if report is None:
        return None
    return {**report, "gone": [(name, count) for name, count in report["erased"].items() if count]}


def _file(result: Mapping[str, Any]) -> bytes:
    """Return the report as `muisti verify-report` reads it."""
    return json.dumps(result, ensure_ascii=False, indent=2).encode()


ROUTES = (show_erase, erase, show_report, get_report, show_purge, purge)
