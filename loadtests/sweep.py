"""Searches a second and their latency, by number of closed-loop users, memories and workers.

Each cell is saved, so an interrupted sweep resumes. A cell sends as many requests as the rate of the cell before
predicts for its seconds, and no server gets a request twice.
"""

import json
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from loadtests import http_load
from loadtests.bed import Bed
from loadtests.http_load import Load, Request
from loadtests.services import muisti
from loadtests.services.service import Running
from loadtests.tables import Table

USERS = (1, 2, 4, 8, 16, 32, 64)
SIZES = (1_000, 10_000, 100_000, 1_000_000)
WORKERS = (1, 2)
SECONDS = 7.0  # of a cell
FEWEST = 64  # requests of a cell, for each user at least two
WARMING = 64
KNEE = 0.9  # of the largest throughput

Cell = Mapping[str, float]
Told = Callable[[str], None]


def measure(
    texts: Sequence[str], questions: Sequence[str], sizes: Sequence[int], cache: Path, folder: Path, told: Told
) -> None:
    """Measure what is not in the folder yet: a file for each number of memories and workers."""
    folder.mkdir(parents=True, exist_ok=True)
    for size in sizes:
        for workers in WORKERS:
            path = folder / f"sweep-{size}-{workers}.json"
            if path.exists():
                told(f"{size:,} memories, {workers} workers: as measured before ({path})")
                continue
            with Bed(texts[:size], questions, cache, peers=False) as bed:
                database, _ = bed.database()
                with muisti.serving(database, workers=workers) as running:
                    cells = list(_cells(bed, running, told))
            found = {"size": size, "workers": workers, "cells": cells}
            path.write_text(json.dumps(found, indent=1), "utf-8")


def load(folder: Path) -> list[dict[str, Any]]:
    """Read the measurements of a folder, sorted by workers and size."""
    found = [json.loads(path.read_text("utf-8")) for path in folder.glob("sweep-*.json")]
    return sorted(found, key=lambda one: (one["workers"], one["size"]))


def _cells(bed: Bed, running: Running, told: Told) -> Iterator[dict[str, float]]:
    asked = 0
    for _ in range(4):  # new connections each time, until every worker has loaded its index
        http_load.run(running.port, _searches(bed, 0, WARMING), 16)
    health = Request("/healthz", b"", 200, method="GET")
    ceiling = _cell([health] * 3_000, running.port, max(USERS))
    rate = 100.0
    for users in USERS:
        count = max(FEWEST, 2 * users, round(min(rate * 1.5, 1_200) * SECONDS / 1.2))
        cell = _cell(_searches(bed, WARMING + asked, count), running.port, users)
        asked += count
        rate = cell["per second"]
        told(f"{bed.size:,} memories, {users} users: {rate:,.0f}/s, p99 {cell['p99']:.0f} ms")
        yield {"users": users, "ceiling": ceiling["per second"], **cell}


def _searches(bed: Bed, first: int, count: int) -> list[Request]:
    return [muisti.search(question) for question in bed.questions(count, first)]


def _cell(requests: Sequence[Request], port: int, users: int) -> dict[str, float]:
    worked = time.process_time()
    found: Load = http_load.run(port, requests, users)
    client = (time.process_time() - worked) / found.seconds
    p50, p95, p99 = (float(value) for value in np.percentile(found.latencies, (50, 95, 99)) * 1000)
    return {
        "per second": found.per_second,
        "p50": p50,
        "p95": p95,
        "p99": p99,
        "requests": len(requests),
        "failures": found.failures,
        "client": client,
    }


def knee(cells: Sequence[Cell]) -> int:
    """The fewest users that reach nearly all of the throughput: more of them only wait for each other."""
    most = max(cell["per second"] for cell in cells)
    return next(int(cell["users"]) for cell in cells if cell["per second"] >= KNEE * most)


def tables(found: Sequence[Mapping[str, Any]]) -> Iterator[Table]:
    """Throughput with its knee, and latencies."""
    header = ["memories", "workers", *(f"{users} users" for users in USERS), "knee", "p99 there, ms"]
    rows: list[list[str]] = []
    for one in found:
        cells, at = one["cells"], knee(one["cells"])
        there = next(cell for cell in cells if cell["users"] == at)
        rates = [f"{cell['per second']:,.0f}" for cell in cells]
        rows.append([f"{one['size']:,}", str(one["workers"]), *rates, f"{at} users", f"{there['p99']:,.0f}"])
    yield Table("sweep", "searches a second over HTTP, by users who wait for each answer", header, rows)
    header = ["memories", "workers", *(f"{users} users" for users in USERS)]
    rows = [
        [f"{one['size']:,}", str(one["workers"])]
        + [f"{cell['p50']:,.1f} / {cell['p95']:,.1f} / {cell['p99']:,.1f}" for cell in one["cells"]]
        for one in found
    ]
    yield Table("sweep-latency", "their latency, ms: median / 95th / 99th percentile", header, rows)


def ceiling(found: Sequence[Mapping[str, Any]]) -> str:
    """Describe the client's highest rate and its processor use, so that it is seen not to be the bottleneck."""
    cells = [cell for one in found for cell in one["cells"]]
    failed = sum(int(cell["failures"]) for cell in cells)
    return (
        f"{int(sum(cell['requests'] for cell in cells)):,} searches, {failed} of them failed. Of `/healthz` the same "
        f"client gets {min(cell['ceiling'] for cell in cells):,.0f} to {max(cell['ceiling'] for cell in cells):,.0f} "
        f"answers a second from one of these servers. During searches it used at most "
        f"{max(cell['client'] for cell in cells):.0%} of one processor.\n"
    )
