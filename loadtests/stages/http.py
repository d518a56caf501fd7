"""Services over HTTP on loopback, all running together and asked in turn; the client has a processor of its own."""

import shutil
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from loadtests import http_load
from loadtests.bed import Bed
from loadtests.http_load import Load, Request
from loadtests.services import chroma, mcp_memory, muisti
from loadtests.services.process import apart, resident, rested
from loadtests.services.service import Running, Service
from loadtests.timing import milliseconds
from muisti.core.embedding.vectors import Vectors

ROUNDS = 4
CLIENTS = (1, 16)
PEER_ROWS = 100_000  # the other services take hours to load more
WRITE_ROWS = 100_000
STARTS = 3
STARTED_OFTEN = 100_000  # more memories are loaded once


@dataclass(frozen=True, slots=True)
class Asked:
    """Questions with their vectors, none used twice."""

    questions: Sequence[str]
    directions: Vectors

    def some(self, first: int, count: int) -> Iterator[tuple[str, np.ndarray]]:
        places = range(first, first + count)
        return ((self.questions[place], self.directions[place]) for place in places)


def measure(bed: Bed) -> dict[str, Any]:
    services = list(_services(bed))
    most = max(service.searches for service in services)
    questions = bed.questions(most * (len(CLIENTS) + 1) + STARTS + ROUNDS)
    asked = Asked(questions, bed.directions(len(questions)))
    found: dict[str, Any] = {"loading seconds": {service.name: service.loading for service in services}}
    found["cold start"] = {service.name: _cold_starts(service, asked, bed.size) for service in services}
    with ExitStack() as stack:
        started = [(service, stack.enter_context(_on_copy(service, bed.size <= WRITE_ROWS))) for service in services]
        for _, running in started:
            http_load.run(running.port, [running.search(*next(asked.some(len(questions) - 1, 1)))], 1)
        pids = [running.pid for _, running in started]
        stack.enter_context(apart(*pids))
        rested(*pids)
        found["search"] = [row for clients in CLIENTS for row in _searched(bed, started, asked, clients)]
        found["filtered"] = _filtered(started, asked, most * len(CLIENTS))
        found["resident"] = {service.name: resident(running.pid) for service, running in started}
        if bed.size <= WRITE_ROWS:
            found["write"] = [row for clients in CLIENTS for row in _written(bed, started, clients)]
    found["empty"] = _empty_start(bed.model)
    return found


def prepare(bed: Bed) -> None:
    for _ in _services(bed):
        pass


def _services(bed: Bed) -> Iterator[Service]:
    yield muisti.service(bed)
    if bed.peers and bed.size <= PEER_ROWS:
        for peer in (chroma, mcp_memory):
            found = peer.service(bed)
            if found is not None:
                yield found


@contextmanager
def _on_copy(service: Service, copied: bool) -> Iterator[Running]:
    """The service over a copy of its data, which writes may change."""
    if not copied:
        with service.start(service.data) as running:
            yield running
        return
    with tempfile.TemporaryDirectory() as folder:
        data = Path(folder) / "data"
        if service.data.is_dir():
            shutil.copytree(service.data, data)
        else:
            shutil.copy(service.data, data)
        with service.start(data) as running:
            yield running


def _cold_starts(service: Service, asked: Asked, size: int) -> dict[str, float]:
    """Seconds from starting the process until its first answer; the files are in the system's cache."""
    ready, answered = [], []
    starts = STARTS if size <= STARTED_OFTEN else 1
    for question, direction in asked.some(len(asked.questions) - starts, starts):
        began = time.perf_counter()
        with service.start(service.data) as running:
            ready.append(time.perf_counter() - began)
            load = http_load.run(running.port, [running.search(question, direction)], 1)
            answered.append(time.perf_counter() - began)
            if load.failures:
                raise RuntimeError(f"{service.name} did not answer: {load.bodies[0]!r:.200}")
    return {"ready": float(np.median(ready)), "first answer": float(np.median(answered))}


def _empty_start(model: str | None) -> dict[str, float]:
    """Time the start of a Muisti without a database, in seconds: ready, first write done, first hit found."""
    times: list[tuple[float, float]] = []
    for _ in range(STARTS):
        with tempfile.TemporaryDirectory() as folder:
            began = time.perf_counter()
            with muisti.serving(Path(folder) / "new.db", model) as running:
                ready = time.perf_counter() - began
                note = Request("/v1/spaces/default/memories", b'{"content": "Deploys run on Fridays"}', 201)
                question = Request("/v1/spaces/default/search", b'{"query": "when do we deploy"}', 200)
                load = http_load.run(running.port, [note, question], 1)
                times.append((ready, time.perf_counter() - began))
                if load.failures or b"Fridays" not in load.bodies[1]:
                    raise RuntimeError(f"an empty server did not answer: {load.bodies[1]!r:.200}")
    ready, answered = np.median(times, axis=0)
    return {"ready": float(ready), "first answer": float(answered)}


def _searched(
    bed: Bed, started: Sequence[tuple[Service, Running]], asked: Asked, clients: int
) -> Iterator[dict[str, Any]]:
    first = CLIENTS.index(clients) * max(service.searches for service, _ in started)
    loads = _in_turn(
        {service.name: running for service, running in started},
        {
            service.name: [running.search(*one) for one in asked.some(first, service.searches)]
            for service, running in started
        },
        clients,
    )
    for name, load in loads.items():
        row = {"name": name, "clients": clients, **_summary(load)}
        if name == "chroma":
            row["recall"] = _chroma_recall(bed.vectors(), asked.directions[first:], load.bodies)
        yield row


def _filtered(started: Sequence[tuple[Service, Running]], asked: Asked, first: int) -> list[dict[str, Any]]:
    """One client, with a filter that 10 % of the memories pass."""
    able = {service.name: (service, running) for service, running in started if running.filtered is not None}
    requests = {
        name: [_filter_of(running)(*one) for one in asked.some(first, service.searches // 4)]
        for name, (service, running) in able.items()
    }
    loads = _in_turn({name: running for name, (_, running) in able.items()}, requests, 1)
    return [{"name": name, "clients": 1, **_summary(load)} for name, load in loads.items()]


def _filter_of(running: Running) -> Callable[..., Request]:
    assert running.filtered is not None
    return running.filtered


def _written(bed: Bed, started: Sequence[tuple[Service, Running]], clients: int) -> Iterator[dict[str, Any]]:
    """Single writes, each durable when it is answered, of texts that are not there yet."""
    ways = {
        f"{service.name}, {way}": (running, make, service.writes)
        for service, running in started
        for way, make in running.writes.items()
    }
    requests: dict[str, list[Request]] = {}
    for place, (name, (_, make, count)) in enumerate(ways.items()):
        many = count * (1 if clients == 1 else 4)
        texts = bed.unused(many, f"{clients} {place}")
        directions = bed.encoder().encode(texts)
        numbers = range(1_000_000 * clients + 100_000 * place, 1_000_000 * clients + 100_000 * place + many)
        requests[name] = [make(*one) for one in zip(numbers, texts, directions, strict=True)]
    loads = _in_turn({name: running for name, (running, _, _) in ways.items()}, requests, clients)
    for name, load in loads.items():
        yield {"name": name, "clients": clients, **_summary(load)}


def _in_turn(running: dict[str, Running], requests: dict[str, list[Request]], clients: int) -> dict[str, Load]:
    """All requests in `ROUNDS` rounds, in each a share to every service in turn."""
    loads: dict[str, Load] = {}
    for turn in range(ROUNDS):
        for name, mine in requests.items():
            share = mine[len(mine) * turn // ROUNDS : len(mine) * (turn + 1) // ROUNDS]
            load = http_load.run(running[name].port, share, clients)
            loads[name] = loads[name].and_then(load) if name in loads else load
    return loads


def _summary(load: Load) -> dict[str, float]:
    times = milliseconds(load.latencies)
    p99 = 1000 * float(np.percentile(load.latencies, 99))
    return {"per second": load.per_second, **times, "p99": p99, "failures": load.failures}


def _chroma_recall(vectors: Vectors, directions: Vectors, bodies: Sequence[bytes]) -> float:
    shares: list[float] = []
    for direction, body in list(zip(directions, bodies, strict=False))[:100]:
        scores = vectors @ direction
        kth = np.partition(scores, -10)[-10]
        shares.append(float(np.mean(scores[chroma.hits(body)] >= kth - 1e-5)))
    return float(np.mean(shares))
