"""Whole searches in process, from the question's text to the fetched memories, and with five systems' designs."""

from typing import Any

from loadtests.bed import Bed
from loadtests.muisti import Muisti, below
from loadtests.peers import five_systems
from loadtests.timing import USED, WARMING, Engine, interleaved
from muisti.core.model.hits import Mode
from muisti.core.query.filters import Filter

PER_ROW = 100_000  # rows that the design reads one by one; above it is measured at its best only
WAYS: tuple[tuple[str, Mode, int | None], ...] = (
    ("Muisti hybrid", "hybrid", None),
    ("Muisti keyword", "keyword", None),
    ("Muisti semantic", "semantic", None),
    ("Muisti hybrid, 1 % filter", "hybrid", 1),
    ("Muisti hybrid, 10 % filter", "hybrid", 10),
)


def measure(bed: Bed) -> dict[str, Any]:
    queries = 200 if bed.size <= 100_000 else 100
    every = {10_000: 5, 100_000: 20}.get(bed.size, 25 if bed.size > 100_000 else 5)
    muisti = bed.muisti()
    engines = [_way(bed, muisti, place, queries) for place in range(len(WAYS))]
    if bed.peers:
        built = five_systems.searches(bed.texts, bed.vectors(), bed.encoder(), bed.embedded)
        asked = bed.questions(queries + WARMING)
        for name, search in built.items():
            if name != "per row" or bed.size <= PER_ROW:
                answer = lambda number, search=search: len(search(asked[number], 10))  # noqa: E731
                engines.append(Engine(f"five systems' design, {name}", answer, every))
    times = interleaved(engines, queries, warming=USED)
    return {
        "queries": queries,
        "engines": [{"name": name, **measured.summary()} for name, measured in times.items()],
    }


def prepare(bed: Bed) -> None:
    if bed.peers:
        five_systems.searches(bed.texts, bed.vectors(), bed.encoder(), bed.embedded)


def _way(bed: Bed, muisti: Muisti, place: int, queries: int) -> Engine[int]:
    """One way to search, with questions that no other way asks."""
    name, mode, percent = WAYS[place]
    asked = bed.questions(queries + USED, first=place * (queries + USED))
    chosen: Filter | None = None if percent is None else below(percent)
    return Engine(name, lambda number: muisti.search(asked[number], mode, chosen))
