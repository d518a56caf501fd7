"""Two tenants at one server: the applications of the first one alone, and beside a second one who does the worst.

The second tenant lets the graph of a document of 6 MB be read, asks that graph in bulk, and sends hostile text as code.
It reads a long history, suggestions over a long conversation, and contexts of 200,000 tokens. Health and readiness are
asked for all the while, over new connections.
"""

import http.client
import json
import random
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from loadtests import scenarios
from loadtests.gates import Gate
from loadtests.scenarios import Sample
from loadtests.services.process import rested
from loadtests.services.service import Running
from loadtests.tables import Table
from loadtests.traffic import Traffic

WORST_USERS = 24
PART, MOST_RATE = 0.05, 20.0  # sessions a second of the first tenant, of the requests that the server can do
WARM_SECONDS = 3.0  # of the load of the first tenant before what is measured
PROBE_SECONDS = 0.1
TIMES, HEALTH_MS = 2.0, 100.0
GREEDY = "greedy"
TURNS, VERSIONS, LONG, LONG_CHARACTERS = 12_000, 300, 100, 96_000
DOCUMENT_PARTS = 9_000  # of about 670 characters

Told = Callable[[str], None]
Probe = tuple[str, float, int]
"""Path, milliseconds, status (0: no answer)."""


@dataclass(frozen=True, slots=True)
class Tenants:
    """Requests and probes of the first tenant alone and beside the second one, whose own requests are `worst`."""

    rate: float
    alone: Sequence[Sample]
    beside: Sequence[Sample]
    worst: Sequence[Sample]
    probes_alone: Sequence[Probe]
    probes: Sequence[Probe]


def measure(
    server: Running, texts: Path, traffic: Traffic, seconds: float, folder: Path, told: Told, without: str = ""
) -> Tenants:
    """Measure the first tenant alone, and then beside the second one, who leaves out the requests `without`."""
    port = server.port
    told("storing what the second tenant asks for, and waiting until all graphs are read")
    _prepare(port)
    rested(server.pid)
    told("measuring what the server can do")
    rate = min(MOST_RATE, PART * scenarios.capacity(port, traffic))
    rested(server.pid)
    scenarios.run(port, texts, rate, WARM_SECONDS, folder / "warm.json")
    told(f"{rate:,.1f} sessions a second of the first tenant for {seconds:g} s, alone")
    with _probing(port) as probes_alone:
        alone = scenarios.run(port, texts, rate, seconds, folder / "tenant-alone.json")
    told(f"the same beside {WORST_USERS} callers who do the worst")
    _document(port)
    worst = folder / "tenant-worst.json"
    command = scenarios.locust(port, GREEDY, texts, seconds + 5, worst, ["Worst"], WORST_USERS, rate)
    command = ["nice", "-n", "19", *command, "--without", without]  # its clients have their own machine in life
    with worst.with_suffix(".log").open("wb") as log:
        other = subprocess.Popen(
            command, cwd=scenarios.ROOT, env=scenarios.ENVIRONMENT, stdout=subprocess.DEVNULL, stderr=log
        )
        try:
            time.sleep(WARM_SECONDS)
            with _probing(port) as probes:
                beside = scenarios.run(port, texts, rate, seconds, folder / "tenant-beside.json")
        finally:
            other.wait(120)
    return Tenants(rate, alone, beside, scenarios.read(worst), probes_alone, probes)


def gates(run: Tenants) -> Iterator[Gate]:
    """Yield what must hold."""
    yield Gate("99th percentile beside the worst, times that alone", _p99(run.beside) / _p99(run.alone), TIMES)
    yield Gate("failed, per mille", 1000 * float(np.mean([scenarios.failed(one) for one in run.beside])), 1.0)
    yield Gate("/healthz: slowest, ms", max(ms for path, ms, _ in run.probes if path == "/healthz"), HEALTH_MS)
    yield Gate("/readyz: not 200", sum(status != 200 for path, _, status in run.probes if path == "/readyz"), 0)


def table(run: Tenants) -> Table:
    """Return the latencies of the first tenant by kind of request, and those of the probes."""
    header = ["request", "answers", "failed", "alone ms (p50, p99)", "beside ms (p50, p99)", "p99, times"]
    rows = [_row("all", run.alone, run.beside)]
    for name in sorted({one[0] for one in run.beside}):
        rows.append(_row(name, _of(run.alone, name), _of(run.beside, name)))
    for path in ("/healthz", "/readyz"):
        before, now = ([(path, 0.0, ms, status) for at, ms, status in some if at == path] for some in
                       (run.probes_alone, run.probes))  # fmt: skip
        rows.append(_row(path, before, now))
    return Table("tenants", f"{run.rate:.1f} sessions a second, alone and beside the worst", header, rows)


def table_of_worst(run: Tenants) -> Table:
    """Return what the second tenant asked for and got."""
    rows: list[list[str]] = []
    for name in sorted({one[0] for one in run.worst}):
        found = _of(run.worst, name)
        busy, ms = sum(one[3] == 503 for one in found), [one[2] for one in found]
        other = sum(not 200 <= one[3] < 300 and one[3] != 503 for one in found)
        rows.append([name, str(len(found)), str(busy), str(other), f"{np.median(ms):,.0f} ({max(ms):,.0f})"])
    return Table("worst", "the second tenant", ["request", "answers", "503", "other refusals", "ms (slowest)"], rows)


def _row(name: str, alone: Sequence[Sample], beside: Sequence[Sample]) -> list[str]:
    bad = sum(scenarios.failed(one) for one in beside)
    figures = [
        f"{np.median([one[2] for one in some]):.1f} ({_p99(some):.1f})" if some else "" for some in (alone, beside)
    ]
    times = f"{_p99(beside) / _p99(alone):.2f}" if alone and beside else ""
    return [name, str(len(beside)), str(bad), *figures, times]


def _of(samples: Sequence[Sample], name: str) -> list[Sample]:
    return [one for one in samples if one[0] == name]


def _median(samples: Sequence[Sample]) -> float:
    return float(np.median([one[2] for one in samples]))


def _p99(samples: Sequence[Sample]) -> float:
    return float(np.percentile([one[2] for one in samples], 99))


@contextmanager
def _probing(port: int) -> Iterator[list[Probe]]:
    """Ask for health and readiness, each on its own thread, until the context ends."""
    found, ended = list[Probe](), threading.Event()

    def ask(path: str) -> None:
        while not ended.wait(PROBE_SECONDS):
            began, status = time.perf_counter(), 0
            try:
                status, answer = _ask(port, "GET", path)
            except OSError as error:
                answer = repr(error)
            took = 1000 * (time.perf_counter() - began)
            found.append((path, took, status))
            if status != 200:
                sys.stderr.write(f"{path}: {status} after {took:.0f} ms, {answer}\n")

    threads = [threading.Thread(target=ask, args=(path,)) for path in ("/healthz", "/readyz")]
    for one in threads:
        one.start()
    try:
        yield found
    finally:
        ended.set()
        for one in threads:
            one.join()


def _prepare(port: int) -> None:
    """Store a long history, long memories and an endless conversation in the space of the second tenant."""
    rng, space = random.Random(3), f"/v1/spaces/{GREEDY}"
    words = [f"w{number}" for number in range(5_000)]

    def long(characters: int) -> str:
        return " ".join(rng.choice(words) for _ in range(characters // 6))

    _ask(port, "POST", "/v1/spaces", {"name": GREEDY})
    _ask(port, "PATCH", f"{space}/policy", {"secrets": "allow"})
    for number in range(VERSIONS):
        _ask(
            port, "PUT", f"{space}/entries/long/versions", {"content": f"{number} {'x y z ' * (LONG_CHARACTERS // 6)}"}
        )
    for _ in range(LONG):
        _ask(port, "POST", f"{space}/memories", {"content": f"Ann Lee {long(LONG_CHARACTERS)}", "on_conflict": "keep"})
    for first in range(0, TURNS, 1_000):
        items = [
            {"author": rng.choice(("Ann", "Bob")), "content": long(150), "turn": first + n + 1} for n in range(1_000)
        ]
        _ask(port, "POST", f"{space}/conversations/endless/exchanges", {"items": items})


def _document(port: int) -> None:
    """Store the document whose graph is read, and wait until the reading has begun or the file is stored."""
    rng = random.Random(1)
    names, last = ("Ann", "Bob", "Carl", "Dora", "Eve"), ("Lee", "Smith", "Reed", "Stone")
    parts = [
        " ".join(
            f"{rng.choice(names)} {rng.choice(last)} met {rng.choice(names)} in City{rng.randrange(999)} on {number}."
            for _ in range(12)
        )
        for number in range(DOCUMENT_PARTS)
    ]
    body = {"path": "large.txt", "content": "\n\n".join(parts)}
    _, told = _ask(port, "POST", f"/v1/spaces/{GREEDY}/documents?wait=false", body)
    deadline = time.monotonic() + 300
    while told.get("state") in ("queued", "running") and time.monotonic() < deadline:
        time.sleep(0.5)
        _, told = _ask(port, "GET", f"/v1/spaces/{GREEDY}/tasks/{told['id']}")


def _ask(port: int, method: str, path: str, body: Any = None) -> tuple[int, Any]:
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
    try:
        sent = None if body is None else json.dumps(body).encode()
        connection.request(method, path, sent, {"Content-Type": "application/json"} if sent else {})
        answer = connection.getresponse()
        raw = answer.read()
        return answer.status, json.loads(raw) if raw else {}
    finally:
        connection.close()
