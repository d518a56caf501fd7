"""Quality: what probes find over time, answers of before that are replayed, and questions that found nothing."""

from collections.abc import Mapping, Sequence
from typing import Any

from litestar import Request, Response, get, post
from litestar.di import NamedDependency
from litestar.params import FromPath

from muisti.client import MuistiError, calls
from muisti.service.console import trends
from muisti.service.console.answers import done, page
from muisti.service.console.mount import ROOT
from muisti.service.console.render import View
from muisti.service.console.visit import Visit

PAGE = 30
UNANSWERED = 50
EVIDENCE = ("strong", "weak", "none", "uncalibrated")


@get(f"{ROOT}/spaces/{{space:str}}/quality")
async def show_quality(space: FromPath[str], visit: NamedDependency[Visit]) -> Response[str]:
    """Show the probes with their ranks over time, and the questions that found nothing."""
    probes = (await visit.api.list_probes(space))["items"]
    runs = list(reversed((await visit.api.list_probe_runs(space))["items"]))
    unanswered = await visit.api.list_unanswered(space, limit=UNANSWERED) if visit.may("admin") else None
    model = {
        "probes": [probe_row(visit, one, runs) for one in probes],
        "recall": trends.recall(runs),
        "runs": [run_row(one) for one in reversed(runs)],
        "unanswered": unanswered,
        "receipts": visit.to("quality/receipts"),
    }
    return page(visit, View("quality.html", model))


@post(f"{ROOT}/spaces/{{space:str}}/quality")
async def add_probe(request: Request, space: FromPath[str], visit: NamedDependency[Visit]) -> Response[None]:
    """Add a probe: a question, and the memory that it should find."""
    form = await request.form()
    body: dict[str, Any] = {"query": str(form.get("query", "")), "memory_id": str(form.get("memory_id", "")).strip()}
    await visit.send(calls.add_probe(space, {**body, "k": _whole(str(form.get("k", "10")))}))
    return done(visit, "quality", "probe_added")


@post(f"{ROOT}/spaces/{{space:str}}/quality/run")
async def run_probes(space: FromPath[str], visit: NamedDependency[Visit]) -> Response[None]:
    """Ask all probes now, and keep their ranks."""
    await visit.api.run_probes(space)
    return done(visit, "quality", "probes_run")


@post(f"{ROOT}/spaces/{{space:str}}/quality/{{probe:str}}/delete")
async def delete_probe(space: FromPath[str], probe: FromPath[str], visit: NamedDependency[Visit]) -> Response[None]:
    """Delete a probe; its ranks in earlier runs stay."""
    await visit.api.delete_probe(space, probe)
    return done(visit, "quality", "probe_deleted")


@get(f"{ROOT}/spaces/{{space:str}}/quality/receipts")
async def show_receipts(space: FromPath[str], visit: NamedDependency[Visit]) -> Response[str]:
    """List receipts, newest first."""
    params = visit.request.query_params
    asked = {name: params[name] for name in ("evidence", "actor", "cursor") if params.get(name)}
    found = await visit.api.list_receipts(space, limit=PAGE, **asked)
    model = {
        "receipts": [{**one, "url": visit.to(f"quality/receipts/{one['id']}")} for one in found["items"]],
        "cursor": found["next_cursor"],
        "asked": {name: asked.get(name, "") for name in ("evidence", "actor")},
        "grades": EVIDENCE,
    }
    return page(visit, View("receipts.html", model))


@get(f"{ROOT}/spaces/{{space:str}}/quality/receipts/{{receipt:str}}")
async def show_receipt(space: FromPath[str], receipt: FromPath[str], visit: NamedDependency[Visit]) -> Response[str]:
    """Show an answer of before, and beside it what the same question finds now, and why it differs."""
    kept = await visit.api.get_receipt(receipt)
    as_then = visit.request.query_params.get("then") == "true"
    replayed = await visit.api.replay_receipt(receipt, then=as_then)
    now = {hit["memory"]["id"]: hit for hit in replayed.get("answer", {"hits": []})["hits"]}
    gone = [one["id"] for one in kept["hits"] if one["id"] not in now]
    texts = {key: hit["memory"]["content"] for key, hit in now.items()} | await _texts(visit, space, gone)
    model = {
        "receipt": kept,
        "question": kept["parameters"].get("query", ""),
        "options": {name: value for name, value in kept["parameters"].items() if name != "query" and value is not None},
        "same": replayed["same"],
        "as_then": as_then,
        "rows": trends.compared(kept["hits"], list(now.values()), replayed["differences"]),
        "texts": {one["id"]: texts.get(one["id"], "") for one in kept["hits"]} | texts,
        "context": replayed.get("context"),
        "place": visit.to("memories"),
        "then_url": visit.to(f"quality/receipts/{receipt}", then="true"),
        "now_url": visit.to(f"quality/receipts/{receipt}"),
        "ask": visit.to("ask", q=kept["parameters"].get("query", "")),
    }
    return page(visit, View("receipt.html", model))


async def _texts(visit: Visit, space: str, ids: Sequence[str]) -> dict[str, str]:
    """Return the texts of memories; those that are gone have none."""
    found: dict[str, str] = {}
    for one in ids:
        try:
            found[one] = (await visit.api.get_memory(space, one, no_touch=True))["content"]
        except MuistiError as error:
            if error.status != 404:
                raise
    return found


def probe_row(visit: Visit, probe: Mapping[str, Any], runs: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Return a probe with the line of its ranks; runs are oldest first."""
    ranks = [next((one["rank"] for one in run["ranks"] if one["id"] == probe["id"]), trends.ABSENT) for run in runs]
    entry = probe["memory_id"] is None
    return {
        "query": probe["query"],
        "k": probe["k"],
        "expected": f"{probe['category']}/{probe['key']}" if entry else probe["memory_id"],
        "url": None if entry else visit.to(f"memories/{probe['memory_id']}"),
        "line": trends.ranks(ranks, probe["k"]),
        "delete": visit.to(f"quality/{probe['id']}/delete"),
        "ask": visit.to("ask", q=probe["query"]),
    }


def run_row(run: Mapping[str, Any]) -> dict[str, Any]:
    """Return a run of all probes as a row of a table."""
    found = sum(1 for one in run["ranks"] if one["rank"] is not None)
    return {"at": run["at"], "recall": f"{run['recall']:.2f}", "found": found, "probes": len(run["ranks"])}


def _whole(text: str) -> int | str:
    """Return a whole number; other texts as they are, for the API to refuse."""
    return int(text) if text.isdecimal() else text


ROUTES: Sequence[Any] = (show_quality, add_probe, run_probes, delete_probe, show_receipts, show_receipt)
