"""Quality: what probes find over time, answers of before that are replayed, and questions that found nothing."""

from collections.abc import Mapping, Sequence
from typing import Any

from litestar import Response

from muisti.client import MuistiError, calls
from muisti.service.console.answers import Model, back_from, does, done, shows
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
    "status": "It is no longer active.",
    "model": "The space now has another embedding model.",
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
        "words": "not run yet" if last is ABSENT else _words(last, before),
        "state": "" if last is ABSENT else "good" if last is not None and last <= k else "bad",
        "rank": "–" if last is ABSENT or last is None else str(last),
    }


def compared(
    then: Sequence[Mapping[str, Any]], now: Sequence[Mapping[str, Any]], differences: Sequence[Mapping[str, Any]]
) -> list[dict[str, Any]]:
    """Return one row for each memory of an answer of before or of now, with both ranks and the reason of a move."""
    before = {one["id"]: (one["rank"], one["score"]) for one in then}
    after = {hit["memory"]["id"]: (place, hit["score"]) for place, hit in enumerate(now, 1)}
    reasons = {one["id"]: one for one in differences}
    rows: list[dict[str, Any]] = []
    for id_ in before | after:
        (old, score), (new, new_score) = before.get(id_, (None, None)), after.get(id_, (None, None))
        found = reasons.get(id_, {})
        why = WHY.get(found.get("why", ""), found.get("why"))
        rows.append({"id": id_, "then": old, "now": new, "score": score, "new_score": new_score, "why": why,
                     "by": found.get("superseded_by")})  # fmt: skip
    return rows


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
    ranks = [{one["id"]: one["rank"] for one in run["ranks"]} for run in runs]
    unanswered = await visit.api.list_unanswered(space, limit=UNANSWERED) if visit.may("admin") else None
    return {
        "probes": [{**one, "line": line_of([run.get(one["id"], ABSENT) for run in ranks], one["k"])} for one in probes],
        "recall": {"at": [one["at"] for one in runs], "recall": [round(one["recall"], 4) for one in runs]},
        "runs": runs[::-1],
        "unanswered": unanswered,
        "asked": {name: visit.asked.get(name, "") for name in ("query", "memory_id")},
    }


@does("quality")
async def add_probe(visit: Visit, space: str) -> Response[None]:
    """Add a probe: a question, and the memory that it should find."""
    number = str(visit.form.get("k", "10"))
    k = int(number) if number.isdecimal() else number  # the API says what is wrong
    body: Any = {"query": visit.field("query"), "memory_id": visit.field("memory_id").strip(), "k": k}
    await visit.send(calls.add_probe(space, body))
    return back_from(visit, "probe_added") if visit.field("back") else done(visit, "quality", "probe_added")


@shows("quality/receipts", "receipts.html", grades=EVIDENCE)
async def show_receipts(visit: Visit, space: str) -> Model:
    """List receipts, newest first."""
    params = visit.asked
    asked = {name: params[name] for name in ("evidence", "actor", "cursor") if params.get(name)}
    found = await visit.api.list_receipts(space, limit=PAGE, **asked)
    return {
        "receipts": found["items"],
        "cursor": found["next_cursor"],
        "asked": {name: asked.get(name, "") for name in ("evidence", "actor")},
    }


@shows("quality/receipts/{receipt}", "receipt.html")
async def show_receipt(visit: Visit, space: str, receipt: str) -> Model:
    """Show an answer of before, and beside it what the same question finds now, and why it differs."""
    kept = await visit.api.get_receipt(receipt)
    as_then = visit.asked.get("then") == "true"
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
