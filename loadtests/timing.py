"""Engines measured in turn, a block of queries each, so that a busy machine is busy for all of them alike."""

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Generic, TypeVar

import numpy as np

T = TypeVar("T")

BLOCK = 20  # queries of one engine before the next has its turn
WARMING = 3
USED = 200  # queries before, of a service that has been up for a while: it knows most words


@dataclass(frozen=True, slots=True)
class Engine(Generic[T]):
    """A function that answers query number n. A slow engine answers only every `every`-th query."""

    name: str
    answer: Callable[[int], T]
    every: int = 1


@dataclass(slots=True)
class Times(Generic[T]):
    """Seconds of each answered query, by the clock and of the processor, and the answers."""

    seconds: list[float] = field(default_factory=list[float])
    cpu: list[float] = field(default_factory=list[float])
    answers: dict[int, T] = field(default_factory=dict[int, T])

    def summary(self) -> dict[str, float]:
        return {**milliseconds(self.seconds), "cpu": milliseconds(self.cpu)["median"]}


def interleaved(
    engines: list[Engine[T]], queries: int, *, block: int = BLOCK, warming: int = WARMING
) -> dict[str, Times[T]]:
    """Ask each engine the queries 0 to `queries` - 1, in blocks.

    Each has `warming` queries first, a slow one `WARMING`, with the numbers that follow: an answer is never of a query
    asked before.
    """
    for engine in engines:
        for number in range(queries, queries + (warming if engine.every == 1 else WARMING)):
            engine.answer(number)
    times: Mapping[str, Times[T]] = {engine.name: Times() for engine in engines}
    for start in range(0, queries, block):
        for engine in engines:
            measured = times[engine.name]
            for number in range(start, min(start + block, queries)):
                if number % engine.every == 0:
                    worked, began = time.process_time(), time.perf_counter()
                    answer = engine.answer(number)
                    measured.seconds.append(time.perf_counter() - began)
                    measured.cpu.append(time.process_time() - worked)
                    measured.answers[number] = answer
    return dict(times)


def milliseconds(seconds: list[float]) -> dict[str, float]:
    """Median, 95th percentile and count.

    >>> milliseconds([0.001, 0.002, 0.003])["median"]
    2.0
    """
    values = 1000 * np.array(seconds)
    return {"median": float(np.median(values)), "p95": float(np.percentile(values, 95)), "queries": len(seconds)}
