"""Lines of quality over time, as points of pictures and as words. Pure functions."""

from collections.abc import Mapping, Sequence
from typing import Any

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


def ranks(found: Sequence[Any], k: int) -> dict[str, Any]:
    """Return the line of a probe's ranks: the best is on top, on a scale of logarithms, and None is at the bottom.

    >>> ranks([1, None], 5)["points"], ranks([1, None], 5)["words"]
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
