"""The tail of a search: last hits whose scores are far below the best one."""

from collections.abc import Mapping, Sequence
from typing import Any

SHARE = 1 / 3  # of the best score; docs/why/quality.md has how often a hit below it is the answer

Hits = Sequence[Mapping[str, Any]]


def split(hits: Hits, found: Mapping[str, Any]) -> tuple[Hits, Hits]:
    """Divide hits of an answer into those near the best, and the tail. Only strong evidence has a tail.

    The tail begins after the last hit that has a third of the best score, in whatever order the hits are. Without
    strong evidence any hit may be the answer.

    >>> hits = [{"score": score} for score in (0.9, 0.2, 0.4, 0.1)]
    >>> [len(split(hits, {"evidence": evidence})[1]) for evidence in ("strong", "weak")]
    [1, 0]
    """
    least = SHARE * max((hit["score"] for hit in hits), default=0.0)
    last = max((place for place, hit in enumerate(hits, start=1) if hit["score"] >= least), default=0)
    return (hits[:last], hits[last:]) if found["evidence"] == "strong" else (hits, ())


def tail_lines(far: Hits) -> list[str]:
    """Return what a person reads in place of the tail.

    >>> tail_lines([{"score": 0.1}] * 9), tail_lines([])
    (['9 more with less than a third of the best score: --all shows them.'], [])
    """
    those = "it" if len(far) == 1 else "them"
    return [f"{len(far)} more with less than a third of the best score: --all shows {those}."] if far else []
