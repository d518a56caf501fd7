"""Contexts of 1,000 tokens in process, beside the search that each holds.

The sizes of memories are known (in memory), stored (read from the database), or computed when they are first needed.
"""

from collections.abc import Callable
from typing import Any

from loadtests.bed import Bed
from loadtests.fill import SPACE
from loadtests.muisti import Muisti
from loadtests.timing import USED, Engine, interleaved
from muisti.core.query.query import Query
from muisti.core.views.read import USUAL, Request

BUDGET = 1_000
QUERIES = 200


def measure(bed: Bed) -> dict[str, Any]:
    muisti = bed.muisti()
    asked = [bed.questions(QUERIES + USED, first=place * (QUERIES + USED)) for place in range(3)]
    known = _contexts(muisti, asked[0])
    for number in range(QUERIES + USED):
        known(number)
    muisti.store_sizes()
    engines = [
        Engine("search", _searches(muisti, asked[2])),
        Engine("context, sizes known", known),
        Engine("context, sizes stored", _forgetful(muisti, known)),
        Engine("context, sizes computed", _contexts(muisti, asked[1])),
    ]
    times = interleaved(engines, QUERIES, warming=USED)
    return {
        "queries": QUERIES,
        "budget": BUDGET,
        "engines": [{"name": name, **measured.summary()} for name, measured in times.items()],
    }


def prepare(bed: Bed) -> None:
    bed.muisti()


def _contexts(muisti: Muisti, asked: list[str]) -> Callable[[int], int]:
    view = muisti.engine.owner.context
    return lambda number: view.build(SPACE, _request(asked[number])).tokens


def _forgetful(muisti: Muisti, answer: Callable[[int], int]) -> Callable[[int], int]:
    def forgotten(number: int) -> int:
        muisti.forget_sizes()
        return answer(number)

    return forgotten


def _searches(muisti: Muisti, asked: list[str]) -> Callable[[int], int]:
    read, limit = muisti.engine.owner.read, _request("").candidates
    return lambda number: len(read.search(SPACE, Query(text=asked[number], limit=limit)).hits)


def _request(text: str) -> Request:
    return Request(query=text, token_budget=BUDGET, encoding=USUAL, min_evidence="none")
