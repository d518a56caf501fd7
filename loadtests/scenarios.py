"""Latency of applications at one server, idle and under sessions that begin at random times, against limits.

Limits are multiples of the latency of the same requests on an idle server of the same machine, a minute before. So they
hold on slow and on fast machines, and on a busy one as long as it is equally busy.
"""

import json
import subprocess
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from html import escape
from itertools import islice
from pathlib import Path

import numpy as np

from loadtests import http_load
from loadtests.fill import SPACE
from loadtests.gates import Gate
from loadtests.tables import Table
from loadtests.traffic import Traffic

ROOT = Path(__file__).parents[1]
LOCUST = Path("build") / "locust" / "bin"
ENVIRONMENT = {"PYTHONPATH": str(ROOT), "PATH": "/usr/bin:/bin"}

KINDS = (
    "ChatAgent", "ReadMostly", "McpAgent", "BulkImport", "Conversing", "ContextReader", "DocumentKeeper", "Programmer",
    "GraphReader",
)  # fmt: skip
"""The applications of the locustfile that belong to the usual load."""
ALONE_RATE, ALONE_SECONDS = 2.0, 12.0  # sessions a second that hardly ever meet
PART = 0.15  # of what the server can do; a session has two to four requests
MOST_RATE = 60.0  # sessions a second that the client can drive
USERS, REQUESTS = 8, 400  # that measure what it can do

P95_TIMES, P99_TIMES = 15.0, 30.0  # of the median alone
FLOOR_MS = 10.0  # of a median: below it nothing is slow
ERRORS = 0.001  # of all requests

Told = Callable[[str], None]
Sample = tuple[str, float, float, int]  # name, seconds when due, milliseconds, status (0: none)


@dataclass(frozen=True, slots=True)
class Run:
    """Measurements: each request of the nearly idle server, and of the loaded one."""

    rate: float  # sessions a second
    alone: Sequence[Sample]
    loaded: Sequence[Sample]


def measure(port: int, texts: Path, traffic: Traffic, seconds: float, folder: Path, told: Told) -> Run:
    """Locust at a server, twice; its own reports go into the folder too."""
    most = capacity(port, traffic)
    rate = min(MOST_RATE, PART * most)
    told(f"it does {most:,.0f} requests a second for {USERS} users; now {ALONE_SECONDS:g} s nearly idle")
    alone = run(port, texts, ALONE_RATE, ALONE_SECONDS, folder / "alone.json")
    told(f"{rate:,.1f} sessions a second for {seconds:g} s, whatever their answers take")
    return Run(rate, alone, run(port, texts, rate, seconds, folder / "loaded.json"))


def capacity(port: int, traffic: Traffic) -> float:
    for requests in (USERS, REQUESTS):  # the first is what is made on first use
        load = http_load.run(port, [request for _, request in islice(traffic.requests(), requests)], USERS)
    return load.per_second


def run(port: int, texts: Path, rate: float, seconds: float, samples: Path) -> list[Sample]:
    """Run all applications of the usual load, and return their requests."""
    command = locust(port, SPACE, texts, seconds, samples, KINDS, len(KINDS), rate)
    with samples.with_suffix(".log").open("wb") as log:
        subprocess.run(command, cwd=ROOT, env=ENVIRONMENT, stdout=subprocess.DEVNULL, stderr=log, check=True)
    return read(samples)


def locust(
    port: int, space: str, texts: Path, seconds: float, samples: Path, kinds: Sequence[str], users: int, rate: float
) -> list[str]:
    """Return the command that runs applications of the locustfile at a server."""
    return [
        *(str(LOCUST / "locust"), "-f", str(ROOT / "loadtests" / "locustfile.py"), "--headless", "--only-summary"),
        *("--users", str(users), "--spawn-rate", str(users)),
        *("--host", f"http://127.0.0.1:{port}", "--run-time", f"{seconds:g}s", "--stop-timeout", "30"),
        *("--rate", f"{rate:g}", "--space", space, "--texts", str(texts), "--samples", str(samples)),
        *("--html", str(samples.with_suffix(".html")), "--loglevel", "ERROR", "--exit-code-on-error", "0"),
        *kinds,
    ]


def read(samples: Path) -> list[Sample]:
    """Return the requests of a run."""
    return [(name, due, ms, status) for name, due, ms, status in json.loads(samples.read_text("utf-8"))]


def failed(sample: Sample) -> bool:
    """Whether a request was not answered as it should be. That there is none, or a duplicate, is an answer."""
    return not (200 <= sample[3] < 300 or sample[3] in (404, 409))


def gates(run: Run) -> Iterator[Gate]:
    yield Gate("failed, per mille", 1000 * float(np.mean([failed(one) for one in run.loaded])), 1000 * ERRORS)
    alone = _times(run.alone)
    for name, times in _times(run.loaded).items():
        usual = max(FLOOR_MS, float(np.median(alone.get(name, times))))
        yield Gate(f"{name}: 95th percentile, ms", float(np.percentile(times, 95)), P95_TIMES * usual)
        yield Gate(f"{name}: 99th percentile, ms", float(np.percentile(times, 99)), P99_TIMES * usual)


def table(run: Run) -> Table:
    """Latencies of each kind of request, alone and loaded."""
    header = ["request", "answers", "failed", "alone ms (p95)", "loaded ms (p95, p99)"]
    alone = _times(run.alone)
    rows: list[list[str]] = []
    for name, times in _times(run.loaded).items():
        before = np.percentile(alone[name], (50, 95)) if name in alone else (np.nan, np.nan)
        now = np.percentile(times, (50, 95, 99))
        bad = sum(failed(one) for one in run.loaded if one[0] == name)
        rows.append(
            [name, str(len(times)), str(bad), f"{before[0]:.1f} ({before[1]:.1f})"]
            + [f"{now[0]:.1f} ({now[1]:.1f}, {now[2]:.1f})"]
        )
    return Table("scenarios", f"{run.rate:.1f} sessions a second", header, rows)


def _times(samples: Sequence[Sample]) -> Mapping[str, Sequence[float]]:
    found: dict[str, list[float]] = {}
    for name, _, ms, _ in samples:
        found.setdefault(name, []).append(ms)
    return dict(sorted(found.items()))


def report(run: Run, judged: Sequence[Gate], folder: Path) -> Path:
    """Draw plots, and write a page that shows them with the table and the criteria. Return the page's path."""
    draw("scenarios", folder / "loaded.json", folder)
    made, page = table(run), folder / "index.html"
    rows = "".join(f"<tr>{''.join(f'<td>{escape(cell)}</td>' for cell in row)}</tr>" for row in made.rows)
    head = "".join(f"<th>{escape(cell)}</th>" for cell in made.header)
    held = "".join(
        f"<tr class={'holds' if gate.holds else 'broken'}><td>{escape(gate.what)}</td><td>{gate.found:,.1f}</td>"
        f"<td>{gate.limit:,.1f}</td></tr>"
        for gate in judged
    )
    page.write_text(PAGE.format(title=escape(made.title), head=head, rows=rows, held=held), "utf-8")
    return page


def draw(kind: str, figures: Path, target: Path) -> None:
    """Pictures are drawn where matplotlib is: with locust."""
    subprocess.run(
        [str(LOCUST / "python"), "-m", "loadtests.load_plots", kind, str(figures), str(target)],
        cwd=ROOT,
        env={"PYTHONPATH": str(ROOT), "PATH": "/usr/bin:/bin", "MPLCONFIGDIR": str(figures.parent)},
        check=True,
    )


PAGE = """<!doctype html>
<html lang="en"><meta charset="utf-8"><title>Muisti under load</title>
<style>
body {{ font: 15px/1.5 system-ui, sans-serif; max-width: 60rem; margin: 2rem auto; padding: 0 1rem; color: #0f172a }}
table {{ border-collapse: collapse; margin: 1rem 0 }}
td, th {{ padding: .2rem .8rem; text-align: right; border-bottom: 1px solid #e2e8f0 }}
td:first-child, th:first-child {{ text-align: left }}
.broken {{ color: #b91c1c; font-weight: bold }}
img {{ max-width: 100% }}
</style>
<h1>Muisti under load: {title}</h1>
<p>Sessions began at random times, whatever their answers took; latencies count from when a request was due.</p>
<table><tr>{head}</tr>{rows}</table>
<img src="latency.svg" alt="latency of each kind of request"><img src="time.svg" alt="latency over time">
<h2>Limits</h2>
<table><tr><th>what</th><th>found</th><th>at most</th></tr>{held}</table>
<p>Locust's own reports: <a href="alone.html">nearly idle</a>, <a href="loaded.html">loaded</a>.</p>
"""
