"""Ten times as much as the server can do, for two minutes: what is shed, how fast, and what becomes of the rest.

Four phases: as much as it can do (users who wait for their answers), calm (a third of that), overload (ten times that),
calm again. Requests of the last three are due at random times that no answer moves. Health is asked for all the while,
over new connections. Afterwards every memory whose storing was acknowledged is looked for.
"""

import asyncio
import json
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import islice
from typing import Any

import numpy as np
import numpy.typing as npt
import uvloop

from loadtests import http_load, open_loop
from loadtests.fill import SPACE
from loadtests.gates import Gate
from loadtests.http_load import Connection, Request
from loadtests.open_loop import Record, poisson
from loadtests.tables import Table
from loadtests.traffic import Traffic

TIMES = 10
CALM = 0.3  # of what it can do
USERS = 8
CALM_SECONDS = 10.0
CAPACITY_REQUESTS = 2_000
PROBE_SECONDS = 0.25  # between two questions for health
WINDOW_SECONDS = 0.5
PAGE = 100
SHED = (429, 503)
ANSWERED = (b"200", b"201")

SHED_MS = 50.0  # that 99 of 100 refusals may take
ADMITTED_MS = 1_500.0  # that 99 of 100 answers may take
HEALTH_MS = 1_000.0  # that every sign of life may take
RECOVERY_SECONDS = 5.0
LEFT_UNDONE = 60.0  # percent of what it can do

Floats = npt.NDArray[np.float64]
_ID = re.compile(rb'"id": ?"([0-9a-f-]{36})"')


@dataclass(slots=True)
class Probes:
    """Whether the server was alive: milliseconds of each answer, and what was wrong."""

    ms: list[float] = field(default_factory=list[float])
    wrong: list[str] = field(default_factory=list[str])


@dataclass(frozen=True, slots=True)
class Phase:
    """A phase of constant request rate, with the outcomes of its requests and probes."""

    name: str
    seconds: float
    record: Record
    probes: Probes


@dataclass(frozen=True, slots=True)
class Run:
    """All that a run has shown. `capacity` is in requests a second, `acknowledged` and `lost` count memories."""

    capacity: float
    phases: Sequence[Phase]
    acknowledged: int
    lost: int


def measure(port: int, traffic: Traffic, seconds: float, told: Callable[[str], None]) -> Run:
    """Run all phases against a server. `told` is called with the progress."""
    capacity = _capacity(port, traffic)
    told(f"it does {capacity:,.0f} requests a second for {USERS} users; overload is {TIMES * capacity:,.0f}")
    plan = (
        ("calm", CALM * capacity, CALM_SECONDS),
        ("overload", TIMES * capacity, seconds),
        ("after", CALM * capacity, CALM_SECONDS),
    )
    phases: list[Phase] = []
    for number, (name, rate, lasting) in enumerate(plan):
        told(f"{name}: {rate:,.0f} requests a second for {lasting:g} s")
        phases.append(uvloop.run(_phase(port, traffic, name, rate, lasting, number)))
    ids = [found for phase in phases for found in acknowledged(phase.record)]
    told(f"looking for the {len(ids):,} memories that were acknowledged")
    return Run(capacity, phases, len(ids), len(set(ids) - stored(port)))


def _capacity(port: int, traffic: Traffic) -> float:
    """Return the requests a second that users get who wait for each answer, with no refusal."""
    for requests in (CAPACITY_REQUESTS // 4, CAPACITY_REQUESTS):  # the first is what is made on first use
        load = http_load.run(port, [request for _, request in islice(traffic.requests(), requests)], USERS)
    bad = [head[:40] for head in load.heads if head[9:12] not in ANSWERED]
    if bad:
        raise RuntimeError(f"{len(bad)} requests of {USERS} users failed, such as {bad[0]!r}")
    return load.per_second


async def _phase(port: int, traffic: Traffic, name: str, rate: float, seconds: float, seed: int) -> Phase:
    probes = Probes()
    probing = asyncio.create_task(_probe(port, probes))
    record = await open_loop.send(port, traffic.due(poisson(rate, seconds, seed)))
    probing.cancel()
    return Phase(name, seconds, record, probes)


async def _probe(port: int, probes: Probes) -> None:
    """Probe health and readiness periodically, on a new connection each time, as a supervisor does."""
    loop = asyncio.get_running_loop()
    while True:
        for path in ("/healthz", "/readyz"):
            began = loop.time()
            try:
                _, connection = await loop.create_connection(Connection, "127.0.0.1", port)
                head, _ = await connection.send(Request(path, b"", 200, method="GET"))
                connection.close()
            except OSError as error:
                probes.wrong.append(f"{path}: {error!r}")
            else:
                if b" 200 " not in head[:13]:
                    probes.wrong.append(f"{path}: {head[:12].decode()}")
            probes.ms.append(1000 * (loop.time() - began))
            await asyncio.sleep(PROBE_SECONDS)


def acknowledged(record: Record) -> list[str]:
    """The ids of the memories that the server said it has."""
    found = (_ID.search(body) for head, body in record.kept if head[9:12] in ANSWERED)
    return [match[1].decode() for match in found if match]


def stored(port: int) -> set[str]:
    """The ids of all memories that there are, page by page."""
    found: set[str] = set()
    cursor = ""
    while True:
        path = f"/v1/spaces/{SPACE}/memories?limit={PAGE}{cursor}"
        page = json.loads(http_load.run(port, [Request(path, b"", 200, method="GET")], 1).bodies[0])
        found.update(item["id"] for item in page["items"])
        if not page["next_cursor"]:
            return found
        cursor = f"&cursor={page['next_cursor']}"


def gates(run: Run) -> Iterator[Gate]:
    """Yield the criteria that an overload must meet."""
    calm, overload, after = run.phases
    refused, answered = times(overload, SHED), times(overload, (200, 201))
    record = overload.record
    retryable = [bool(retry) for retry, status in zip(record.retry_after, record.status, strict=True) if status in SHED]
    yield Gate("99th percentile of refusals, ms", _percentile(refused, 99), SHED_MS)
    yield Gate("refusals without Retry-After", retryable.count(False), 0)
    yield Gate("neither answered nor refused", len(record.status) - len(refused) - len(answered), 0)
    yield Gate("99th percentile of answers, ms", _percentile(answered, 99), ADMITTED_MS)
    yield Gate(
        "share of its capacity not reached, %", 100 * (1 - len(answered) / overload.seconds / run.capacity), LEFT_UNDONE
    )
    yield Gate("longest wait for a sign of life, ms", max(overload.probes.ms, default=np.inf), HEALTH_MS)
    yield Gate("signs of life that failed", sum(len(phase.probes.wrong) for phase in run.phases), 0)
    yield Gate("recovery, s", recovery(calm, after), RECOVERY_SECONDS)
    yield Gate("acknowledged memories lost", run.lost, 0)
    yield Gate("calm: 99th percentile of the delay of this client, ms", _percentile(late(calm), 99), SHED_MS)


def times(phase: Phase, statuses: Sequence[int]) -> Floats:
    """Milliseconds from when they were due of all requests with these statuses."""
    record = phase.record
    ms = 1000 * (np.array(record.ended) - np.array(record.due))
    return ms[np.isin(np.array(record.status), statuses)]


def late(phase: Phase) -> Floats:
    """Milliseconds from when requests were due until they were sent: no fault of the server, but for connections."""
    return 1000 * (np.array(phase.record.sent) - np.array(phase.record.due))


def recovery(calm: Phase, after: Phase) -> float:
    """Seconds after the overload until nothing is refused, and answers take as long as before."""
    usual = max(3 * _percentile(times(calm, (200, 201)), 95), SHED_MS)
    record = after.record
    due, ms = np.array(record.due), 1000 * (np.array(record.ended) - np.array(record.due))
    bad = (ms > usual) | ~np.isin(np.array(record.status), (200, 201))
    windows = (due // WINDOW_SECONDS).astype(int)
    ill = [window for window in np.unique(windows) if np.mean(bad[windows == window]) > 0.05]
    return WINDOW_SECONDS * (int(max(ill)) + 1) if ill else 0.0


def table(run: Run) -> Table:
    header = ["phase", "asked /s", "answered /s", "refused /s", "failed"]
    header += ["answers ms (p95, p99)", "refusals ms (p95, p99)", "signs of life ms (p95, p99)"]
    rows: list[list[str]] = []
    for phase in run.phases:
        answered, refused = times(phase, (200, 201)), times(phase, SHED)
        asked = len(phase.record.status)
        rates = [f"{count / phase.seconds:,.0f}" for count in (asked, len(answered), len(refused))]
        latencies = [_latency(values) for values in (answered, refused, np.array(phase.probes.ms))]
        rows.append([phase.name, *rates, str(asked - len(answered) - len(refused)), *latencies])
    title = f"overload: {TIMES} times the {run.capacity:,.0f} requests a second that {USERS} users get"
    return Table("overload", title, header, rows)


def _latency(values: Floats) -> str:
    p50, p95, p99 = (_percentile(values, percent) for percent in (50, 95, 99))
    return f"{p50:,.1f} ({p95:,.0f}, {p99:,.0f})" if len(values) else ""


def figures(run: Run) -> list[dict[str, Any]]:
    """By the second when they were due, for a picture."""
    found: list[dict[str, Any]] = []
    began = 0.0
    for phase in run.phases:
        row: dict[str, Any] = {"name": phase.name, "began": began}
        due, status = np.array(phase.record.due), np.array(phase.record.status)
        ms = 1000 * (np.array(phase.record.ended) - due)
        for name, statuses in (("answered", (200, 201)), ("refused", SHED)):
            mine = [ms[np.isin(status, statuses) & (due.astype(int) == second)] for second in range(int(phase.seconds))]
            row[name] = [len(one) for one in mine]
            row[f"{name} ms"] = [None if not len(one) else _percentile(one, 99) for one in mine]
        found.append(row)
        began += phase.seconds
    return found


def _percentile(values: Floats, percent: float) -> float:
    return float(np.percentile(values, percent)) if len(values) else 0.0
