"""Quality: what probes find over time, answers of before that are replayed, and questions that found nothing."""

from collections.abc import Mapping, Sequence
from typing import Any

from litestar import Response

from muisti.client import MuistiError, calls
from muisti.service.console.answers import Model, does, done, shows
from muisti.service.console.visit import Visit

ABSENT: Any = object()  # of a run before the probe was made
WIDTH, HEIGHT = 160, 32
WORST = 100  # the last rank that a run looks at
WHY = {
    "new": "It was stored after the question.",
    "changed": "It was changed.",
    "deleted": "It is deleted.",
    "superseded": "Another memory took its place.",
    "expired": "It has expired.",
    "erased": "It was erased for good.",
    "status": "It is not active any more.",
    "model": "The space has another embedding model now.",
    "others": "Only other memories moved.",
}


def line_of(found: Sequence[Any], k: int) -> dict[str, Any]:
    """Return the line of a probe's ranks: the best is on top, on a scale of logarithms, and None is at the bottom.

    >>> line_of([1, None], 5)["points"], line_of([1, None], 5)["words"]
    ('2,2 158,30', 'not among the first 100 now; rank 1 before')
    """
    known = [one for one in found if one is not ABSENT]
    step = (WIDTH - 4) / max(1, len(known) - 1)
    points = " ".join(f"{2 + place * step:.0f},{_height(one):.0f}" for place, one in enumerate(known))
    last, before = (known[-1] if known else ABSENT), (known[-2] if len(known) > 1 else ABSENT)
    return {
        "points": points,
        "dots": [(f"{2 + place * step:.0f}", f"{_height(one):.0f}") for place, one in enumerate(known)][-1:],
        "words": "not asked yet" if last is ABSENT else _words(last, before),
        "state": "" if last is ABSENT else "good" if last is not None and last <= k else "bad",
        "rank": "–" if last is ABSENT or last is None else str(last),
    }


def recall(runs: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Return recall over the runs, oldest first, as the points of a chart: seconds since 1970 and shares."""
    return {"at": [one["at"] for one in runs], "recall": [round(one["recall"], 4) for one in runs]}


def compared(
    then: Sequence[Mapping[str, Any]], now: Sequence[Mapping[str, Any]], differences: Sequence[Mapping[str, Any]]
) -> list[dict[str, Any]]:
    """Return one row for each memory of an answer of before or of now, with both ranks and the reason of a move."""
    after = {hit["memory"]["id"]: (place, hit) for place, hit in enumerate(now, 1)}
    reasons = {one["id"]: one for one in differences}
    rows = [_row(one["id"], one["rank"], one["score"], after.get(one["id"]), reasons) for one in then]
    known = {one["id"] for one in then}
    return rows + [_row(id_, None, None, found, reasons) for id_, found in after.items() if id_ not in known]


def _row(
    id_: str,
    rank: int | None,
    score: float | None,
    found: tuple[int, Mapping[str, Any]] | None,
    reasons: Mapping[str, Any],
) -> dict[str, Any]:
    now = None if found is None else found[0]
    why = reasons.get(id_)
    return {
        "id": id_,
        "then": rank,
        "now": now,
        "score": None if score is None else f"{score:.3f}",
        "new_score": None if found is None else f"{found[1]['score']:.3f}",
        "moved": rank != now,
        "why": None if why is None else WHY.get(why["why"], why["why"]),
        "by": None if why is None else why.get("superseded_by"),
    }


def _height(rank: int | None) -> float:
    if rank is None:
        return HEIGHT - 2
    return 2 + (HEIGHT - 8) * (rank.bit_length() - 1) / WORST.bit_length()


def _words(last: int | None, before: Any) -> str:
    told = "not among the first 100" if last is None else f"rank {last}"
    if before is ABSENT or before == last:
        return told
    earlier = "not among the first 100" if before is None else f"rank {before}"
    return f"{told} now; {earlier} before"


PAGE = 30
UNANSWERED = 50
EVIDENCE = ("strong", "weak", "none", "uncalibrated")


@shows("quality", "quality.html")
async def show_quality(visit: Visit, space: str) -> Model:
    """Show the probes with their ranks over time, and the questions that found nothing."""
    probes = (await visit.api.list_probes(space))["items"]
    runs = list(reversed((await visit.api.list_probe_runs(space))["items"]))
    unanswered = await visit.api.list_unanswered(space, limit=UNANSWERED) if visit.may("admin") else None
    return {
        "probes": [probe_row(visit, one, runs) for one in probes],
        "recall": recall(runs),
        "runs": [run_row(one) for one in reversed(runs)],
        "unanswered": unanswered,
        "receipts": visit.to("quality/receipts"),
    }


@does("quality")
async def add_probe(visit: Visit, space: str) -> Response[None]:
    """Add a probe: a question, and the memory that it should find."""
    body: dict[str, Any] = {
        "query": visit.field("query"),
        "memory_id": visit.field("memory_id").strip(),
    }
    await visit.send(calls.add_probe(space, {**body, "k": _whole(str(visit.form.get("k", "10")))}))
    return done(visit, "quality", "probe_added")


@shows("quality/receipts", "receipts.html")
async def show_receipts(visit: Visit, space: str) -> Model:
    """List receipts, newest first."""
    params = visit.request.query_params
    asked = {name: params[name] for name in ("evidence", "actor", "cursor") if params.get(name)}
    found = await visit.api.list_receipts(space, limit=PAGE, **asked)
    return {
        "receipts": [{**one, "url": visit.to(f"quality/receipts/{one['id']}")} for one in found["items"]],
        "cursor": found["next_cursor"],
        "asked": {name: asked.get(name, "") for name in ("evidence", "actor")},
        "grades": EVIDENCE,
    }


@shows("quality/receipts/{receipt}", "receipt.html")
async def show_receipt(visit: Visit, space: str, receipt: str) -> Model:
    """Show an answer of before, and beside it what the same question finds now, and why it differs."""
    kept = await visit.api.get_receipt(receipt)
    as_then = visit.request.query_params.get("then") == "true"
    replayed = await visit.api.replay_receipt(receipt, then=as_then)
    now = {hit["memory"]["id"]: hit for hit in replayed.get("answer", {"hits": []})["hits"]}
    gone = [one["id"] for one in kept["hits"] if one["id"] not in now]
    texts = {key: hit["memory"]["content"] for key, hit in now.items()} | await _texts(visit, space, gone)
    return {
        "receipt": kept,
        "question": kept["parameters"].get("query", ""),
        "options": {name: value for name, value in kept["parameters"].items() if name != "query" and value is not None},
        "same": replayed["same"],
        "as_then": as_then,
        "rows": compared(kept["hits"], list(now.values()), replayed["differences"]),
        "texts": {one["id"]: texts.get(one["id"], "") for one in kept["hits"]} | texts,
        "context": replayed.get("context"),
        "place": visit.to("memories"),
        "then_url": visit.to(f"quality/receipts/{receipt}", then="true"),
        "now_url": visit.to(f"quality/receipts/{receipt}"),
        "ask": visit.to("ask", q=kept["parameters"].get("query", "")),
    }


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
    ranks = [next((one["rank"] for one in run["ranks"] if one["id"] == probe["id"]), ABSENT) for run in runs]
    entry = probe["memory_id"] is None
    return {
        "query": probe["query"],
        "k": probe["k"],
        "expected": f"{probe['category']}/{probe['key']}" if entry else probe["memory_id"],
        "url": None if entry else visit.to(f"memories/{probe['memory_id']}"),
        "line": line_of(ranks, probe["k"]),
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
