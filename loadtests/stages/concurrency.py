"""Measure how searches scale: in process with threads and with processes, over HTTP with clients and workers.

Two processes over one file share only memory bandwidth; two threads share the GIL too. Where two processes reach twice
the speed and two threads do not, the GIL is the limit. Where processes do not either, the limit is the memory bus, or
the machine is busy.
"""

import multiprocessing
import os
import threading
import time
from collections.abc import Iterator, Sequence
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

from loadtests import http_load
from loadtests.bed import Bed
from loadtests.muisti import Muisti, opened
from loadtests.services import muisti as service
from loadtests.timing import WARMING
from muisti.core.embedding.encoder import StaticEncoder

LANES = 2
ASKED = 2_000  # the first of the questions, which other stages have asked
ROUNDS = 3
CLIENTS = (1, 16)
WORKERS = (1, 2)
Sets = Sequence[Sequence[str]]  # the questions of each lane


def measure(bed: Bed) -> dict[str, Any]:
    each = 300 if bed.size <= 100_000 else 100
    asked = bed.questions(each * 2 * LANES * ROUNDS + WARMING, first=ASKED)
    path, _ = bed.database()
    rates: dict[str, list[float]] = {"1 thread": [], "2 threads": [], "2 processes": []}
    muisti = bed.muisti()
    with _Processes(path, bed.model, LANES) as processes:
        _search(muisti, asked[-WARMING:])
        for turn in range(ROUNDS):
            lanes = [asked[(2 * LANES * turn + lane) * each :][:each] for lane in range(2 * LANES)]
            rates["1 thread"].append(each / _seconds(muisti, lanes[:1]))
            rates["2 threads"].append(LANES * each / _seconds(muisti, lanes[:LANES]))
            rates["2 processes"].append(LANES * each / processes.seconds(lanes[LANES:]))
    found: dict[str, Any] = {"in process": {name: sorted(rate)[ROUNDS // 2] for name, rate in rates.items()}}
    found["over HTTP"] = [row for workers in WORKERS for row in _over_http(bed, path, workers)]
    return found


def prepare(bed: Bed) -> None:
    bed.database()


def _search(muisti: Muisti, questions: Sequence[str]) -> None:
    for question in questions:
        muisti.search(question, "hybrid")


def _seconds(muisti: Muisti, lanes: Sets) -> float:
    threads = [threading.Thread(target=_search, args=(muisti, lane)) for lane in lanes]
    began = time.perf_counter()
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return time.perf_counter() - began


class _Processes:
    """Processes that each have an index of their own, and search on command."""

    def __init__(self, path: Path, model: str | None, count: int) -> None:
        context = multiprocessing.get_context("spawn")
        self._pipes: list[Connection] = []
        self._processes: list[multiprocessing.process.BaseProcess] = []
        for _ in range(count):
            ours, theirs = context.Pipe()
            self._pipes.append(ours)
            self._processes.append(context.Process(target=_serve, args=(path, model, theirs), daemon=True))

    def __enter__(self) -> "_Processes":
        for process in self._processes:
            process.start()
        for pipe in self._pipes:
            pipe.recv()
        return self

    def __exit__(self, *_: object) -> None:
        for pipe, process in zip(self._pipes, self._processes, strict=True):
            pipe.send(None)
            process.join()

    def seconds(self, lanes: Sets) -> float:
        began = time.perf_counter()
        for pipe, lane in zip(self._pipes, lanes, strict=True):
            pipe.send(lane)
        for pipe in self._pipes:
            pipe.recv()
        return time.perf_counter() - began


def _serve(path: Path, model: str | None, pipe: Connection) -> None:
    with opened(path, StaticEncoder(model)) as muisti:
        _search(muisti, ["warm up", "once more", "and again"])
        pipe.send("ready")
        while questions := pipe.recv():
            _search(muisti, questions)
            pipe.send("done")


def _over_http(bed: Bed, path: Path, workers: int) -> Iterator[dict[str, Any]]:
    each = 600 if bed.size <= 100_000 else 200
    asked = [service.search(question) for question in bed.questions(each * len(CLIENTS) + 64)]
    with service.serving(path, bed.model, workers=workers) as running:
        for _ in range(4):  # new connections each time, until every worker has loaded its index
            http_load.run(running.port, asked[-64:], 16)
        for place, clients in enumerate(CLIENTS):
            load = http_load.run(running.port, asked[place * each : (place + 1) * each], clients)
            yield {
                "workers": workers,
                "clients": clients,
                "per second": load.per_second,
                "failures": load.failures,
                "cores": os.cpu_count(),
            }
