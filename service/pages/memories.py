"""The list of memories: its filters, the form that adds one, and erasure with its report."""

import asyncio
import base64
import json
from collections import Counter
from collections.abc import Mapping
from typing import Any

from litestar import Response
from litestar.exceptions import NotFoundException

from muisti.client import MuistiError, calls
from muisti.service.console import filter_form as fields
from muisti.service.console.answers import (
    Answer,
    Model,
    does,
    done,
    problem_of,
    shows,
    status_of,
)
from muisti.service.console.filter_form import (
    CHOICES,
    COLUMNS,
    IMPORTANCE,
    SORTS,
    chosen,
    columns_of,
    conditions,
    erasing,
    filter_of,
    leading,
    taken_off,
    words_of,
)
from muisti.service.console.provenance import peek, title_of
from muisti.service.console.render import HEADERS, View
from muisti.service.console.visit import Visit, cookie

PAGE = 50
COLUMNS_KEPT = "muisti_columns"  # cookie that a script sets
ANSWERED = (409, 412, 413, 422)  # refusals that the form shows, with all that was typed


@shows(
    "memories", "memories.html", block="results", choices=CHOICES, sorts=SORTS, levels=IMPORTANCE, all_columns=COLUMNS
)
async def list_memories(visit: Visit, space: str) -> Model:
    """Show the memories that meet the filters of the URL, a page at a time; with words, the best matches."""
    given = visit.asked
    filters = chosen(given)
    sort = given.get("sort") if given.get("sort") in SORTS else None
    cursor = given.get("cursor") or None
    words = given.get("q", "").strip()
    found = await _page(visit, space, words, filters, sort=sort, cursor=cursor)
    asked_columns = visit.request.query_params.getall("column", [])
    params = {**filters, **({"sort": sort} if sort else {}), **({"column": asked_columns} if asked_columns else {})}
    return {
        "filters": filters,
        "words": words,
        "taken_off": taken_off(filters, {"sort": sort, "q": words}),
        "erasing": erasing(filters),
        "sort": sort,
        "more_is_open": any(one.more and one.name in filters for one in CHOICES),
        "params": params,
        "columns": columns_of(asked_columns, cookie(visit.request, COLUMNS_KEPT)),
        "rows": [row(one) for one in found["items"]],
        "next": found["next_cursor"],
        "is_first": cursor is None,
    }


@shows("memories/facets", "facets.html", block="facets")
async def show_facets(visit: Visit, space: str) -> Model:
    """Show how many memories have each value of a field: first names, and then what counts of sizes know."""
    if visit.asked.get("of") == "kinds":
        by: Any = (await visit.api.get_stats(space, **visit.at))["by"]
        counts = [(name.capitalize(), name, list(by[name].items())) for name in KINDS_OF]
        return {"facets": [each for each in counts if len(each[2]) > 1], "is_last": True}
    return {"facets": [each for each in await _names(visit, space) if each[2]], "is_last": False}


async def _page(
    visit: Visit, space: str, words: str, filters: Mapping[str, str], *, sort: Any, cursor: str | None
) -> Any:
    """Return a page of the list, or the memories that match words best, best first."""
    if not words:
        return await visit.api.list_memories(
            space, limit=PAGE, sort=sort, cursor=cursor, filters=dict(filters), **visit.at
        )
    asked: Any = {"query": words, "limit": PAGE, "applies": False, "no_touch": True}
    if filters:
        asked["filter"] = filter_of(filters)
    found = await visit.api.search(space, asked | visit.at)
    return {"items": [hit["memory"] for hit in found["hits"]], "next_cursor": None}


DRAWN = 600  # memories of a map
COLOURS = ("one", "two", "three", "four", "five", "six")


@shows("memories/map", "map.html", choices=CHOICES)
async def show_map(visit: Visit, space: str) -> Model:
    """Draw the memories that meet the filters of the URL: those of like meaning are close together."""
    filters = chosen(visit.asked)
    found: Any = await visit.api.get_map(space, limit=DRAWN, filters=filters, **visit.at)
    named = Counter(one["category"] for one in found["points"] if one["category"])
    colours = {name: colour for (name, _), colour in zip(named.most_common(len(COLOURS)), COLOURS, strict=False)}
    points = [
        {**one, "colour": colours.get(one["category"], "rest"), "x": one["x"] * 500 + 520, "y": 320 - one["y"] * 300}
        for one in found["points"]
    ]
    off = taken_off(filters, {})
    return {"points": points, "most": DRAWN, "colours": colours, "kept": found["kept"], "taken_off": off}


def row(memory: Any) -> dict[str, Any]:
    """Return what a list shows of a memory: those of its values that are not the usual ones as marks."""
    usual = {"kind": "memory", "type": "fact", "status": "active", "importance": "medium"}
    marks = [memory[name] for name, value in usual.items() if memory[name] != value]
    rest = " ".join(str(memory["content"]).strip().partition("\n")[2].split())
    return {"memory": memory, "title": title_of(memory), "rest": rest, "marks": marks}


NEWEST = 100  # memories whose sources are offered, and names of a list
KINDS_OF = ("kind", "type", "importance", "status")  # fields that sizes are counted by


@shows("memories/names", "names.html", block="names", levels=IMPORTANCE)
async def list_names(visit: Visit, space: str) -> Model:
    """Show the categories, tags and authors of a space, and the sources of its newest memories."""
    names, newest = await asyncio.gather(_names(visit, space), visit.api.list_memories(space, limit=NEWEST, **visit.at))
    sources = Counter(one["source"] for one in newest["items"] if one["source"])
    return {"names": [*names, ("Sources", "source", sources.most_common())]}


async def _names(visit: Visit, space: str) -> list[tuple[str, str, list[tuple[str, int]]]]:
    """Return the most frequent names that a space has, with their counts."""
    counts = await asyncio.gather(
        visit.api.list_categories(space, **visit.at),
        visit.api.list_tags(space, **visit.at),
        visit.api.list_authors(space, **visit.at),
    )
    titles = (("Categories", "category"), ("Tags", "tags"), ("Authors", "author"))
    return [(*title, leading(each["items"], NEWEST)) for title, each in zip(titles, counts, strict=True)]


@shows("memories/new")
async def show_new(visit: Visit, space: str) -> View:
    """Show an empty form, or one with what the URL gives, such as a category."""
    await visit.api.get_space(space)
    given = visit.asked
    texts = {one.name: given.get(one.name, fields.USUAL.get(one.name, "")) for one in fields.FIELDS}
    return new_form(texts)


@does("memories")
async def add_memory(visit: Visit, space: str) -> Answer:
    """Store a memory. Where it repeats or contradicts others, show them, and let the person decide."""
    texts = {name: text or fields.USUAL.get(name, "") for name, text in fields.given(visit.form).items()}
    try:
        body = fields.new(texts)
        made = await visit.send(calls.add_memory(space, body, on_conflict=visit.field("on_conflict") or None))
    except (fields.Unreadable, MuistiError) as error:
        if isinstance(error, MuistiError) and error.status not in ANSWERED:
            raise
        return new_form(texts, await asyncio.to_thread(problem_of, error, texts["content"]), status_of(error))
    return done(visit, f"memories/{made.data['id']}", "added", undo=made.request)


def new_form(texts: Mapping[str, str], found: Mapping[str, Any] | None = None, status: int = 200) -> View:
    """Return the form that adds a memory, with what was typed and what is in the way."""
    return View("memory_new.html", {"inputs": fields.FIELDS, "texts": texts, "problem": found}, status=status)


EXAMPLES = 3
REPORTS = 20
KIND = "purge"  # of the tasks that erase


@shows("erase")
async def show_erase(visit: Visit, space: str) -> View:
    """Show the form of an erasure, what it would erase, and the reports of the last ones."""
    asked = visit.asked
    return await _form(visit, space, asked)


@does("erase")
async def erase(visit: Visit, space: str) -> Answer:
    """Begin the erasure, once the name of the space is typed."""
    form = {name: str(value) for name, value in visit.form.items()}
    if visit.form.get("confirm", "").strip() != space:
        return await _form(visit, space, form, wrong=True)
    made = await visit.send(calls.purge(space, conditions(form), task=True))
    return done(visit, f"erase/{made.data['id']}", "erasing")


@shows("erase/{task_id}", "erased.html")
async def show_report(visit: Visit, space: str, task_id: str) -> Model:
    """Show how far an erasure is, and its report once it is over."""
    task = await _task(visit, space, task_id)
    result: Any = task.get("result")
    model = {"task": task, "what": words_of(task["asked"]), "report": _report(result), "save": None}
    return model


@shows("erase/{task_id}/report")
async def get_report(visit: Visit, space: str, task_id: str) -> Response[bytes]:
    """Download a signed report."""
    task = await _task(visit, space, task_id)
    if "result" not in task:
        raise NotFoundException("The erasure has no report yet.")
    name = f'attachment; filename="muisti-purge-{task["id"]}.json"'
    return Response(
        _file(task["result"]), media_type="application/json", headers={**HEADERS, "Content-Disposition": name}
    )


@shows("memories/{memory_id}/purge")
async def show_purge(visit: Visit, space: str, memory_id: str) -> View:
    """Show what erasing one memory would take."""
    return await _of_one(visit, space, memory_id)


@does("memories/{memory_id}/purge")
async def purge(visit: Visit, space: str, memory_id: str) -> Answer:
    """Erase one memory with its history, and show the report: the server keeps no copy of it."""
    if visit.field("confirm").strip() != space:
        return await _of_one(visit, space, memory_id, wrong=True)
    result: Any = await visit.api.delete_memory(space, memory_id, purge=True)
    content = base64.b64encode(_file(result)).decode()
    model = {"task": None, "what": [("Memory", memory_id)], "report": _report(result), "save": content}
    return View("erased.html", model)


async def _form(visit: Visit, space: str, asked: Mapping[str, str], *, wrong: bool = False) -> View:
    """Return the page of the form, with a dry run of what is chosen."""
    body = conditions(asked)
    plan = await _planned(visit, space, body) if body and visit.may_change("admin") else None
    tasks: Any = await visit.api.list_tasks(space, kind=KIND, limit=REPORTS)
    choices = [one for one in CHOICES if "." not in one.name]
    names = [*(one.name for one in choices), "older_than_days"]
    model = {
        "choices": choices,
        "asked": asked,
        "given": {name: asked[name] for name in names if asked.get(name)},
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
        raise NotFoundException("This task is not an erasure.")
    return task


def _report(result: Any) -> dict[str, Any] | None:
    """Return the plain report of a result, with what was there to erase; None while there is none."""
    report = None if result is None else result.get("report")
    if report is None:
        return None
    return {**report, "gone": [(name, count) for name, count in report["erased"].items() if count]}


def _file(result: Mapping[str, Any]) -> bytes:
    """Return the report as `muisti verify-report` reads it."""
    return json.dumps(result, ensure_ascii=False, indent=2).encode()
